"""A subject's torso: every part built in the frame of the subject and put together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from risorius.anatomy.torso.cage import Net, build_cage, cage_faces, cap_faces
from risorius.anatomy.torso.diaphragm import build_diaphragm, diaphragm_faces, ring_faces
from risorius.anatomy.torso.fibres import Chains, diaphragm_fibres, pack, wall_fibres
from risorius.anatomy.torso.frame import Frame, subject_frame
from risorius.anatomy.torso.front import Cartilage, build_cartilages
from risorius.anatomy.torso.landmarks import build_landmarks
from risorius.anatomy.torso.lines import build_lines, packed
from risorius.anatomy.torso.ribs import Rib, build_ribs
from risorius.anatomy.torso.skeleton import build_bodies
from risorius.anatomy.torso.skin import build_skin
from risorius.anatomy.torso.wall import Wall, build_wall
from risorius.core.spec import Spec
from risorius.core.torso import Bodies, Surface, Torso, frozen

REGIONS = ("dome", "tendon", "apposed", "insertion", "wall", "back", "floor", "ribcage")
GROUPS = (
    "intercostal_external", "intercostal_internal", "parasternal", "diaphragm", "central_tendon", "rectus_upper",
    "rectus_middle", "rectus_lower", "oblique", "transversus", "fascia", "scalene", "sternocleidomastoid",
    "triangularis", "levator_costae", "quadratus", "serratus_superior", "serratus_inferior", "pectoralis_minor",
    "clavicle_up", "clavicle_down", "trapezius_middle", "rhomboid", "serratus_anterior", "pectoralis_major", "latissimus",
)  # fmt: skip


def build_torso(spec: Spec) -> Torso:
    """Build the torso of a subject at rest (end of a quiet expiration, upright)."""
    frame = subject_frame(spec)
    ribs = build_ribs(spec, frame)
    cartilages = build_cartilages(ribs, frame)
    bodies = build_bodies(spec, frame, ribs, cartilages)
    bundle, struts, strut_points = build_lines(bodies, ribs, cartilages, frame)
    groups = list(GROUPS)
    surface, chains = build_surface(spec, frame, bodies, ribs, cartilages)
    skin = build_skin(spec, frame, bodies, surface)
    torso = Torso(
        spec=spec,
        bodies=bodies,
        groups=GROUPS,
        lines=packed(bundle, bodies, groups),
        struts=np.array(struts, np.int32),
        strut_points=strut_points,
        surface=surface,
        fibres=pack(chains, groups),
        skin=skin,
        landmarks=build_landmarks(spec, frame, ribs, cartilages, bodies, surface, skin),
    )
    return frozen(torso)


def build_surface(
    spec: Spec, frame: Frame, bodies: Bodies, ribs: list[Rib], cartilages: list[Cartilage]
) -> tuple[Surface, Chains]:
    """Both cavities and the fibres along them."""
    net = Net()
    cage = build_cage(net, ribs, cartilages, frame)
    shell = cage_faces(net, cage)
    cap = cap_faces(net, cage)
    diaphragm = build_diaphragm(net, cage, shell, frame)
    wall = build_wall(net, cage, spec, frame)
    below = wall_faces(wall)
    points = np.array(net.points)
    place = {name: i for i, name in enumerate(bodies.names)} | {"": -1}
    body = np.array([place[name] for name in net.body], np.int32)
    chains = Chains()
    free = (body < 0).astype(np.int32)
    diaphragm_fibres(chains, diaphragm, points, free)
    wall_fibres(chains, wall, points, free, spec)
    surface = Surface(
        points=points,
        body=body,
        region=np.array([REGIONS.index(r) for r in net.region], np.int32),
        regions=REGIONS,
        abdomen=np.array(diaphragm_faces(diaphragm) + below, np.int32),
        trunk=np.array(shell + cap + below, np.int32),
        cage=np.array(shell, np.int32),
    )
    return surface, chains


def wall_faces(wall: Wall) -> list[tuple[int, int, int]]:
    """Wall, back and floor, normals outward."""
    rows = wall.rows + wall.floor
    faces = []
    for upper, lower in pairwise(rows):
        faces += [tuple(reversed(face)) for face in ring_faces(upper, lower)]
    return faces  # type: ignore[return-value]
