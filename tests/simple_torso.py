"""A small torso and a record of it moving, made by hand: every type filled in, the geometry of a toy."""

import itertools

import numpy as np

from risorius.core.record import Record
from risorius.core.spec import Spec
from risorius.core.torso import Bodies, Fibres, Joint, Lines, Mesh, Surface, Torso, frozen

PLACES = {
    "pelvis": ((-0.05, 0.0, 0), (0.06, 0.06, 0.12)),
    "l1_l3": ((-0.1, 0.15, 0), (0.03, 0.06, 0.03)),
    "t5_t8": ((-0.12, 0.38, 0), (0.03, 0.08, 0.03)),
    "skull": ((0, 0.7, 0), (0.08, 0.1, 0.07)),
    "sternum": ((0.1, 0.4, 0), (0.01, 0.08, 0.02)),
    "rib7_l": ((0.0, 0.36, -0.12), (0.1, 0.01, 0.01)),
    "rib7_r": ((0.0, 0.36, 0.12), (0.1, 0.01, 0.01)),
    "rib4_l": ((0.0, 0.44, -0.11), (0.1, 0.01, 0.01)),
    "rib4_r": ((0.0, 0.44, 0.11), (0.1, 0.01, 0.01)),
    "upper_arm_r": ((0.0, 0.4, 0.24), (0.03, 0.14, 0.03)),
}
PARENTS = {"l1_l3": "pelvis", "t5_t8": "l1_l3", "skull": "t5_t8", "sternum": "pelvis", "upper_arm_r": "sternum"}


def box(centre, half):
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], dtype=np.int32)
    return Mesh(corners * half + centre, faces)


def globe(centre, radii, rows, columns):
    """A closed lat-long surface, top to bottom: points, faces (outward), and the row of each point."""
    points, level = [(0.0, 1.0, 0.0)], [0]
    for row in range(1, rows):
        angle = np.pi * row / rows
        for column in range(columns):
            turn = 2 * np.pi * column / columns
            points.append((np.sin(angle) * np.cos(turn), np.cos(angle), -np.sin(angle) * np.sin(turn)))
            level.append(row)
    points.append((0.0, -1.0, 0.0))
    level.append(rows)

    def at(row, column):
        return 0 if row == 0 else len(points) - 1 if row == rows else 1 + (row - 1) * columns + column % columns

    faces = []
    for row in range(rows):
        for column in range(columns):
            a, b = at(row, column), at(row + 1, column)
            c, d = at(row + 1, column + 1), at(row, column + 1)
            faces += [f for f in ((a, b, c), (a, c, d)) if len(set(f)) == 3]
    return np.array(points) * radii + centre, np.array(faces, dtype=np.int32), np.array(level)


def make_surface(names):
    points, faces, level = globe((0, 0.18, 0), (0.11, 0.16, 0.13), 8, 16)
    upper, _, upper_level = globe((0, 0.18, 0), (0.12, 0.34, 0.14), 8, 16)
    chosen = np.flatnonzero(upper_level < 4)
    index = np.concatenate([len(points) + np.arange(len(chosen)), np.flatnonzero(level >= 4)])
    number = np.full(len(upper), -1)
    number[chosen] = index[: len(chosen)]
    number[upper_level >= 4] = np.flatnonzero(level >= 4)
    trunk = number[faces].astype(np.int32)
    region = np.where(level < 4, 0, np.where(level == 4, 1, 2))
    region[(level > 4) & (points[:, 0] < -0.03)] = 3
    body = np.full(len(points), -1)
    body[level == 4] = names.index("rib7_r")
    body[region == 3] = names.index("l1_l3")
    body[level == 8] = names.index("pelvis")
    carried = np.where(upper[chosen, 2] > 0, names.index("rib4_r"), names.index("rib4_l"))
    cage = trunk[(trunk >= len(points)).any(axis=1)]
    return Surface(
        np.concatenate([points, upper[chosen]]),
        np.concatenate([body, carried]).astype(np.int32),
        np.concatenate([region, np.full(len(chosen), 4)]).astype(np.int32),
        ("dome", "insertion", "wall", "back", "ribcage"),
        faces,
        trunk,
        cage,
    )


