"""Articulated bodies against MuJoCo and Pinocchio, on random trees, states and wrenches."""

import mujoco
import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation

from risorius.core.torso import Bodies, Joint
from risorius.maths.rotations import matrices
from risorius.mechanics import tree as trees


def random_bodies(rng, count=14):
    kinds = [Joint.FIXED] + [Joint(int(k)) for k in rng.choice([1, 2, 3], count - 1)]
    parent = [-1] + [int(rng.integers(0, i)) for i in range(1, count)]
    kinds[3], parent[3] = Joint.FREE, 0
    inertia = np.empty((count, 3, 3))
    for i in range(count):
        spread = rng.normal(size=(8, 3)) * 0.1
        inertia[i] = np.einsum("ij,kl->jl", spread, np.zeros((1, 3))) + sum(
            (p @ p) * np.eye(3) - np.outer(p, p) for p in spread
        )
    return Bodies(
        names=tuple(f"b{i}" for i in range(count)),
        parent=np.array(parent, dtype=np.int32),
        joint=np.array(kinds, dtype=np.int32),
        joint_point=rng.normal(size=(count, 3)) * 0.3,
        joint_axes=Rotation.random(count, random_state=int(rng.integers(1 << 30))).as_matrix(),
        mass=rng.uniform(0.1, 3.0, count),
        centre=rng.normal(size=(count, 3)) * 0.3,
        inertia=inertia,
        meshes=(),
    )


def random_state(rng, tree):
    pose = trees.rest_pose(tree)
    trees.advance(tree, trees.rest_pose(tree), rng.normal(size=len(tree.owner)) * 0.7, pose)
    trees.place(tree, pose)
    return pose, rng.normal(size=len(tree.owner))


def accelerations(tree, pose, u, wrench):
    """u̇ of M u̇ + b = Jᵀ w, and the pieces."""
    n, m = len(tree.parent), len(tree.owner)
    twist, room, bias = np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6))
    trees.twists(tree, pose.column, u, twist)
    trees.bias_wrench(tree, pose, u, twist, room, bias)
    load = np.zeros(m)
    trees.joint_loads(tree, pose.column, wrench - bias, load)
    mass = np.empty((m, m))
    trees.mass_matrix(tree, pose.column, pose.spatial.copy(), mass)
    return np.linalg.solve(mass, load), mass, twist


def mujoco_model(tree):
    spec = mujoco.MjSpec()
    spec.option.gravity = [0, 0, 0]
    handles = {-1: spec.worldbody}
    for i, (p, kind) in enumerate(zip(tree.parent, tree.joint)):
        base = np.zeros(3) if p < 0 else (tree.point[p] if p > 0 else np.zeros(3))
        point = tree.point[i] if i > 0 else np.zeros(3)
        body = handles[p].add_body(name=f"b{i}", pos=point - base)
        moments, frame = np.linalg.eigh(tree.inertia[i])
        if np.linalg.det(frame) < 0:
            frame[:, 0] *= -1
        body.mass = tree.mass[i]
        body.ipos = tree.centre[i] - point
        body.inertia = moments
        body.iquat = Rotation.from_matrix(frame).as_quat(scalar_first=True)
        body.explicitinertial = True
        if kind == Joint.FREE:
            body.add_freejoint()
        elif kind == Joint.BALL:
            body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
        else:
            for k in range(int(kind)):
                body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=tree.axes[i, k])
        handles[i] = body
    model = spec.compile()
    return model, mujoco.MjData(model)


def to_local(tree, pose, i, u):
    """Speeds in the child's frame, as MuJoCo and Pinocchio write ball joints."""
    turn = matrices(pose.turn[i])
    return turn.T @ (tree.axes[i].T @ u)


@pytest.mark.parametrize("seed", range(6))
def test_accelerations_agree_with_mujoco(seed):
    rng = np.random.default_rng(seed)
    bodies = random_bodies(rng)
    tree = trees.tree_of(bodies)
    # a free body must hang on the world in MuJoCo, and the pelvis is the world
    pose, u = random_state(rng, tree)
    wrench = rng.normal(size=(len(tree.parent), 6))
    ours, _, _ = accelerations(tree, pose, u, wrench)

    model, data = mujoco_model(tree_with_free_on_world(tree))
    expected = []
    address, velocity = 0, 0
    order = [model.body(f"b{i}").id for i in range(len(tree.parent))]
    assert len(order) == len(tree.parent)
    for joint in range(model.njnt):
        i = int(model.body(model.jnt_bodyid[joint]).name[1:])
        d = tree.first[i]
        kind = model.jnt_type[joint]
        address, velocity = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        if kind == mujoco.mjtJoint.mjJNT_HINGE:
            k = d + joint - model.body_jntadr[model.jnt_bodyid[joint]]
            data.qpos[address], data.qvel[velocity] = pose.angle[k], u[k]
            expected.append((velocity, [ours[k]]))
        elif kind == mujoco.mjtJoint.mjJNT_BALL:
            data.qpos[address : address + 4] = pose.turn[i]
            data.qvel[velocity : velocity + 3] = to_local(tree, pose, i, u[d : d + 3])
            expected.append((velocity, to_local(tree, pose, i, ours[d : d + 3])))
        else:
            data.qpos[address : address + 3] = tree.point[i] + pose.shift[i]
            data.qpos[address + 3 : address + 7] = pose.turn[i]
            data.qvel[velocity : velocity + 3] = u[d + 3 : d + 6]
            data.qvel[velocity + 3 : velocity + 6] = to_local(tree, pose, i, u[d : d + 3])
            expected.append((velocity, ours[d + 3 : d + 6]))
            expected.append((velocity + 3, to_local(tree, pose, i, ours[d : d + 3])))
    mujoco.mj_forward(model, data)
    for i, body in enumerate(order):  # wrench about the origin -> force and torque at the centre of mass
        force = wrench[i, 3:]
        data.xfrc_applied[body, :3] = force
        data.xfrc_applied[body, 3:] = wrench[i, :3] - np.cross(data.xipos[body], force)
    mujoco.mj_forward(model, data)
    scale = np.abs(data.qacc).max()
    for start, values in expected:
        np.testing.assert_allclose(data.qacc[start : start + len(values)], values, rtol=1e-9, atol=1e-9 * scale)


