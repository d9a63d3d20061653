"""The one XML reader: refuses document types and entities, bounds size and depth, keeps line numbers.

Billion-laughs and external-entity files are refused at their DOCTYPE; nothing is ever fetched or expanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Final
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from risorius.core.errors import InputError

SIZE_LIMIT: Final = 256 * 1024 * 1024
DEPTH_LIMIT: Final = 64
ELEMENT_LIMIT: Final = 5_000_000


@dataclass
class Element:
    """One element: its tag, attributes, text (joined, stripped), children and the line it starts on."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[Element] = field(default_factory=list)
    line: int = 0

    def __iter__(self) -> Iterator[Element]:
        return iter(self.children)


def read(path: str | PathLike[str]) -> Element:
    """Parse a file; `InputError` names file and line."""
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > SIZE_LIMIT:
            raise InputError(f"expected at most {SIZE_LIMIT >> 20} MiB of XML, got {size >> 20} MiB", file=file)
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=file) from None
    return parse(data, file=file)


def parse(data: bytes, *, file: str | PathLike[str] | None = None) -> Element:
    """Parse bytes; `file` is used in messages only."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root: list[Element] = []
    stack: list[Element] = []
    count = 0

    def refuse(message: str) -> None:
        raise InputError(message, file=file, line=parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > ELEMENT_LIMIT:
            refuse(f"expected at most {ELEMENT_LIMIT} elements")
        if len(stack) >= DEPTH_LIMIT:
            refuse(f"expected elements nested at most {DEPTH_LIMIT} deep")
        element = Element(tag, attributes, line=parser.CurrentLineNumber)
        (stack[-1].children if stack else root).append(element)
        stack.append(element)

    def end(tag: str) -> None:
        element = stack.pop()
        element.text = element.text.strip()

    def text(data: str) -> None:
        if stack:
            stack[-1].text += data

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = lambda *_: refuse("document types and entities are not accepted")
    parser.EntityDeclHandler = lambda *_: refuse("document types and entities are not accepted")
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise InputError(f"not well-formed XML: {reason}", file=file, line=error.lineno) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"not readable as XML: {error}", file=file, line=parser.CurrentLineNumber) from None
    return root[0]


def write(element: Element) -> str:
    """The document as text, indented by two spaces; `parse` of it gives the same tree."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']

    def emit(node: Element, indent: str) -> None:
        attributes = "".join(f" {key}={quoteattr(value)}" for key, value in node.attributes.items())
        head = f"{indent}<{node.tag}{attributes}"
        if node.children:
            lines.append(head + ">" + escape(node.text))
            for child in node.children:
                emit(child, indent + "  ")
            lines.append(f"{indent}</{node.tag}>")
        elif node.text:
            lines.append(f"{head}>{escape(node.text)}</{node.tag}>")
        else:
            lines.append(head + "/>")

    emit(element, "")
    return "\n".join(lines) + "\n"
