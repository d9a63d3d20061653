"""The strand document: XML with models, strands, constraints and keyframes, exact in every digit (docs/strands.md).

<strands version="1" name="finger" gravity="0 -9.80665 0">
  <body name="bone" mass="0.02" centre="0.02 0 0" inertia="1e-6 0 0 0 1e-5 0 0 0 1e-5">
    <vertices>…</vertices><faces>…</faces>
  </body>
  <joint body="bone" kind="hinge" axes="0 0 1" points="0 0 0" low="-0.3" high="1.7"/>
  <law name="hill"><active>0.4 0 1 1 1.6 0</active></law>
  <strand name="flexor" radius="0.002"><points>…</points><tissue stiffness="300" strength="60" end="0.4"/></strand>
  <attachment strand="flexor" parameter="0"/>
  <slide strand="flexor" parameter="0.5" body="bone" point="0.01 -0.01 0"/>
  <target body="bone"><key time="0" rotation="1 0 0 0 1 0 0 0 1" translation="0 0 0"/></target>
</strands>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from risorius.core import xml
from risorius.core.errors import InputError
from risorius.core.strands import (
    LINEAR,
    Attachment,
    Body,
    Contact,
    Floats,
    Joint,
    Law,
    Link,
    Motion,
    PointTarget,
    PoseTarget,
    Slide,
    Strand,
    StrandModel,
    Surface,
    Target,
    Tissue,
)
from risorius.core.torso import Mesh, frozen
from risorius.core.xml import Element
from risorius.io.files import write_bytes

T = TypeVar("T")
NUMBERS: Final = {
    "joint": ("stiffness", "damping", "rest", "low", "high"),
    "tissue": ("stiffness", "strength", "start", "end", "slack", "compression"),
    "strand": ("density", "mass_damping", "stiffness_damping"),
}


@dataclass(frozen=True, eq=False)
class Track:
    """What a simulation did: times (f,) [s]; points: by strand (f, n, 3) [m]; activations (f, strands)."""

    times: Floats
    points: tuple[Floats, ...]
    activations: Floats


@dataclass(frozen=True, eq=False)
class StrandDocument:
    """A strand model with its animation.

    Args:
        model: bodies, joints, strands, constraints.
        targets: what the controller follows.
        driven: motions of driven bodies.
        simulated: motions of bodies that a simulation wrote, and its track.
    """

    model: StrandModel
    targets: tuple[Target, ...] = ()
    driven: tuple[Motion, ...] = ()
    simulated: tuple[Motion, ...] = ()
    track: Track | None = None


def text_of(values: Any) -> str:
    return " ".join(map(repr, np.asarray(values, dtype=np.float64).ravel().tolist()))


def write_strands(path: str | PathLike[str], document: StrandDocument) -> None:
    """Write a document, whole or not at all."""
    write_bytes(path, xml.write(to_element(document)).encode())


def to_element(document: StrandDocument) -> Element:
    model = document.model
    root = Element("strands", {"version": "1", "name": model.name, "gravity": text_of(model.gravity)})
    laws: dict[int, tuple[Law, str]] = {}
    for tissue in (tissue for strand in model.strands for tissue in strand.tissues):
        if tissue.law is not LINEAR and id(tissue.law) not in laws:
            laws[id(tissue.law)] = (tissue.law, f"{tissue.law.name}{len(laws) + 1}")
    out = root.children
    out += [body_element(body) for body in model.bodies]
    out += [joint_element(joint) for joint in model.joints]
    for law, name in laws.values():
        curves = [(key, getattr(law, key)) for key in ("passive", "active", "velocity")]
        children = [Element(key, {}, text_of(curve)) for key, curve in curves if curve is not None]
        out.append(Element("law", {"name": name, "title": law.name}, children=children))
    out += [strand_element(strand, {key: name for key, (_, name) in laws.items()}) for strand in model.strands]
    for surface in model.surfaces:
        head = {"name": surface.name, "body": surface.body, "around": str(surface.points.shape[0]),
                "closed": str(surface.closed).lower()}  # fmt: skip
        out.append(Element("surface", head, text_of(surface.points)))
    places: tuple[Attachment | Slide, ...] = (*model.attachments, *model.slides)
    for item in places:
        head = {"strand": item.strand, "parameter": repr(float(item.parameter)), "body": item.body}
        out.append(
            Element(type(item).__name__.lower(), head | ({} if item.point is None else {"point": text_of(item.point)}))
        )
    for contact in model.contacts:
        height = "drawn" if contact.height is None else repr(float(contact.height))
        head = {"strand": contact.strand, "parameter": repr(float(contact.parameter)), "surface": contact.surface}
        out.append(Element("contact", head | {"height": height, "one_sided": str(contact.one_sided).lower()}))
    for link in model.links:
        out.append(Element("link", {"strand": link.strand, "parameter": repr(float(link.parameter)), "other": link.other,
                                    "other_parameter": repr(float(link.other_parameter))}))  # fmt: skip
    out += [target_element(target) for target in document.targets]
    out += [motion_element(motion, "driven") for motion in document.driven]
    out += [motion_element(motion, "simulated") for motion in document.simulated]
    if document.track is not None:
        out += track_elements(document.track, model)
    return root


def body_element(body: Body) -> Element:
    head = {
        "name": body.name,
        "mass": repr(body.mass),
        "centre": text_of(body.centre),
        "inertia": text_of(body.inertia),
    }
    element = Element("body", head)
    if body.mesh is not None:
        faces = " ".join(map(str, body.mesh.faces.ravel().tolist()))
        element.children = [Element("vertices", {}, text_of(body.mesh.vertices)), Element("faces", {}, faces)]
    return element


def joint_element(joint: Joint) -> Element:
    head = {"body": joint.body, "parent": joint.parent, "kind": joint.kind}
    if joint.axes.size:
        head |= {"axes": text_of(joint.axes), "points": text_of(joint.points)}
    if joint.stiffness.size:
        head |= {key: text_of(getattr(joint, key)) for key in NUMBERS["joint"]}
    head |= {"limit_stiffness": repr(joint.limit_stiffness), "limit_damping": repr(joint.limit_damping)}
    return Element("joint", head)


def strand_element(strand: Strand, laws: dict[int, str]) -> Element:
    head = {"name": strand.name, "radius": text_of(strand.radius), "group": strand.group}
    head |= {key: repr(float(getattr(strand, key))) for key in NUMBERS["strand"]}
    tissues = []
    for tissue in strand.tissues:
        values = {key: repr(float(getattr(tissue, key))) for key in NUMBERS["tissue"]}
        tissues.append(Element("tissue", values | ({} if tissue.law is LINEAR else {"law": laws[id(tissue.law)]})))
    return Element("strand", head, children=[Element("points", {}, text_of(strand.points)), *tissues])


def keys_of(motion: Motion) -> list[Element]:
    return [
        Element("key", {"time": repr(float(t)), "rotation": text_of(r), "translation": text_of(p)})
        for t, r, p in zip(motion.times, motion.rotations, motion.translations)
    ]


def motion_element(motion: Motion, tag: str) -> Element:
    return Element(tag, {"body": motion.body}, children=keys_of(motion))


def target_element(target: Target) -> Element:
    head = {"body": target.body, "weight": repr(float(target.weight))}
    if isinstance(target, PoseTarget):
        return Element("target", head, children=keys_of(target.motion))
    children = [
        Element("key", {"time": repr(float(t)), "position": text_of(p)}) for t, p in zip(target.times, target.positions)
    ]
    return Element("target", head | {"point": text_of(target.point)}, children=children)


def track_elements(track: Track, model: StrandModel) -> list[Element]:
    frames = []
    for k, time in enumerate(track.times):
        children = [
            Element("points", {"strand": strand.name}, text_of(points[k]))
            for strand, points in zip(model.strands, track.points)
        ]
        frames.append(
            Element(
                "frame", {"time": repr(float(time)), "activations": text_of(track.activations[k])}, children=children
            )
        )
    return frames


def read_strands(path: str | PathLike[str]) -> StrandDocument:
    """Read a document; `InputError` names file and line."""
    file = Path(path)
    return from_element(xml.read(file), file)


def parse_strands(data: bytes) -> StrandDocument:
    """Read a document from bytes."""
    return from_element(xml.parse(data), None)


class Reader:
    """Attributes of elements, with file and line in every complaint."""

    def __init__(self, file: Path | None) -> None:
        self.file = file

    def fail(self, element: Element, message: str) -> InputError:
        return InputError(message, file=self.file, line=element.line)

    def allow(self, element: Element, attributes: Iterable[str], children: Iterable[str] = ()) -> None:
        for key in element.attributes:
            if key not in attributes:
                raise self.fail(element, f"expected {', '.join(sorted(attributes))} in <{element.tag}>, got {key!r}")
        for child in element:
            if child.tag not in children:
                raise self.fail(
                    child, f"expected {', '.join(sorted(children)) or 'nothing'} in <{element.tag}>, got <{child.tag}>"
                )

    def text(self, element: Element, key: str, default: str | None = None) -> str:
        value = element.attributes.get(key, default)
        if value is None:
            raise self.fail(element, f"expected {key} in <{element.tag}>")
        return value

    def floats(self, element: Element, text: str, what: str, width: int | None = None) -> Floats:
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            raise self.fail(element, f"expected numbers in {what}") from None
        if np.isnan(values).any():
            raise self.fail(element, f"expected numbers in {what}, got nan")
        if width is not None:
            if len(values) % width:
                raise self.fail(element, f"expected {what} in rows of {width}, got {len(values)} numbers")
            return values.reshape(-1, width)
        return values

    def number(self, element: Element, key: str, default: float | None = None) -> float:
        text = self.text(element, key, None if default is None else repr(default))
        values = self.floats(element, text, key)
        if len(values) != 1 or not np.isfinite(values[0]):
            raise self.fail(element, f"expected one finite number in {key}, got {text!r}")
        return float(values[0])

    def flag(self, element: Element, key: str, default: bool) -> bool:
        value = self.text(element, key, str(default).lower())
        if value not in ("true", "false"):
            raise self.fail(element, f"expected true or false in {key}, got {value!r}")
        return value == "true"

    def make(self, element: Element, build: Callable[[], T]) -> T:
        """Build something whose own checks complain, and say where it stands."""
        try:
            return build()
        except InputError as error:
            place = f"{error.place}: " if error.place else ""
            raise self.fail(element, place + error.message) from None

    def shaped(self, element: Element, key: str, shape: tuple[int, ...]) -> Floats:
        """An attribute's numbers in a shape of known size."""
        values = self.floats(element, self.text(element, key), key)
        if len(values) != int(np.prod(shape)):
            raise self.fail(element, f"expected {int(np.prod(shape))} numbers in {key}, got {len(values)}")
        return values.reshape(shape)