def make_torso():
    names = tuple(PLACES)
    meshes = tuple(box(np.array(c), np.array(h)) for c, h in PLACES.values())
    centre = np.array([c for c, _ in PLACES.values()], dtype=float)
    count = len(names)
    parent = [-1] + [names.index(PARENTS.get(name, "t5_t8")) for name in names[1:]]
    bodies = Bodies(
        names,
        np.array(parent, dtype=np.int32),
        np.array([Joint.FIXED] + [Joint.BALL] * (count - 1), dtype=np.int32),
        centre - np.array([0.05, 0.02, 0]),
        np.tile(np.eye(3), (count, 1, 1)),
        np.ones(count),
        centre,
        np.tile(np.eye(3) * 0.01, (count, 1, 1)),
        meshes,
    )
    surface = make_surface(names)
    ribs = [names.index(f"rib{k}_{side}") for k in (7, 4) for side in "lr"]
    lines = Lines(
        np.array([0, 0], dtype=np.int32),
        np.array([[ribs[0], ribs[2]], [ribs[1], ribs[3]]], dtype=np.int32),
        np.array([[centre[ribs[0]], centre[ribs[2]]], [centre[ribs[1]], centre[ribs[3]]]]),
        np.array([1e-5, 1e-5]),
        ("external l", "external r"),
    )
    ends, chain = [], []
    for column in range(16):
        path = [*[1 + row * 16 + column for row in range(3, -1, -1)][: 3 if column % 2 else 4], 0]
        ends += [(a, b) for a, b in itertools.pairwise(path)]
        chain += [column] * (len(path) - 1)
    fibres = Fibres(
        np.ones(len(ends), dtype=np.int32),
        np.array(ends, dtype=np.int32),
        np.array(chain, dtype=np.int32),
        np.full(len(ends), 2e-5),
        tuple(f"diaphragm {c}" for c in chain),
    )
    skin_points, skin_faces, _ = globe((0, 0.32, 0), (0.16, 0.54, 0.19), 24, 48)
    landmarks = {"umbilicus": np.array([0.11, 0.12, 0.0]), "dome_right": np.array([0, 0.3, 0.05])}
    struts = np.array([[ribs[0], names.index("sternum")]], dtype=np.int32)
    return frozen(
        Torso(
            Spec(), bodies, ("intercostal_external", "diaphragm"), lines, struts,
            np.array([[centre[ribs[0]], centre[4]]]), surface, fibres, Mesh(skin_points, skin_faces), landmarks,
        )
    )  # fmt: skip


def turn(axis, angle):
    axis = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    return np.concatenate([np.cos(angle / 2)[..., None], np.sin(angle / 2)[..., None] * axis], axis=-1)


def make_record(torso, seconds=4.0, rate=25, amount=1.0):
    """Ribs swing about their joint points, the dome falls, the wall bulges: smooth, periodic, made up."""
    from risorius.maths.rotations import matrices

    time = np.arange(round(seconds * rate) + 1) / rate
    breath = amount * 0.5 * (1 - np.cos(2 * np.pi * time / 4.0))
    names = torso.bodies.names
    rotation = np.zeros((len(time), len(names), 4))
    rotation[..., 0] = 1
    position = np.zeros((len(time), len(names), 3))
    for k, name in enumerate(names):
        if name.startswith("rib"):
            side = 1 if name.endswith("_r") else -1
            rotation[:, k] = turn((0.4 * side, 0, 1), 0.1 * breath)
        elif name in ("sternum", "skull") or name.startswith("cartilage"):
            position[:, k] = breath[:, None] * np.array([0.01, 0.006, 0])
    spin = matrices(rotation)
    pivot = torso.bodies.joint_point
    position += pivot - np.einsum("fbij,bj->fbi", spin, pivot)
    surface = torso.surface
    points = np.repeat(np.asarray(surface.points)[None], len(time), axis=0)
    carried = surface.body >= 0
    which = surface.body[carried]
    points[:, carried] = np.einsum("fpij,pj->fpi", spin[:, which], surface.points[carried]) + position[:, which]
    names_of = np.array(surface.regions)[surface.region]
    points[:, np.isin(names_of, ["dome", "tendon"]) & ~carried, 1] -= 0.03 * breath[:, None]
    wall = (names_of == "wall") & ~carried
    points[:, wall, 0] += 0.015 * breath[:, None]
    signals = {
        "time_s": time,
        "lung_volume_l": 2.4 + 0.5 * breath,
        "flow_lps": np.gradient(0.5 * breath, time),
        "pleural_pressure_cmH2O": -5 - 3 * breath,
        "abdominal_pressure_cmH2O": 2 + 4 * breath,
        "sternum_ap_mm": 5 * breath,
        "diaphragm_height_mm": -15 * breath,
        "umbilicus_ap_mm": 8 * breath,
        **{f"act_{group}": 0.3 * breath for group in torso.groups},
    }
    return Record(time, position, rotation, points, signals)