def tree_with_free_on_world(tree):
    parent = tree.parent.copy()
    parent[tree.joint == Joint.FREE] = -1
    point = tree.point.copy()
    return tree._replace(parent=parent, point=point)


@pytest.mark.parametrize("seed", range(6))
def test_mass_matrix_and_accelerations_agree_with_pinocchio(seed):
    rng = np.random.default_rng(100 + seed)
    tree = trees.tree_of(random_bodies(rng))
    pose, u = random_state(rng, tree)
    wrench = rng.normal(size=(len(tree.parent), 6))
    ours, mass, _ = accelerations(tree, pose, u, wrench)

    SE3, Inertia = pinocchio.SE3, pinocchio.Inertia
    model = pinocchio.Model()
    model.gravity = pinocchio.Motion.Zero()
    joints, q, v, blocks = {0: 0}, [], [], []
    base = {0: np.zeros(3)}
    for i in range(1, len(tree.parent)):
        p, d, kind = int(tree.parent[i]), tree.first[i], tree.joint[i]
        offset = SE3(np.eye(3), tree.point[i] - base[p])
        local = to_local(tree, pose, i, u[d : d + 3]) if kind in (3, 6) else None
        xyzw = np.roll(pose.turn[i], -1)
        turn = matrices(pose.turn[i]).T @ tree.axes[i].T
        if kind == Joint.FREE:
            # Pinocchio's free flyer moves in its own frame
            handle = model.addJoint(joints[p], pinocchio.JointModelFreeFlyer(), offset, f"b{i}")
            R = matrices(pose.turn[i])
            q += [*pose.shift[i], *xyzw]
            v += [*(R.T @ u[d + 3 : d + 6]), *local]
            block = np.zeros((6, 6))
            block[:3, 3:], block[3:, :3] = R.T, turn
            blocks.append((d, block, np.concatenate([-np.cross(local, R.T @ u[d + 3 : d + 6]), np.zeros(3)])))
        elif kind == Joint.BALL:
            handle = model.addJoint(joints[p], pinocchio.JointModelSpherical(), offset, f"b{i}")
            q += list(xyzw)
            v += list(local)
            blocks.append((d, turn, np.zeros(3)))
        else:
            handle = joints[p]
            for k in range(int(kind)):
                frame = offset if k == 0 else SE3.Identity()
                revolute = pinocchio.JointModelRevoluteUnaligned(tree.axes[i, k])
                handle = model.addJoint(handle, revolute, frame, f"b{i}_{k}")
                q.append(pose.angle[d + k])
                v.append(u[d + k])
                blocks.append((d + k, np.eye(1), np.zeros(1)))
        inertia = Inertia(tree.mass[i], tree.centre[i] - tree.point[i], tree.inertia[i])
        model.appendBodyToJoint(handle, inertia, SE3.Identity())
        joints[i], base[i] = handle, tree.point[i]
    data = model.createData()
    q, v = np.array(q), np.array(v)
    pinocchio.forwardKinematics(model, data, q, v)
    forces = pinocchio.StdVec_Force()
    forces.extend([pinocchio.Force.Zero()] * model.njoints)
    for i in range(1, len(tree.parent)):
        world = pinocchio.Force(wrench[i, 3:], wrench[i, :3])
        forces[joints[i]] = data.oMi[joints[i]].actInv(world)
    theirs = pinocchio.aba(model, data, q, v, np.zeros(model.nv), forces)
    change = np.zeros((model.nv, len(tree.owner)))
    rest = np.zeros(model.nv)
    row = 0
    for d, block, extra in blocks:
        change[row : row + len(block), d : d + block.shape[1]] = block
        rest[row : row + len(extra)] = extra
        row += len(block)
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(change @ ours + rest, theirs, rtol=1e-9, atol=1e-9 * scale)
    still = np.zeros(model.nv)
    full = np.stack([pinocchio.rnea(model, data, q, still, unit) for unit in np.eye(model.nv)])
    np.testing.assert_allclose(mass, change.T @ full @ change, rtol=1e-9, atol=1e-9 * np.abs(mass).max())


def test_kinetic_energy_is_the_same_in_joint_speeds_and_in_twists():
    rng = np.random.default_rng(5)
    tree = trees.tree_of(random_bodies(rng))
    pose, u = random_state(rng, tree)
    _, mass, twist = accelerations(tree, pose, u, np.zeros((len(tree.parent), 6)))
    assert u @ mass @ u == pytest.approx(np.einsum("ia,iab,ib->", twist, pose.spatial, twist), rel=1e-12)