PARTS: Final = ("body", "joint", "law", "strand", "surface", "attachment", "slide", "contact", "link", "target", "driven",
                "simulated", "frame")  # fmt: skip


def from_element(root: Element, file: Path | None) -> StrandDocument:
    """The document that an element holds."""
    r = Reader(file)
    if root.tag != "strands":
        raise r.fail(root, f"expected <strands>, got <{root.tag}>")
    r.allow(root, ("version", "name", "gravity"), PARTS)
    if r.text(root, "version") != "1":
        raise r.fail(root, f"expected version 1, got {root.attributes['version']!r}")
    found: dict[str, list[Element]] = {part: [] for part in PARTS}
    for child in root:
        found[child.tag].append(child)
    laws: dict[str, Law] = {}
    for element in found["law"]:
        laws[r.text(element, "name")] = read_law(r, element)
    gravity = r.shaped(root, "gravity", (3,)) if "gravity" in root.attributes else None
    parts: dict[str, Any] = {
        "name": r.text(root, "name", "model"),
        "bodies": tuple(read_body(r, element) for element in found["body"]),
        "joints": tuple(read_joint(r, element) for element in found["joint"]),
        "strands": tuple(read_strand(r, element, laws) for element in found["strand"]),
        "surfaces": tuple(read_surface(r, element) for element in found["surface"]),
        "attachments": tuple(read_place(r, element, Attachment) for element in found["attachment"]),
        "slides": tuple(read_place(r, element, Slide) for element in found["slide"]),
        "contacts": tuple(read_contact(r, element) for element in found["contact"]),
        "links": tuple(read_link(r, element) for element in found["link"]),
    }
    if gravity is not None:
        parts["gravity"] = gravity
    model = r.make(root, lambda: StrandModel(**parts))
    names = {body.name for body in model.bodies}
    for element in (*found["target"], *found["driven"], *found["simulated"]):
        if r.text(element, "body") not in names:
            raise r.fail(element, f"expected the name of a body, got {element.attributes['body']!r}")
    return StrandDocument(
        model,
        tuple(read_target(r, element) for element in found["target"]),
        tuple(read_motion(r, element, ("body",)) for element in found["driven"]),
        tuple(read_motion(r, element, ("body",)) for element in found["simulated"]),
        read_track(r, found["frame"], model),
    )


