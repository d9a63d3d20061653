"""Reading JSON documents so that every mistake is named with file, place and what was expected."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from risorius.core.errors import InputError
from risorius.io.files import read_bytes

LARGEST = 1e12
"""Numbers beyond this are taken for a broken file."""


class Node:
    """A value in a document, and where it stands."""

    def __init__(self, value: Any, file: Path, place: str = "") -> None:
        self.value, self.file, self.place = value, file, place

    def refuse(self, expected: str) -> NoReturn:
        got = json.dumps(self.value, ensure_ascii=False) if not isinstance(self.value, (dict, list)) else (
            f"{len(self.value)} entries" if isinstance(self.value, list) else "an object")  # fmt: skip
        raise InputError(f"expected {expected}, got {got[:60]}", file=self.file, place=self.place or None)

    def object(self, known: tuple[str, ...], needed: tuple[str, ...] = ()) -> dict[str, Node]:
        """Members of an object; unknown and missing ones are refused."""
        if not isinstance(self.value, dict):
            self.refuse("an object {…}")
        for key in self.value:
            if key not in known:
                raise InputError(f"unknown key {key[:40]!r}, expected one of {', '.join(known)}", file=self.file,
                                 place=self.place or None)  # fmt: skip
        for key in needed:
            if key not in self.value:
                raise InputError(f"expected a key {key!r}", file=self.file, place=self.place or None)
        return {key: self.at(key, value) for key, value in self.value.items()}

    def at(self, key: str, value: Any) -> Node:
        return Node(value, self.file, f"{self.place}.{key}" if self.place else key)

    def members(self) -> Iterator[tuple[str, Node]]:
        """Names and values of an object with any keys."""
        if not isinstance(self.value, dict):
            self.refuse("an object {…}")
        return ((key, self.at(key, value)) for key, value in self.value.items())

    def items(self, least: int = 0) -> list[Node]:
        """Entries of a list."""
        if not isinstance(self.value, list) or len(self.value) < least:
            self.refuse(f"a list of {least} or more" if least else "a list")
        return [Node(value, self.file, f"{self.place}[{k}]") for k, value in enumerate(self.value)]

    def text(self, *allowed: str) -> str:
        if not isinstance(self.value, str) or (allowed and self.value not in allowed):
            self.refuse(f"one of {', '.join(allowed)}" if allowed else "a text")
        if not self.value.strip() or len(self.value) > 200 or not self.value.isprintable():
            self.refuse("a text of 1 to 200 printable characters")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def number(self, low: float = -LARGEST, high: float = LARGEST) -> float:
        bad = isinstance(self.value, bool) or not isinstance(self.value, (int, float))
        if bad or not math.isfinite(self.value) or not low <= self.value <= high:
            self.refuse(f"a number from {low:g} to {high:g}" if (low, high) != (-LARGEST, LARGEST) else "a number")
        return float(self.value)

    def whole(self, low: int, high: int) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not low <= self.value <= high:
            self.refuse(f"a whole number from {low} to {high}")
        return self.value

    def array(self, *shape: int | None) -> NDArray[np.float64]:
        """Nested lists of numbers; None in the shape stands for any length."""
        words = " × ".join("n" if size is None else str(size) for size in shape)
        self._check(self.value, shape, self.place, words)
        found = np.array(self.value, dtype=np.float64)
        return found if found.size else np.zeros([0 if size is None else size for size in shape])

    def _check(self, value: Any, shape: tuple[int | None, ...], place: str, words: str) -> None:
        if not shape:
            Node(value, self.file, place).number()
            return
        if not isinstance(value, list) or (shape[0] is not None and len(value) != shape[0]):
            Node(value, self.file, place).refuse(f"numbers, {words}")
        for k, entry in enumerate(value):
            self._check(entry, shape[1:], f"{place}[{k}]", words)


def read_json(path: str | PathLike[str]) -> Node:
    """The root of a JSON document."""
    file = Path(path)
    data = read_bytes(file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("expected UTF-8 text", file=file, place=f"byte {error.start}") from None
    try:
        value = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InputError(f"expected JSON: {error.msg}", file=file, line=error.lineno) from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"expected JSON: {str(error)[:80] or 'nested too deeply'}", file=file) from None
    return Node(value, file)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Members of an object, each name once."""
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:40]!r} stands twice in one object")
    return found
