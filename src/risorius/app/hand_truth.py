"""What published experiments on hands measured, measured on ours: outputs of the simulation only (bars 26 to 30).

A rig holds joints by stiff springs of known stiffness, as a test bench does; torque is stiffness times deflection,
tendon force is the strand's tension where the load hangs. Nothing here looks at routes or geometry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np

from risorius.anatomy.hand.model import HandModel, build_hand
from risorius.core.strands import StrandModel
from risorius.strands.stepper import Stepper, lengths, tensions
from risorius.strands.system import State, assemble

STEP: Final = 1 / 240
HOLD: Final = 60.0
"""[N m/rad] a joint of the rig: a tendon at full force turns it by well under a degree."""
TONE: Final = 0.05
"""Activation that keeps a tendon taut, as the small weight does on a test bench."""
INTRINSIC: Final = 0.7
"""Activation of interossei and lumbrical when they help."""
JOINTS: Final = ("mcp2_flexion", "pip2_flexion", "dip2_flexion")
FIST: Final = {"mcp2_flexion": 90.0, "pip2_flexion": 100.0, "dip2_flexion": 80.0}


@cache
def hand() -> HandModel:
    """A man's right hand."""
    return build_hand()


class Rig:
    """A hand on the bench: chosen joints held at chosen angles, the others free, no gravity.

    Args:
        model: the hand.
        held: turn -> [deg] where the rig holds it; None holds every turn at the drawn pose.
        free: turns that keep their own springs; all others are held.
    """

    def __init__(
        self,
        model: HandModel,
        held: dict[str, float] | None = None,
        free: tuple[str, ...] = (),
    ) -> None:
        self.model = model
        self.names = model.skeleton.turn_names
        held = held or {}
        self.held = np.array([name not in free for name in self.names])
        self.target = np.zeros(len(self.names))
        self.system = assemble(self.prepared())
        self.stepper = Stepper(self.system)
        self.state = self.stepper.rest()
        self.units = self.system.strand_names
        self.order = np.concatenate([np.arange(*self.system.speeds_of(name).indices(10**6)) for name in self.bodies()])
        if held:
            self.move(held)

    def bodies(self) -> list[str]:
        return [name for name in self.model.skeleton.names if any(
            self.model.skeleton.names[turn.body] == name for turn in self.model.skeleton.turns)]  # fmt: skip

    def prepared(self) -> StrandModel:
        joints = []
        skeleton = self.model.skeleton
        for joint in self.model.strands.joints:
            mine = [k for k, turn in enumerate(skeleton.turns) if skeleton.names[turn.body] == joint.body]
            if not mine:
                joints.append(joint)
                continue
            hold, wish = self.held[mine], self.target[mine]
            joints.append(replace(joint, stiffness=np.where(hold, HOLD, joint.stiffness),
                                  damping=np.where(hold, 1.0, joint.damping),
                                  rest=np.where(hold, wish, joint.rest),
                                  low=np.where(hold, -np.inf, joint.low),
                                   high=np.where(hold, np.inf, joint.high)))  # fmt: skip
        return replace(self.model.strands, joints=tuple(joints), gravity=np.zeros(3))

    def move(self, held: dict[str, float], seconds: float = 1.2) -> None:
        """Turn the rig to other angles, at an even pace, activations as they are."""
        start, target = self.target.copy(), self.target.copy()
        for name, degrees in held.items():
            target[self.names.index(name)] = np.radians(degrees)
        law = self.system.tree.law
        law.setflags(write=True)
        count = round(seconds / STEP)
        for step in range(1, count + 1):
            self.target = start + (target - start) * step / count
            law[self.order[self.held], 2] = self.target[self.held]
            self.stepper.advance(self.state, STEP, self.state.activation)

    def settle(self, activation: dict[str, float] | None = None, seconds: float = 1.5) -> State:
        """Steps until the rig has come to rest; the state is kept."""
        a = np.zeros(len(self.units))
        for unit, value in (activation or {}).items():
            a[self.units.index(unit)] = value
        before = self.state.activation.copy()
        count = round(seconds / STEP)
        for step in range(1, count + 1):
            share = min(1.0, step / count / 0.4)
            self.stepper.advance(self.state, STEP, before + share * (a - before))
        return self.state

    def angles(self) -> dict[str, float]:
        """[deg] of every turn now."""
        return dict(zip(self.names, np.degrees(self.state.angle[self.order]).tolist()))

    def torques(self) -> dict[str, float]:
        """[N m] what the tendons do at held turns: stiffness times deflection."""
        miss = self.state.angle[self.order] - self.target
        return {name: HOLD * float(miss[k]) for k, name in enumerate(self.names) if self.held[k]}

    def force(self, unit: str) -> float:
        """[N] tension at the origin, where the load of a bench hangs."""
        first = int(self.system.threads.sample_first[self.units.index(unit)])
        return float(tensions(self.system, self.state)[first])

    def length(self, unit: str) -> float:
        """[m] of the whole strand."""
        return float(lengths(self.system, self.state)[self.units.index(unit)])