def read_body(r: Reader, element: Element) -> Body:
    r.allow(element, ("name", "mass", "centre", "inertia"), ("vertices", "faces"))
    texts = {child.tag: child for child in element}
    mesh = None
    if texts:
        if set(texts) != {"vertices", "faces"}:
            raise r.fail(element, "expected vertices and faces, both or none")
        vertices = r.floats(texts["vertices"], texts["vertices"].text, "vertices", 3)
        faces = r.floats(texts["faces"], texts["faces"].text, "faces", 3)
        if faces.size and not ((faces == np.round(faces)) & (faces >= 0) & (faces < len(vertices))).all():
            raise r.fail(texts["faces"], f"expected whole numbers from 0 to {len(vertices) - 1} in faces")
        mesh = frozen(Mesh(vertices, faces.astype(np.int32)))
    name, mass = r.text(element, "name"), r.number(element, "mass")
    centre, inertia = r.shaped(element, "centre", (3,)), r.shaped(element, "inertia", (3, 3))
    return r.make(element, lambda: Body(name, mass, centre, inertia, mesh))


def read_joint(r: Reader, element: Element) -> Joint:
    keys = (*NUMBERS["joint"], "limit_stiffness", "limit_damping")
    r.allow(element, ("body", "parent", "kind", "axes", "points", *keys))
    values: dict[str, Any] = {"body": r.text(element, "body"), "parent": r.text(element, "parent", ""),
                              "kind": r.text(element, "kind", "hinge")}  # fmt: skip
    for key in ("axes", "points"):
        if key in element.attributes:
            values[key] = r.floats(element, element.attributes[key], key, 3)
    if "points" in values and len(values["points"]) == 1:
        values["points"] = values["points"][0]
    for key in NUMBERS["joint"]:
        if key in element.attributes:
            numbers = r.floats(element, element.attributes[key], key)
            values[key] = numbers[0] if len(numbers) == 1 else numbers
    for key in ("limit_stiffness", "limit_damping"):
        if key in element.attributes:
            values[key] = r.number(element, key)
    return r.make(element, lambda: Joint(**values))


