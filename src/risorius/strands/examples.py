"""Small systems to learn from and to test with: catenary, pulley, finger, neck; and a mechanical hand of the real size.

Dimensions are round numbers of machines, not anatomy: the anatomical hand is `risorius.anatomy`'s.
"""

from __future__ import annotations

import numpy as np

from risorius.core.strand_shapes import cuboid, parameter_near, rod, strand_through, tube
from risorius.core.strands import (
    Attachment,
    Body,
    Contact,
    Floats,
    Joint,
    Link,
    Slide,
    Strand,
    StrandModel,
    Surface,
    Tissue,
)

MM = 1e-3


def catenary(span: float = 0.8, length: float = 1.0, count: int = 21, stiffness: float = 1e5) -> StrandModel:
    """A rope of a length [m] between two points of the world at a distance `span` [m]."""
    rope = strand_through("rope", [[0.0, 0.0, 0.0], [length, 0.0, 0.0]], 3 * MM, count=count, tissues=(Tissue(stiffness),),
                          mass_damping=4.0)  # fmt: skip
    ends = (Attachment("rope", 0.0, "", np.zeros(3)), Attachment("rope", 1.0, "", np.array([span, 0.0, 0.0])))
    return StrandModel("catenary", strands=(rope,), attachments=ends)


def pulley(masses: tuple[float, float] = (0.2, 0.2), spacing: float = 8 * MM, stiffness: float = 2e3,
           radius: float = 40 * MM) -> StrandModel:  # fmt: skip
    """Two weights [kg] on a rope over a fixed smooth cylinder (Atwood's machine); the rope may lift off and lie down."""
    angle = np.linspace(np.pi, 0.0, 25)
    arc = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    over = np.concatenate([np.linspace([-radius, -0.2, 0], [-radius, -0.01, 0], 20), arc,
                           np.linspace([radius, -0.01, 0], [radius, -0.2, 0], 20)])  # fmt: skip
    rope = strand_through("rope", over, 1 * MM, spacing=spacing, tissues=(Tissue(stiffness),))
    weights = tuple(
        cuboid(name, [x, -0.22, 0.0], [0.04, 0.04, 0.04], mass=mass)
        for name, x, mass in zip(("left", "right"), (-radius, radius), masses)
    )
    ends = (Attachment("rope", 0.0, "left"), Attachment("rope", 1.0, "right"))
    wheel = tube("wheel", "", [0, 0, -0.02], [0, 0, 0.02], radius, around=24)
    count = len(rope.points) - 1
    contacts = tuple(Contact("rope", k / count, "wheel", 0.0, True) for k in range(2, count - 1))
    return StrandModel("pulley", weights, (), (rope,), ends, (), (wheel,), contacts)


def bend(angle: float = 30.0, spacing: float = 10 * MM, stiffness: float = 2e3) -> StrandModel:
    """A rope from a wall through one slide, turned by an angle [°], to a weight of 0.2 kg that pulls it along."""
    turn = np.radians(angle)
    along = np.array([np.sin(turn), np.cos(turn), 0.0])
    path = np.array([0.15 * along, 0 * along, [0.0, -0.15, 0.0]])
    rope = strand_through("rope", path, 1 * MM, spacing=spacing, tissues=(Tissue(stiffness),))
    weight = cuboid("weight", [0, -0.17, 0], [0.04, 0.04, 0.04], mass=0.2)
    ends = (Attachment("rope", 0.0), Attachment("rope", 1.0, "weight"))
    return StrandModel(
        "bend", (weight,), (), (rope,), ends, (Slide("rope", parameter_near(rope, path[1]), "", path[1]),)
    )


def crank(strength: float = 20.0) -> StrandModel:
    """A bar on a hinge (z through the origin) and a muscle in a straight line from the world to the bar."""
    bar = rod("bar", [0, 0, 0], [0.08, 0, 0], 5 * MM)
    muscle = strand_through("muscle", [[-0.1, 0.03, 0], [0.04, 0.01, 0]], 1 * MM, count=6,
                            tissues=(Tissue(500.0, strength),))  # fmt: skip
    hinge = Joint("bar", axes=np.array([[0.0, 0.0, 1.0]]), damping=np.array(1e-3))
    ends = (Attachment("muscle", 0.0), Attachment("muscle", 1.0, "bar"))
    return StrandModel("crank", (bar,), (hinge,), (muscle,), ends)