def moment_arms(rig: Rig, unit: str, joints: tuple[str, ...] = JOINTS, activation: float = 0.3) -> dict[str, float]:
    """[mm] torque over tendon force, at the pose that the rig holds: with the tendon loaded less without."""
    rig.settle({unit: TONE}, 0.75)
    before, slack = rig.torques(), rig.force(unit)
    rig.settle({unit: activation}, 0.75)
    after, tight = rig.torques(), rig.force(unit)
    rig.settle({unit: TONE}, 0.25)
    return {joint: 1e3 * (after[joint] - before[joint]) / (tight - slack) for joint in joints}


def bar26(model: HandModel | None = None) -> dict[str, Any]:
    """Moment arms of the index finger's flexors at the neutral pose [mm]."""
    fdp, fds = (moment_arms(Rig(model or hand()), unit) for unit in ("FDP2", "FDS2"))
    values = {"fdp_mcp_mm": fdp[JOINTS[0]], "fdp_pip_mm": fdp[JOINTS[1]], "fdp_dip_mm": fdp[JOINTS[2]],
              "fds_mcp_mm": fds[JOINTS[0]], "fds_pip_mm": fds[JOINTS[1]]}  # fmt: skip
    bands = {
        "fdp_mcp_mm": (8, 14),
        "fdp_pip_mm": (6, 12),
        "fdp_dip_mm": (3, 8),
        "fds_mcp_mm": (9, 15),
        "fds_pip_mm": (5, 10),
    }
    order = values["fds_mcp_mm"] > values["fdp_mcp_mm"] and values["fdp_pip_mm"] > values["fds_pip_mm"]
    return {"bar": 26, **rounded(values), "ranks": order, "passed": order and within(values, bands)}


def bar27(model: HandModel | None = None, steps: int = 12) -> dict[str, Any]:
    """Excursions of the full fist [mm], and how far Σ r·Δθ is off, r being torque over force."""
    model = model or hand()
    values: dict[str, float] = {}
    for unit in ("FDP2", "FDS2"):
        rig = Rig(model)
        shares = (np.arange(steps) + 0.5) / steps
        work = 0.0
        rig.settle({unit: TONE})
        start = rig.length(unit)
        for share in shares:
            rig.move({joint: share * angle for joint, angle in FIST.items()}, 0.4)
            arms = moment_arms(rig, unit)
            work += sum(arms[joint] * np.radians(FIST[joint]) / steps for joint in JOINTS)
        rig.move(FIST)
        rig.settle({unit: TONE})
        excursion = 1e3 * (start - rig.length(unit))
        name = unit[:3].lower()
        values |= {f"{name}_excursion_mm": excursion, f"{name}_virtual_work_error_pct": 100 * (work / excursion - 1)}
    bands = {"fdp_excursion_mm": (30, 45), "fds_excursion_mm": (22, 36),
             "fdp_virtual_work_error_pct": (-10, 10), "fds_virtual_work_error_pct": (-10, 10)}  # fmt: skip
    return {"bar": 27, **rounded(values), "passed": within(values, bands)}


def bar28(model: HandModel | None = None) -> dict[str, Any]:
    """Angles [deg] that one tendon gives at a tenth of its force, from the neutral pose (Nimbarte 2008)."""
    wanted = {"FDP2": (19.7, 41.8, 29.4), "FDS2": (24.8, 47.9, 0.0), "EDC2": (-18.3, -15.2, -4.0)}
    found: dict[str, Any] = {}
    passed = True
    for unit, published in wanted.items():
        rig = Rig(model or hand(), free=JOINTS)
        rig.settle()
        before = rig.angles()
        rig.settle({unit: 0.1}, 2.5)
        after = rig.angles()
        turned = np.array([after[joint] - before[joint] for joint in JOINTS])
        found[f"{unit.lower()}_deg"] = [round(float(value), 1) for value in turned]
        asked = np.array(published)
        near = np.where(asked == 0, np.abs(turned) < 3, np.abs(turned - asked) <= 0.5 * np.abs(asked))
        same = list(np.argsort(np.abs(turned))) == list(np.argsort(np.abs(asked)))
        passed = passed and bool(near.all()) and same
    return {"bar": 28, **found, "passed": passed}