def read_law(r: Reader, element: Element) -> Law:
    r.allow(element, ("name", "title"), ("passive", "active", "velocity"))
    curves = {child.tag: r.floats(child, child.text, child.tag, 2) for child in element}
    return r.make(element, lambda: Law(r.text(element, "title", r.text(element, "name")), **curves))


def read_strand(r: Reader, element: Element, laws: dict[str, Law]) -> Strand:
    r.allow(element, ("name", "radius", "group", *NUMBERS["strand"]), ("points", "tissue"))
    points = [child for child in element if child.tag == "points"]
    if len(points) != 1:
        raise r.fail(element, "expected one <points> in <strand>")
    tissues = []
    for child in element:
        if child.tag == "tissue":
            r.allow(child, (*NUMBERS["tissue"], "law"))
            values: dict[str, Any] = {key: r.number(child, key) for key in NUMBERS["tissue"] if key in child.attributes}
            if "stiffness" not in values:
                raise r.fail(child, "expected stiffness in <tissue>")
            if "law" in child.attributes:
                if child.attributes["law"] not in laws:
                    raise r.fail(child, f"expected the name of a law, got {child.attributes['law']!r}")
                values["law"] = laws[child.attributes["law"]]
            tissues.append(r.make(child, lambda values=values: Tissue(**values)))  # type: ignore[misc]
    radius = r.floats(element, r.text(element, "radius"), "radius")
    numbers = {key: r.number(element, key) for key in NUMBERS["strand"] if key in element.attributes}
    return r.make(element, lambda: Strand(
        r.text(element, "name"), r.floats(points[0], points[0].text, "points", 3),
        radius[0] if len(radius) == 1 else radius, tuple(tissues), group=r.text(element, "group", ""), **numbers,
    ))  # fmt: skip