def drum(radius: float = 10 * MM, strength: float = 20.0) -> StrandModel:
    """A bar on a hinge and a muscle that runs on a drum of a radius [m] of the bar: it winds up and off by contacts."""
    bar = rod("bar", [0, 0, 0], [0.08, 0, 0], 5 * MM)
    surface = tube("drum", "bar", [0, 0, -10 * MM], [0, 0, 10 * MM], radius, around=24)
    angle = np.linspace(0.5 * np.pi, -0.5 * np.pi, 25)
    arc = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    path = np.concatenate([np.linspace([-0.08, radius, 0], [-0.002, radius, 0], 30), arc])
    muscle = strand_through("muscle", path, 1 * MM, spacing=2.5 * MM, tissues=(Tissue(500.0, strength),))
    hinge = Joint("bar", axes=np.array([[0.0, 0.0, 1.0]]), damping=np.array(1e-3))
    ends = (Attachment("muscle", 0.0), Attachment("muscle", 1.0, "bar"))
    count = len(muscle.points) - 1
    touching = [k / count for k in range(count) if muscle.points[k, 0] > -3 * radius]
    contacts = tuple(Contact("muscle", parameter, "drum", 0.0, True) for parameter in touching)
    return StrandModel("drum", (bar,), (hinge,), (muscle,), ends, (), (surface,), contacts)


def finger() -> StrandModel:
    """A planar finger: three bones on hinges, a flexor under pulleys and an extensor over them; flexion is −z."""
    lengths, radius = (45 * MM, 25 * MM, 18 * MM), (8 * MM, 7 * MM, 6 * MM)
    bodies, joints, at = [], [], 0.0
    for k, (name, length) in enumerate(zip(("proximal", "middle", "distal"), lengths)):
        bodies.append(rod(name, [at, 0, 0], [at + length, 0, 0], radius[k], density=1100.0))
        joints.append(Joint(name, bodies[k - 1].name if k else "", "hinge", np.array([[0.0, 0.0, -1.0]]),
                            np.array([at, 0.0, 0.0]), stiffness=0.02, damping=5e-3, low=-0.3, high=1.7))  # fmt: skip
        at += length
    depth = -9 * MM
    under = [[-0.15, depth, 0], [-0.02, depth, 0], [at - 12 * MM, depth, 0], [at - 6 * MM, -6 * MM, 0]]
    over = [[-0.15, -depth, 0], [-0.02, -depth, 0], [at - 12 * MM, -depth, 0], [at - 6 * MM, 6 * MM, 0]]
    tissues = (Tissue(300.0, 60.0, 0.0, 0.4), Tissue(2e4, 0.0, 0.4, 1.0))
    strands = tuple(strand_through(name, path, 1.5 * MM, count=26, tissues=tissues)
                    for name, path in (("flexor", under), ("extensor", over)))  # fmt: skip
    slides, attachments = [], []
    for strand, side in zip(strands, (depth, -depth)):
        attachments += [Attachment(strand.name, 0.0), Attachment(strand.name, 1.0, "distal")]
        for body, x in (("", -12.0), ("proximal", 10.0), ("proximal", 32.0), ("middle", 53.0), ("middle", 64.0)):
            point = np.array([x * MM, side, 0.0])
            slides.append(Slide(strand.name, parameter_near(strand, point), body, point))
    return StrandModel("finger", tuple(bodies), tuple(joints), strands, tuple(attachments), tuple(slides))


def neck(count: int = 3) -> StrandModel:
    """A head on vertebrae with ball joints, held upright by eight muscles from the trunk (the world)."""
    bodies: list[Body] = []
    joints: list[Joint] = []
    height = 0.0
    for k in range(count):
        name = f"vertebra{k + 1}"
        bodies.append(rod(name, [0, height, 0], [0, height + 0.03, 0], 0.02, density=1200.0))
        joints.append(Joint(name, bodies[-2].name if k else "", "ball", points=np.array([0.0, height, 0.0]),
                            stiffness=2.0, damping=0.2, low=-0.5, high=0.5, limit_stiffness=200.0,
                            limit_damping=2.0))  # fmt: skip
        height += 0.03
    bodies.append(cuboid("head", [0.01, height + 0.08, 0], [0.18, 0.18, 0.15], mass=4.0))
    joints.append(Joint("head", bodies[-2].name, "ball", points=np.array([0.0, height, 0.0]), stiffness=2.0,
                        damping=0.3, low=-0.5, high=0.5, limit_stiffness=200.0, limit_damping=2.0))  # fmt: skip
    strands, attachments, slides = [], [], []
    for k in range(8):
        angle = 2 * np.pi * (k + 0.5) / 8
        x, z = np.cos(angle), np.sin(angle)
        name = f"muscle{k + 1}"
        path = np.array([[0.06 * x, -0.05, 0.06 * z], [0.035 * x, 0.5 * height, 0.035 * z],
                         [0.05 * x, height + 0.02, 0.05 * z]])  # fmt: skip
        strands.append(strand_through(name, path, 4 * MM, count=8, tissues=(Tissue(400.0, 150.0, slack=0.98),)))
        attachments += [Attachment(name, 0.0), Attachment(name, 1.0, "head")]
        middle = f"vertebra{(count + 1) // 2}"
        slides.append(Slide(name, 0.5, middle, None))
    return StrandModel("neck", tuple(bodies), tuple(joints), tuple(strands), tuple(attachments), tuple(slides))


