"""The rigid bodies: names, joints, masses and inertia, right and left."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from risorius.anatomy.tables import rows, table
from risorius.anatomy.torso.bones import bone_meshes
from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.front import Cartilage, cartilage_meshes, sternum_mesh
from risorius.anatomy.torso.loft import joined, mirrored, unit
from risorius.anatomy.torso.ribs import Rib, carrier_of_rib
from risorius.core.spec import Spec
from risorius.core.torso import Bodies, Floats, Ints, Joint, Mesh
from risorius.maths.polyhedron import box_inertia, mass_properties

LOFTED = ("rib", "cartilage", "sternum")
PUMP_AND_BUCKET = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Axes of a rib on two hinges: lateral (pump handle), then forward (bucket handle)."""
SPINE = ("l4_l5", "l1_l3", "t9_t12", "t5_t8", "t1_t4", "c4_c7", "c1_c3")


def square_axes(first: Floats, hint: Floats) -> Floats:
    """Right-handed rows: `first`, then `hint` made orthogonal to it, then their cross product."""
    a = unit(first)
    b = unit(hint - (hint @ a) * a)
    return np.stack([a, b, np.cross(a, b)])


class Gathering:
    """Collects bodies one after the other; a pair adds right and left."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parent: list[int] = []
        self.joint: list[int] = []
        self.point: list[Floats] = []
        self.axes: list[Floats] = []
        self.meshes: list[Mesh] = []

    def add(self, name: str, parent: str, joint: Joint, point: Floats, axes: Floats, mesh: Mesh) -> None:
        self.names.append(name)
        self.parent.append(self.names.index(parent) if parent else -1)
        self.joint.append(int(joint))
        self.point.append(np.asarray(point, float))
        self.axes.append(axes)
        self.meshes.append(mesh)

    def pair(self, name: str, parent: str, joint: Joint, point: Floats, axes: Floats, mesh: Mesh) -> None:
        """The left is the mirror image; its third axis is turned round to stay right-handed."""
        flip = np.array([1.0, 1.0, -1.0])
        other = axes * flip
        other[2] = np.cross(other[0], other[1])
        paired = parent + "_r" in self.names
        self.add(f"{name}_r", f"{parent}_r" if paired else parent, joint, point, axes, mesh)
        self.add(f"{name}_l", f"{parent}_l" if paired else parent, joint, point * flip, other, mirrored(mesh))


def build_bodies(spec: Spec, frame: Frame, ribs: list[Rib], cartilages: list[Cartilage]) -> Bodies:
    """All bodies of the torso."""
    t = table("trunk")
    bones = bone_meshes(frame)
    g = Gathering()
    xyz = np.eye(3)
    g.add("pelvis", "", Joint.FIXED, np.zeros(3), xyz, bones["pelvis"])
    below = "pelvis"
    for name in SPINE:
        g.add(name, below, Joint.BALL, frame.table(t["sections"][name]), xyz, bones[name])
        below = name
    g.add("skull", below, Joint.BALL, frame.table(t["atlanto_occipital"]), xyz, bones["skull"])
    for rib in ribs:
        mesh = rib.mesh() if rib.number > 1 else joined([rib.mesh(), cartilages[0].mesh()])
        hinged = spec.ribs == "hinges"
        axes = PUMP_AND_BUCKET if hinged else square_axes(rib.axis, np.array([0.0, 1.0, 0.0]))
        kind = Joint.UNIVERSAL if hinged else Joint.BALL
        g.pair(f"rib{rib.number}", carrier_of_rib(rib.number), kind, rib.head, axes, mesh)
    sternum = sternum_mesh(frame)
    g.add("sternum", "pelvis", Joint.FREE, sternum.vertices.mean(axis=0) * [1.0, 1.0, 0.0], xyz, sternum)
    meshes = cartilage_meshes(cartilages)
    for name, mesh in meshes.items():
        parts = cartilages[5:7] if name == "cartilage_lower" else [cartilages[int(name[-1]) - 1]]
        point = np.mean([part.centre[-1] for part in parts], axis=0)
        along = unit(np.mean([part.centre[0] - part.centre[-1] for part in parts], axis=0))
        forward = np.array([1.0, 0.0, 0.0])
        first = forward - (forward @ along) * along
        kind = Joint.BALL if name == "cartilage_lower" else Joint.UNIVERSAL  # the long arch twists
        g.pair(name, "sternum", kind, point, square_axes(first, np.cross(along, first)), mesh)
    joints = {name: frame.table(point) for name, point in t["joints"].items()}
    g.pair("girdle", "sternum", Joint.BALL, joints["sternoclavicular"], xyz, bones["girdle"])
    g.pair("upper_arm", "girdle", Joint.BALL, joints["glenohumeral"], xyz, bones["upper_arm"])
    humerus = joints["elbow"] - joints["glenohumeral"]
    flexion = np.cross(unit(humerus), np.array([1.0, 0.0, 0.0]))
    g.pair("lower_arm", "upper_arm", Joint.HINGE, joints["elbow"], square_axes(flexion, humerus), bones["lower_arm"])
    return weighed(g, spec, ribs)


def solid(part: Mesh, *, hull: bool) -> tuple[Floats, Ints]:
    """The closed surface whose uniform filling stands for a body: the mesh, or its hull, faces outward.

    Bones of the package carry the muscles about them (head, shoulder, arm) and some are not watertight: hull.
    """
    if not hull:
        return part.vertices, part.faces
    found = ConvexHull(part.vertices)
    corner = part.vertices[found.simplices]
    inward = (np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]) * found.equations[:, :3]).sum(-1) < 0
    faces = np.where(inward[:, None], found.simplices[:, ::-1], found.simplices)
    return part.vertices, faces.astype(np.int32)


def weighed(g: Gathering, spec: Spec, ribs: list[Rib]) -> Bodies:
    """Masses of the table in proportion to the subject's mass; inertia of a uniform body of that shape, or of its bounding
    box."""
    known = {row["body"]: float(row["mass_kg"]) for row in rows("masses")}
    lengths = np.array([rib.length for rib in ribs])
    share = known["ribs"] / 2 * lengths / lengths.sum()
    factor = spec.mass / table("scaling")["reference_mass_kg"]
    arms = table("scaling")["arm_mass"][spec.sex]
    mass: list[float] = []
    centre: list[Floats] = []
    inertia: list[Floats] = []
    for name, mesh in zip(g.names, g.meshes):
        stem = name.removesuffix("_r").removesuffix("_l")
        base = share[int(stem[3:]) - 1] if stem.startswith("rib") else known[stem]
        m = base * factor * arms.get(stem, 1.0)
        size, middle, tensor = mass_properties(*solid(mesh, hull=not stem.startswith(LOFTED)))
        if spec.inertia == "boxes":
            low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
            middle, tensor, size = (low + high) / 2, box_inertia(mesh.vertices), 1.0
        if name.endswith("_l"):
            middle = centre[-1] * [1.0, 1.0, -1.0]
            flip = np.diag([1.0, 1.0, -1.0])
            inertia.append(flip @ inertia[-1] @ flip)
        else:
            inertia.append(tensor / size * m)
        mass.append(m)
        centre.append(middle)
    return Bodies(
        tuple(g.names),
        np.array(g.parent, np.int32),
        np.array(g.joint, np.int32),
        np.array(g.point),
        np.array(g.axes),
        np.array(mass),
        np.array(centre),
        np.array(inertia),
        tuple(g.meshes),
    )