def bar29(model: HandModel | None = None) -> dict[str, Any]:
    """Flexion [deg] of the index with the wrist from 60° flexed to 60° extended, muscles passive (tenodesis)."""
    rig = Rig(model or hand(), {"wrist_flexion": 60.0}, free=JOINTS)
    rows = []
    for wrist in np.linspace(60, -60, 7):
        rig.move({"wrist_flexion": float(wrist)})
        rig.settle({}, 1.5)
        angles = rig.angles()
        rows.append([angles[joint] for joint in JOINTS])
    table = np.array(rows)
    ends = np.array([[27, 19, 12], [63, 70, 31]])
    monotone = bool((np.diff(table, axis=0) > -0.2).all())
    near = bool((np.abs(table[[0, -1]] - ends) <= 15).all())
    return {"bar": 29, "flexed_deg": table[0].round(1).tolist(), "extended_deg": table[-1].round(1).tolist(),
            "monotone": monotone, "passed": near and monotone}  # fmt: skip


def closing(model: HandModel, intrinsic: float) -> tuple[list[str], float]:
    """The order in which joints close from the relaxed hand (by when each is past 0.3 of its range) and the farthest that
    the fingertip comes from the plane of the metacarpals [mm]; intrinsic muscles, if any, are loaded in the first second."""
    rig = Rig(model, free=JOINTS)
    skeleton = model.skeleton
    helpers = [rig.units.index(unit) for unit in ("DI1_deep", "DI1_hood", "PI1", "LUM1")]
    rig.settle({}, 2.0)
    seconds, rows, far = 4.0, [], []
    distal, palm = rig.system.body("distal2"), rig.system.body("hand")
    wrist, index, little = (skeleton.joint[skeleton.index(name)] for name in ("hand", "proximal2", "proximal5"))
    out = np.cross(index - wrist, little - wrist)
    out /= np.linalg.norm(out)  # out of a right hand's palm
    count = round(seconds / STEP)
    a = np.zeros(len(rig.units))
    for step in range(count):
        a[rig.units.index("FDP2")] = 0.6 * step / count
        a[helpers] = intrinsic * min(1.0, 4.0 * step / count)
        rig.stepper.advance(rig.state, STEP, a)
        rows.append([rig.angles()[joint] for joint in JOINTS])
        tip = rig.state.rotation[distal] @ skeleton.tips[2] + rig.state.place[distal]
        far.append(rig.state.rotation[palm] @ out @ (tip - rig.state.rotation[palm] @ wrist - rig.state.place[palm]))
    table = np.array(rows)
    span = (table - table[0]) / np.array([FIST[joint] for joint in JOINTS])
    half = [int((span[:, k] > 0.3).argmax()) if (span[:, k] > 0.3).any() else count for k in range(3)]
    return [JOINTS[k][:3] for k in np.argsort(half, kind="stable")], 1e3 * float(np.max(far))


def bar30(model: HandModel | None = None) -> dict[str, Any]:
    """The order of closing under FDP alone and with intrinsic muscles, and the reach that these add [mm]."""
    model = model or hand()
    alone, near = closing(model, 0.0)
    helped, far = closing(model, INTRINSIC)
    gain = far - near
    passed = alone == ["pip", "dip", "mcp"] and helped[0] == "mcp" and 10 <= gain <= 28
    return {"bar": 30, "fdp_alone": alone, "with_intrinsics": helped, "reach_gain_mm": round(gain, 1), "passed": passed}


def bars(model: HandModel | None = None) -> list[dict[str, Any]]:
    """Bars 26 to 30 of physiology.md."""
    return [bar(model) for bar in (bar26, bar27, bar28, bar29, bar30)]


def rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in values.items()}


def within(values: dict[str, float], bands: Mapping[str, tuple[float, float]]) -> bool:
    return all(low <= values[name] <= high for name, (low, high) in bands.items())