class HandMaker:
    """A mechanical hand: 19 bodies, 25 joint speeds, 54 strands; fingers along x, palm down (−y), thumb at +z."""

    def __init__(self) -> None:
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.strands: list[Strand] = []
        self.attachments: list[Attachment] = []
        self.slides: list[Slide] = []
        self.surfaces: list[Surface] = []
        self.contacts: list[Contact] = []
        self.links: list[Link] = []

    def bone(self, name: str, parent: str, start: list[float], end: list[float], radius: float, axes: list[list[float]],
             low: list[float], high: list[float]) -> None:  # fmt: skip
        kind = "hinge" if len(axes) == 1 else "universal"
        self.bodies.append(rod(name, np.array(start) * MM, np.array(end) * MM, radius * MM, density=1500.0))
        heavy = name in ("radius", "hand")
        self.joints.append(Joint(name, parent, kind, np.array(axes), np.array(start) * MM,  # type: ignore[arg-type]
                                 stiffness=0.3 if heavy else 0.03, damping=0.05 if heavy else 4e-3,
                                 low=np.array(low), high=np.array(high)))  # fmt: skip

    def muscle(self, name: str, path: list[tuple[str, float, float, float]], strength: float, spacing: float = 12.0,
               end: bool = True) -> Strand:  # fmt: skip
        """A unit along (body, x, y, z [mm]) points: fixed at its ends, sliding at the others."""
        points: Floats = np.array([p[1:] for p in path]) * MM
        tendon = Tissue(2e4, 0.0, 0.45, 1.0)
        belly = Tissue(4.0 * strength, strength, 0.0, 0.45, slack=1.0)
        strand = strand_through(name, points, 1.5 * MM, spacing=spacing * MM, tissues=(belly, tendon))
        self.strands.append(strand)
        self.attachments.append(Attachment(name, 0.0, path[0][0], points[0]))
        if end:
            self.attachments.append(Attachment(name, 1.0, path[-1][0], points[-1]))
        for (body, *_), point in zip(path[1:-1], points[1:-1]):
            self.slides.append(Slide(name, parameter_near(strand, point), body, point))
        return strand


def mechanical_hand() -> StrandModel:
    """54 strands on 19 bodies: what `risorius bench hand` measures when no anatomical hand is there."""
    hand = HandMaker()
    hand.bone("radius", "", [-240, 0, 0], [0, 0, 0], 14, [[1, 0, 0]], [-1.3], [1.3])
    hand.bone("hand", "radius", [0, 0, 0], [80, 0, 10], 14, [[0, 0, -1], [0, 1, 0]], [-1.2, -0.5], [1.3, 0.5])
    rows = {2: 25.0, 3: 5.0, 4: -15.0, 5: -33.0}
    for k, z in ((4, rows[4]), (5, rows[5])):
        hand.bone(f"metacarpal{k}", "hand", [20, 0, z], [80, 0, z], 6, [[0, 0, -1]], [-0.1], [0.35])
    scale = {2: 0.95, 3: 1.0, 4: 0.95, 5: 0.8}
    for k, z in rows.items():
        parent = "hand" if k < 4 else f"metacarpal{k}"
        a, b, c = 85 + 45 * scale[k], 85 + 72 * scale[k], 85 + 92 * scale[k]
        hand.bone(f"proximal{k}", parent, [85, 0, z], [a, 0, z], 7, [[0, 0, -1], [0, 1, 0]], [-0.4, -0.4], [1.6, 0.4])
        hand.bone(f"middle{k}", f"proximal{k}", [a, 0, z], [b, 0, z], 6, [[0, 0, -1]], [-0.1], [1.9])
        hand.bone(f"distal{k}", f"middle{k}", [b, 0, z], [c, 0, z], 5, [[0, 0, -1]], [-0.1], [1.5])
    hand.bone(
        "metacarpal1", "hand", [15, -8, 25], [50, -15, 50], 7, [[0.5, 0, -1], [0.3, 1, 0.2]], [-0.6, -0.6], [0.6, 0.6]
    )
    hand.bone("proximal1", "metacarpal1", [50, -15, 50], [80, -18, 62], 7, [[0.4, 0, -1]], [-0.3], [1.0])
    hand.bone("distal1", "proximal1", [80, -18, 62], [105, -20, 70], 6, [[0.4, 0, -1]], [-0.3], [1.4])
    for k, z in rows.items():
        finger_units(hand, k, z, scale[k])
    thumb_units(hand)
    wrist_units(hand)
    return StrandModel("mechanical hand", tuple(hand.bodies), tuple(hand.joints), tuple(hand.strands),
                       tuple(hand.attachments), tuple(hand.slides), tuple(hand.surfaces), tuple(hand.contacts),
                       tuple(hand.links))  # fmt: skip


