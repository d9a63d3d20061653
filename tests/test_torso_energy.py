"""Energy of a whole torso that nothing drives: it falls, and what an undamped one loses is the integrator's own error.

The energy is summed part by part from the potentials that the rooms' docstrings state, in plain numpy; of the kernels it
takes the pose that they reached, nothing else.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from risorius.anatomy import build
from risorius.core.spec import reference
from risorius.mechanics.muscles import DAMPING, HILL, REST, STIFFNESS, STRENGTH, WIDTH
from risorius.mechanics.tree import twists
from risorius.sim.run import Simulation
from risorius.sim.step import Scheme, look
from risorius.sim.system import ABDOMEN_VOLUME, TRUNK_VOLUME

pytestmark = pytest.mark.xdist_group("torso")


def element_energy(laws, parameters, length, active):
    """∫ F dl of relaxed or steadily active elements: passive part, and active part on the force-length parabola."""
    rest, stiffness = parameters[:, REST], parameters[:, STIFFNESS]
    stretch = length / rest
    muscle = laws >= HILL
    hill = stiffness * rest / 10.0 * np.exp(np.minimum(10.0 * (stretch - 1.0) - 5.0, 12.0))
    spring = 0.5 * stiffness * np.maximum(length - rest, 0.0) ** 2
    width = parameters[:, WIDTH]
    x = np.clip((stretch - 1.0) / width, -1.0, 1.0)
    parabola = active * parameters[:, STRENGTH] * rest * width * (x - x**3 / 3.0)
    return np.where(muscle, hill + parabola, spring).sum()


def joint_energy(system, state):
    laws, tree = system.joints, system.tree
    angle = state.angle.copy()
    for body in np.flatnonzero(np.isin(tree.joint, (3, 6))):
        w, *xyz = state.turn[body] * np.where(state.turn[body, 0] < 0, -1.0, 1.0)
        size = np.linalg.norm(xyz)
        vector = np.array(xyz) * (2.0 * np.arctan2(size, w) / size if size > 1e-12 else 2.0)
        angle[tree.first[body] : tree.first[body] + 3] = tree.axes[body] @ vector
        if tree.joint[body] == 6:
            angle[tree.first[body] + 3 : tree.first[body] + 6] = state.shift[body]
    beyond = np.maximum(angle - laws.high, 0.0) + np.minimum(angle - laws.low, 0.0)
    return 0.5 * (laws.stiffness * (angle - laws.neutral) ** 2 + laws.limit_stiffness * beyond**2).sum()


def strut_energy(struts, rotation, origin):
    a, b = struts.body.T
    here = np.einsum("sij,sj->si", rotation[b], struts.point) + origin[b]
    there = np.einsum("sij,sj->si", rotation[a], struts.point) + origin[a]
    apart = np.einsum("sji,sj->si", rotation[a], here - there)
    relative = np.einsum("sji,sjk->sik", rotation[a], rotation[b])
    turn = Rotation.from_matrix(relative).as_rotvec()
    far, bent = (apart**2).sum(axis=1), (turn**2).sum(axis=1)
    moved = far - 2.0 * (apart * struts.offset).sum(axis=1) + far**2 / (2.0 * struts.reach**2)
    turned = bent - 2.0 * (turn * struts.bend).sum(axis=1) + bent**2 / (2.0 * struts.swing**2)
    return 0.5 * (struts.stiffness * moved + struts.turning * turned).sum()


def tissue_energy(system, rotation, origin, place):
    tissue = system.tissue
    anchor = np.einsum("pbij,pj->pbi", rotation[tissue.body], tissue.rest) + origin[tissue.body]
    d = place - np.einsum("pb,pbi->pi", tissue.share, anchor)
    push = np.einsum("pij,pj->pi", rotation[tissue.body[:, 0]], tissue.push)
    first, second = tissue.edge.T
    held = 0.5 * (tissue.hold * (d**2).sum(axis=1)).sum() - (push * d).sum()
    return held + 0.5 * (tissue.stiffness * ((d[first] - d[second]) ** 2).sum(axis=1)).sum()


def contact_energy(contact, depth):
    gap, k, soft = depth - contact.level, contact.stiffness, contact.softness
    inside = np.where(np.abs(gap) < soft, k * (gap + soft) ** 3 / (12.0 * soft), 0.0)
    past = 0.5 * k * gap**2 + k * soft**2 / 6.0
    return np.where(gap >= soft, past, inside).sum()


def fluid_energy(cavity, points):
    corner = points[cavity.abdomen] - cavity.centre
    volume = np.einsum("fi,fi->f", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6.0
    return -(volume * (corner.mean(axis=1) * 0.75 @ cavity.heaviness)).sum()


def lung_energy(lung, space, gas):
    """Recoil energy of the tissue, and free energy of gas that keeps its temperature and may leave into the atmosphere:
    none where its pressure is the atmosphere's."""
    room = (lung.largest - space) / lung.span
    x = np.log(room)
    recoil = lung.span * (room * x - room) / lung.curvature  # ∫ −ln(room)/K dV = B (room ln room − room)/K
    return recoil + lung.atmosphere * (gas * np.log(gas / space) - gas + space)