def read_surface(r: Reader, element: Element) -> Surface:
    r.allow(element, ("name", "body", "around", "closed"))
    around = r.number(element, "around")
    points = r.floats(element, element.text, "points", 3)
    if around < 1 or around != int(around) or len(points) % int(around):
        raise r.fail(element, f"expected points in {around:g} equal rows, got {len(points)} points")
    grid = points.reshape(int(around), -1, 3)
    closed = r.flag(element, "closed", True)
    return r.make(element, lambda: Surface(r.text(element, "name"), r.text(element, "body", ""), grid, closed))


def read_place(r: Reader, element: Element, kind: Callable[..., T]) -> T:
    r.allow(element, ("strand", "parameter", "body", "point"))
    point = r.shaped(element, "point", (3,)) if "point" in element.attributes else None
    parameter = r.number(element, "parameter")
    return r.make(element, lambda: kind(r.text(element, "strand"), parameter, r.text(element, "body", ""), point))


def read_contact(r: Reader, element: Element) -> Contact:
    r.allow(element, ("strand", "parameter", "surface", "height", "one_sided"))
    height = None if element.attributes.get("height") == "drawn" else r.number(element, "height", 0.0)
    return Contact(r.text(element, "strand"), r.number(element, "parameter"), r.text(element, "surface"), height,
                   r.flag(element, "one_sided", False))  # fmt: skip


def read_link(r: Reader, element: Element) -> Link:
    r.allow(element, ("strand", "parameter", "other", "other_parameter"))
    return Link(r.text(element, "strand"), r.number(element, "parameter"), r.text(element, "other"),
                r.number(element, "other_parameter"))  # fmt: skip


def read_motion(r: Reader, element: Element, attributes: tuple[str, ...]) -> Motion:
    r.allow(element, attributes, ("key",))
    for key in element:
        r.allow(key, ("time", "rotation", "translation"))
    times = [r.number(key, "time") for key in element]
    rotations = np.array([r.shaped(key, "rotation", (3, 3)) for key in element]).reshape(-1, 3, 3)
    translations = np.array([r.shaped(key, "translation", (3,)) for key in element]).reshape(-1, 3)
    return r.make(element, lambda: Motion(r.text(element, "body"), np.array(times), rotations, translations))


def read_target(r: Reader, element: Element) -> Target:
    weight = r.number(element, "weight", 1.0)
    if weight < 0:
        raise r.fail(element, f"expected a weight of 0 or more, got {weight:g}")
    if "point" not in element.attributes:
        return PoseTarget(read_motion(r, element, ("body", "weight")), weight)
    r.allow(element, ("body", "weight", "point"), ("key",))
    for key in element:
        r.allow(key, ("time", "position"))
    times = np.array([r.number(key, "time") for key in element])
    positions = np.array([r.shaped(key, "position", (3,)) for key in element]).reshape(-1, 3)
    point = r.shaped(element, "point", (3,))
    return r.make(element, lambda: PointTarget(r.text(element, "body"), point, times, positions, weight))


def read_track(r: Reader, frames: list[Element], model: StrandModel) -> Track | None:
    if not frames:
        return None
    points: list[list[Floats]] = [[] for _ in model.strands]
    activations = []
    for frame in frames:
        r.allow(frame, ("time", "activations"), ("points",))
        if [child.attributes.get("strand") for child in frame] != [strand.name for strand in model.strands]:
            raise r.fail(frame, "expected <points> of every strand, in their order")
        activations.append(r.shaped(frame, "activations", (len(model.strands),)))
        for k, child in enumerate(frame):
            values = r.floats(child, child.text, "points", 3)
            if values.shape != model.strands[k].points.shape:
                raise r.fail(child, f"expected {len(model.strands[k].points)} points, got {len(values)}")
            points[k].append(values)
    times = np.array([r.number(frame, "time") for frame in frames])
    return Track(times, tuple(np.array(item) for item in points), np.array(activations))