def finger_units(hand: HandMaker, k: int, z: float, scale: float) -> None:
    """Flexors, extensors, lumbrical and interossei of finger k."""
    metacarpal = "hand" if k < 4 else f"metacarpal{k}"
    a, b = 85 + 45 * scale, 85 + 72 * scale
    p, m, d = f"proximal{k}", f"middle{k}", f"distal{k}"
    near = 0.3 * z
    deep = hand.muscle(f"FDP{k}", [("", -230, -12, near), ("radius", -30, -12, near), ("hand", 20, -13, 0.5 * z),
                                   (metacarpal, 75, -11, z), (p, 95, -11, z), (p, a - 10, -9, z), (m, a + 8, -9, z),
                                   (m, b - 6, -7, z), (d, b + 8, -5, z)], 60.0)  # fmt: skip
    hand.muscle(f"FDS{k}", [("", -230, -15, near), ("radius", -30, -15, near), ("hand", 20, -16, 0.5 * z),
                            (metacarpal, 75, -13, z), (p, 95, -13, z), (p, a - 10, -8, z),
                            (m, a + 10, -7, z)], 50.0)  # fmt: skip
    for name in [f"EDC{k}"] + (["EIP"] if k == 2 else ["EDM_a", "EDM_b"] if k == 5 else []):
        side = 0.0 if name.startswith("EDC") else 2.0 if name.endswith("a") else -2.0
        unit = hand.muscle(name, [("", -230, 12, near + side), ("radius", -20, 13, near + side), ("hand", 25, 13, 0.6 * z),
                                  (metacarpal, 75, 10, z + side), (p, 97, 10, z + side), (p, a - 6, 9, z),
                                  (m, a + 8, 7, z)], 35.0)  # fmt: skip
        if name.startswith("EDC"):
            drum = tube(f"knuckle{k}", metacarpal, [85 * MM, 0, (z - 8) * MM], [85 * MM, 0, (z + 8) * MM], 10 * MM)
            hand.surfaces.append(drum)
            hand.contacts.append(Contact(name, parameter_near(unit, np.array([86, 10, z]) * MM), drum.name, None, True))
    at = parameter_near(deep, np.array([40.0, -12.0, 0.8 * z]) * MM)
    start = deep.points[round(at * (len(deep.points) - 1))] / MM
    lumbrical = hand.muscle(f"LUM{k - 1}", [("hand", *start), (p, 92, -6, z + 7), (p, a - 8, 5, z + 4),
                            (m, a + 5, 5, z)], 5.0, spacing=9.0)  # fmt: skip
    hand.attachments = [x for x in hand.attachments if not (x.strand == lumbrical.name and x.parameter == 0.0)]
    hand.links.append(Link(lumbrical.name, 0.0, deep.name, round(at * (len(deep.points) - 1)) / (len(deep.points) - 1)))
    units = {2: [("DI1", 7.0, True), ("PI1", -6.0, False)], 3: [("DI2", 7.0, True), ("DI3", -7.0, True)],
             4: [("PI2", 6.0, False), ("DI4", -7.0, True)], 5: [("PI3", 6.0, False)]}[k]  # fmt: skip
    for name, side, double in units:
        hand.muscle(f"{name}_deep" if double else name,
                    [(metacarpal, 35, -2, z + side), (metacarpal, 78, -3, z + side), (p, 98, -2, z + side)],
                    30.0 if double else 20.0, spacing=16.0)  # fmt: skip
        if double:
            hand.muscle(f"{name}_hood", [(metacarpal, 38, 0, z + side), (metacarpal, 78, -3, z + side),
                                         (p, a - 12, 6, z + 0.3 * side), (m, a + 6, 6, z)], 20.0, spacing=12.0)  # fmt: skip