def energies(simulation):
    """Energies [J] by part, now."""
    system, state, work = simulation.system, simulation.state, simulation.room.work
    look(system, state, simulation.drive, simulation.room)
    rotation, origin = work.pose.rotation, work.pose.origin
    twist = np.zeros((len(system.tree.parent), 6))
    twists(system.tree, work.pose.column, state.z, twist)
    speed = state.z[len(system.tree.owner) :].reshape(-1, 3)
    centre = np.einsum("bij,bj->bi", rotation, system.tree.centre) + origin
    lines, fibres, cavity = system.lines, system.fibres, system.cavity
    ends = np.einsum("lbij,lbj->lbi", rotation[lines.body], lines.point) + origin[lines.body]
    abdomen, trunk = work.scalar[ABDOMEN_VOLUME], work.scalar[TRUNK_VOLUME]
    fibre = work.point[fibres.ends]
    return {
        "motion": 0.5 * np.einsum("bi,bij,bj->", twist[1:], work.pose.spatial[1:], twist[1:])
        + 0.5 * (system.points.mass * (speed**2).sum(axis=1)).sum(),
        "weight": -(system.tree.mass[1:] * (centre[1:] @ system.gravity)).sum(),
        "lines": element_energy(
            lines.law, lines.parameters, np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), lines.tone
        ),
        "fibres": element_energy(
            fibres.law, fibres.parameters, np.linalg.norm(fibre[:, 1] - fibre[:, 0], axis=1), fibres.tone
        ),
        "joints": joint_energy(system, state),
        "struts": strut_energy(system.struts, rotation, origin),
        "tissue": tissue_energy(system, rotation, origin, state.place),
        "contact": contact_energy(system.contact, work.depth),
        "abdomen": -cavity.bulk * (cavity.content * np.log(abdomen) - abdomen),
        "fluid": fluid_energy(cavity, work.point),
        "lung": lung_energy(system.lung, trunk - abdomen - system.lung.tissue, state.gas[0]),
    }


@pytest.fixture(scope="module")
def simulation():
    return Simulation.of(build(reference("male")))


def kicked(simulation, seed=0):
    """A relaxed torso with every joint and point set moving."""
    fresh = simulation.copy()
    rng = np.random.default_rng(seed)
    joints = len(fresh.system.tree.owner)
    fresh.state.z[:joints] = rng.normal(size=joints) * 0.1
    fresh.state.z[joints:] = rng.normal(size=len(fresh.state.z) - joints) * 0.01
    fresh.state.z_past[:] = fresh.state.z
    return fresh


def course(simulation, h, seconds, every, opening=1.0):
    """Total energy [J] every so many seconds."""
    simulation.drive.opening[:] = opening
    count = round(every / h)
    total = [sum(energies(simulation).values())]
    for _ in range(round(seconds / every)):
        simulation.advance(np.zeros((count, len(simulation.state.activation))), np.full(count, opening), h)
        total.append(sum(energies(simulation).values()))
    return np.array(total)


def undamped(system):
    """The same system with nothing that takes energy away: no damping, no tone (whose force falls with speed)."""

    def without(group, *names):
        return group._replace(**{name: np.zeros_like(getattr(group, name)) for name in names})

    def undamped_elements(elements):
        parameters = elements.parameters.copy()
        parameters[:, DAMPING] = 0.0
        return without(elements._replace(parameters=parameters), "tone")

    return system._replace(
        lines=undamped_elements(system.lines),
        fibres=undamped_elements(system.fibres),
        joints=without(system.joints, "damping", "limit_damping"),
        struts=without(system.struts, "damping", "turning_damping"),
        tissue=without(system.tissue, "damping", "hold_damping"),
        contact=without(system.contact, "damping"),
    )


@pytest.mark.parametrize("opening", [0.0, 1.0])
def test_undriven_energy_falls(simulation, opening):
    """At the default step and scheme, within what halving the step changes."""
    here = course(kicked(simulation), 0.005, 1.0, 0.01, opening)
    finer = course(kicked(simulation), 0.0025, 1.0, 0.01, opening)
    own_error = np.abs(here - finer).max()
    lost = here[0] - here[-1]
    assert lost > 0.1
    assert own_error < 0.05 * lost
    assert np.diff(here).max() < own_error
    assert np.diff(finer).max() < own_error


def test_undamped_energy_is_lost_to_the_square_of_the_step_only(simulation):
    fresh = simulation.copy()
    fresh.system = undamped(fresh.system)
    lost = []
    for h in (0.0005, 0.00025):
        run = kicked(fresh)
        run.scheme = Scheme(iterations=60, tolerance=1e-12, least=3, passes=6, refactor=1)
        total = course(run, h, 0.05, 0.05, opening=0.0)
        lost.append(total[0] - total[-1])
    assert 3.0 < lost[0] / lost[1] < 5.0, lost