def thumb_units(hand: HandMaker) -> None:
    """Extrinsics and intrinsics of the thumb, and of the heel of the little finger."""
    hand.muscle("FPL", [("radius", -150, -12, 10), ("radius", -30, -13, 10), ("hand", 18, -18, 22),
                        ("metacarpal1", 44, -22, 46), ("proximal1", 56, -24, 53), ("proximal1", 74, -25, 60),
                        ("distal1", 88, -24, 64)], 60.0)  # fmt: skip
    hand.muscle("EPL", [("", -150, 12, 0), ("radius", -20, 14, 2), ("hand", 14, 9, 14), ("metacarpal1", 45, -5, 44),
                        ("proximal1", 60, -7, 52), ("proximal1", 76, -10, 60), ("distal1", 86, -12, 64)], 45.0)  # fmt: skip
    hand.muscle("EPB", [("radius", -100, 10, 8), ("radius", -10, 8, 18), ("hand", 12, 2, 26), ("metacarpal1", 42, -8, 46),
                        ("proximal1", 58, -10, 56)], 15.0)  # fmt: skip
    for name, side in (("APL_a", 0.0), ("APL_b", 3.0)):
        hand.muscle(name, [("radius", -120, 8, 8), ("radius", -10, 0, 20 + side), ("metacarpal1", 20, -4, 36 + side)], 30.0,
                    spacing=18.0)  # fmt: skip
    for name, origin, body, end in (
        ("APB", (20, -16, 20), "proximal1", (56, -18, 60)), ("FPB_sup", (22, -18, 15), "proximal1", (56, -24, 52)),
        ("FPB_deep", (26, -14, 10), "proximal1", (55, -22, 48)), ("OP", (20, -16, 16), "metacarpal1", (42, -18, 50)),
        ("AdP_oblique", (40, -8, 2), "proximal1", (56, -20, 46)), ("AdP_transverse", (62, -8, 4), "proximal1", (57, -18, 48)),
        ("ADM", (15, -12, -30), "proximal5", (94, -2, -40)), ("FDM", (20, -16, -25), "proximal5", (94, -8, -38)),
        ("ODM", (20, -14, -22), "metacarpal5", (60, -5, -38)),
    ):  # fmt: skip
        x, y, z = (0.5 * (p + q) for p, q in zip(origin, end))
        hand.muscle(name, [("hand", *origin), ("hand", x, y - 2.0, z), (body, *end)], 40.0, spacing=15.0)


def wrist_units(hand: HandMaker) -> None:
    """Movers of wrist and forearm."""
    hand.muscle("ECRL", [("", -240, 14, 15), ("radius", -20, 14, 16), ("hand", 28, 12, 26)], 100.0, spacing=22.0)
    hand.muscle("ECRB", [("", -240, 15, 8), ("radius", -20, 15, 8), ("hand", 30, 13, 10)], 100.0, spacing=22.0)
    hand.muscle("ECU", [("", -240, 12, -16), ("radius", -15, 8, -24), ("hand", 25, 7, -32)], 90.0, spacing=22.0)
    hand.muscle("FCR", [("", -240, -14, 10), ("radius", -25, -14, 14), ("hand", 28, -13, 20)], 70.0, spacing=22.0)
    hand.muscle("FCU", [("", -240, -14, -15), ("radius", -25, -14, -22), ("hand", 15, -13, -28)], 100.0, spacing=22.0)
    hand.muscle("PL", [("", -240, -16, 0), ("radius", -20, -17, 0), ("hand", 40, -18, 0)], 30.0, spacing=22.0)
    hand.muscle("PT", [("", -235, -10, -20), ("", -190, -16, -5), ("radius", -150, 4, 15)], 80.0, spacing=18.0)
    hand.muscle("PQ", [("", -40, -5, -22), ("", -40, -17, -8), ("radius", -40, -5, 15)], 60.0, spacing=10.0)
    hand.muscle("SUP", [("", -230, 5, -20), ("", -215, 17, -5), ("radius", -190, 2, 15)], 80.0, spacing=15.0)
    hand.muscle("BR", [("", -300, 30, 5), ("", -150, 20, 15), ("radius", -15, 0, 18)], 60.0, spacing=25.0)
