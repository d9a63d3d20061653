"""Bindings: what any binding must hold, whatever the mesh."""

import numpy as np
import pytest

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh
from risorius.core.record import Record
from risorius.io.binding import read_binding, write_binding
from risorius.io.mesh import read_mesh
from risorius.maths.rotations import matrices
from risorius.skin.binding import METHODS, Binding, Placement, apply, apply_exact
from risorius.skin.fit import fit
from risorius.skin.joints import four_joints, onto_simplex
from risorius.skin.weights import bind, skin_of
from simple_torso import make_record, make_torso

TORSO = make_torso()
RECORD = make_record(TORSO, seconds=2.0)
SKIN = skin_of(TORSO)
BINDINGS = {method: bind(SKIN, TORSO, method=method) for method in METHODS}


def moved_as_one(torso, frames=5, seed=3, *, turn=True):
    """All bodies and points under the same rigid motions."""
    random = np.random.default_rng(seed)
    spin = random.normal(size=(frames, 4)) if turn else np.tile([1.0, 0, 0, 0], (frames, 1))
    spin /= np.linalg.norm(spin, axis=1, keepdims=True)
    shift = random.normal(size=(frames, 3))
    bodies = len(torso.bodies.names)
    points = np.einsum("fij,pj->fpi", matrices(spin), torso.surface.points) + shift[:, None]
    record = Record(
        np.arange(frames) / 25.0,
        np.repeat(shift[:, None], bodies, axis=1),
        np.repeat(spin[:, None], bodies, axis=1),
        points,
    )
    return record, matrices(spin), shift


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_shares(method):
    binding = BINDINGS[method]
    sums = np.add.reduceat(binding.weight, binding.offsets[:-1])
    assert np.abs(sums - 1).max() < 1e-14 and (binding.weight > 0).all()
    assert (np.diff(binding.offsets) >= 1).all()


def test_nearest4_has_four_equal_shares_of_the_nearest():
    binding = BINDINGS["nearest4"]
    assert (np.diff(binding.offsets) == 4).all() and (binding.weight == 0.25).all()
    points = np.asarray(TORSO.surface.points)
    bodies = len(binding.bodies)
    for vertex in range(0, len(SKIN.vertices), 97):
        chosen = binding.handle[4 * vertex : 4 * vertex + 4]
        free = np.linalg.norm(points - SKIN.vertices[vertex], axis=1)
        taken = [free[h - bodies] for h in chosen if h >= bodies]
        left_out = np.setdiff1d(np.arange(len(points)), chosen[chosen >= bodies] - bodies)
        assert not taken or max(taken) <= free[left_out].min() + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_the_rest_pose_leaves_the_skin_exactly_where_it_is(method):
    frames = 3
    still = Record(
        np.arange(frames) / 25.0,
        np.zeros((frames, len(TORSO.bodies.names), 3)),
        np.tile([1.0, 0, 0, 0], (frames, len(TORSO.bodies.names), 1)),
        np.repeat(np.asarray(TORSO.surface.points)[None], frames, axis=0),
    )
    found = apply_exact(BINDINGS[method], SKIN.vertices, TORSO, still)
    assert np.array_equal(found, np.repeat(SKIN.vertices[None], frames, axis=0))


def test_a_rigid_motion_of_everything_moves_the_skin_rigidly():
    record, spin, shift = moved_as_one(TORSO)
    found = apply_exact(BINDINGS["smooth"], SKIN.vertices, TORSO, record)
    wanted = np.einsum("fij,nj->fni", spin, SKIN.vertices) + shift[:, None]
    assert np.abs(found - wanted).max() < 1e-12


def test_nearest4_follows_a_shift_of_everything():
    record, _, shift = moved_as_one(TORSO, turn=False)
    found = apply_exact(BINDINGS["nearest4"], SKIN.vertices, TORSO, record)
    assert np.abs(found - (SKIN.vertices + shift[:, None])).max() < 1e-12


def test_nearest4_is_equation_8_1_of_the_paper():
    binding = BINDINGS["nearest4"]
    bodies, centre = len(binding.bodies), np.asarray(TORSO.bodies.centre)
    frame = 20
    found = apply_exact(binding, SKIN.vertices, TORSO, RECORD)[frame]
    spin = matrices(RECORD.rotation[frame])
    for vertex in range(0, len(SKIN.vertices), 53):
        x = SKIN.vertices[vertex]
        total = np.zeros(3)
        for handle in binding.handle[4 * vertex : 4 * vertex + 4]:
            if handle < bodies:  # relative to the centre of mass, carried by it
                now = spin[handle] @ centre[handle] + RECORD.position[frame, handle]
                total += 0.25 * (now + spin[handle] @ (x - centre[handle]))
            else:
                point = handle - bodies
                total += 0.25 * (RECORD.points[frame, point] + x - TORSO.surface.points[point])
        assert np.abs(found[vertex] - total).max() < 1e-12


def test_the_smooth_skin_does_not_tear():
    """Neighbours move alike: the motion's change along an edge stays well below the edge."""
    found = apply_exact(BINDINGS["smooth"], SKIN.vertices, TORSO, RECORD)
    shift = found - SKIN.vertices
    a, b = SKIN.edges().T
    length = np.linalg.norm(SKIN.vertices[a] - SKIN.vertices[b], axis=1)
    change = np.linalg.norm(shift[:, a] - shift[:, b], axis=2).max(axis=0)
    rough = apply_exact(BINDINGS["nearest4"], SKIN.vertices, TORSO, RECORD) - SKIN.vertices
    rough_change = np.linalg.norm(rough[:, a] - rough[:, b], axis=2).max(axis=0)
    assert (change / length).max() < 0.5
    assert (change / length).max() < (rough_change / length).max()


def test_the_belly_follows_the_wall_and_the_head_the_skull():
    bodies = TORSO.bodies.names
    full = BINDINGS["smooth"].matrix().toarray()
    belly = np.argmin(np.linalg.norm(SKIN.vertices - [0.14, 0.12, 0], axis=1))
    top = np.argmax(SKIN.vertices[:, 1])
    assert full[belly, len(bodies) :].sum() > 0.8
    assert full[top, bodies.index("skull")] > 0.95


def test_points_of_a_seam_move_together():
    """A mesh cut into separate triangles, as files with seams are, moves as the whole one does."""
    triangles, _ = SKIN.triangles()
    split = PolyMesh(
        SKIN.vertices[triangles.ravel()],
        np.arange(triangles.size, dtype=np.int32),
        np.arange(0, triangles.size + 1, 3, dtype=np.int32),
    )
    whole = apply_exact(BINDINGS["smooth"], SKIN.vertices, TORSO, RECORD)[25]
    parts = apply_exact(bind(split, TORSO), split.vertices, TORSO, RECORD)[25]
    assert np.abs(parts - whole[triangles.ravel()]).max() < 1e-9


def test_unit_and_axes_of_the_mesh_do_not_matter():
    axes = np.array([[0, 0, 1.0], [0, 1, 0], [-1, 0, 0]])
    place = Placement(0.1, axes, np.array([0.02, -0.3, 0.01]))
    vertices = (SKIN.vertices - place.translation) @ axes / place.scale
    other = bind(SKIN.moved(vertices), TORSO, placement=place)
    found = apply_exact(other, vertices, TORSO, RECORD)[25]
    whole = apply_exact(BINDINGS["smooth"], SKIN.vertices, TORSO, RECORD)[25]
    assert np.abs(place.to_world(found) - whole).max() < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_the_file_reads_back_exactly(tmp_path, method):
    binding = BINDINGS[method]
    odd = Placement(0.1 + 1e-17, np.eye(3)[[2, 1, 0]] * [1, 1, -1.0], np.array([1 / 3, 2e-9, -0.7]))
    binding = Binding(binding.method, binding.bodies, binding.point_count, binding.offsets, binding.handle,
                      binding.weight, odd)  # fmt: skip
    write_binding(tmp_path / "b.xml", binding)
    again = read_binding(tmp_path / "b.xml")
    assert again.method == binding.method and again.bodies == binding.bodies
    for name in ("offsets", "handle", "weight"):
        assert np.array_equal(getattr(again, name), getattr(binding, name)), name
    assert again.placement.scale == odd.scale and np.array_equal(again.placement.rotation, odd.rotation)
    assert np.array_equal(again.placement.translation, odd.translation)
    write_binding(tmp_path / "c.xml", again)
    assert (tmp_path / "c.xml").read_bytes() == (tmp_path / "b.xml").read_bytes()


HEAD = '<binding version="1" method="smooth" vertices="1" points="9">\n<bodies>a b</bodies>\n'


@pytest.mark.parametrize(
    "text, message",
    [
        ("<other/>", "1: expected <binding>"),
        (HEAD + '<vertex id="0" bones="c:1"/>\n</binding>', "3: unknown bone 'c'"),
        (HEAD + '<vertex id="0" bones="a:-1"/>\n</binding>', "3: expected a weight of 0 or more"),
        (HEAD + '<vertex id="0" bones="a:nan"/>\n</binding>', "3: expected a finite number"),
        (HEAD + '<vertex id="0" points="9:1"/>\n</binding>', "3: expected a cavity point from 0 to 8"),
        (HEAD + '<vertex id="0" bones="a:0"/>\n</binding>', "3: expected weights that add up to one"),
        (HEAD + '<vertex id="1" bones="a:1"/>\n</binding>', "3: expected each id from 0 to 0"),
        (HEAD + "</binding>", "1: expected 1 vertices, got 0"),
        (HEAD + '<vertex id="0" bone="a:1"/>\n</binding>', "3: expected bones, id, points"),
        (HEAD.replace("smooth", "best") + "</binding>", "1: expected method"),
    ],
)
def test_a_broken_binding_names_its_line(tmp_path, text, message):
    (tmp_path / "b.xml").write_text(text)
    with pytest.raises(InputError, match=f"b\\.xml:{message}"):
        read_binding(tmp_path / "b.xml")


def test_an_edited_weight_is_scaled_to_one(tmp_path):
    (tmp_path / "b.xml").write_text(HEAD + '<vertex id="0" bones="a:3" points="4:1"/>\n</binding>')
    binding = read_binding(tmp_path / "b.xml")
    assert binding.weight.tolist() == [0.75, 0.25] and binding.handle.tolist() == [0, 6]


def test_a_binding_of_another_mesh_or_story_is_refused():
    with pytest.raises(InputError, match=r"mesh of \d+ points, this one has 12"):
        apply(BINDINGS["smooth"], np.zeros((12, 3)), TORSO, RECORD)
    with pytest.raises(InputError, match="when read in metres"):
        bind(SKIN.moved(SKIN.vertices * 1000), TORSO)


def test_four_joints_come_near_the_binding():
    binding = BINDINGS["smooth"]
    skin = four_joints(binding, SKIN.vertices, TORSO, RECORD)
    assert skin.joint.shape == (len(SKIN.vertices), 4)
    assert np.abs(skin.weight.sum(axis=1) - 1).max() < 1e-12 and (skin.weight >= 0).all()
    moved = np.linalg.norm(apply_exact(binding, SKIN.vertices, TORSO, RECORD) - SKIN.vertices, axis=2).max()
    assert skin.error < 0.35 * moved


def test_the_simplex_projection_is_the_nearest_point():
    random = np.random.default_rng(5)
    points = random.normal(size=(40, 5))
    found = onto_simplex(points)
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-12 and (found >= 0).all()
    corners = random.dirichlet(np.ones(5), size=(200,))
    nearer = np.linalg.norm(points[:, None] - corners, axis=2).min(axis=1)
    assert (np.linalg.norm(points - found, axis=1) <= nearer + 1e-12).all()


@pytest.mark.parametrize("name, height", [("makehuman/base.obj", (1.5, 2.0)), ("rough/man.off", (1.5, 2.0))])
@pytest.mark.parametrize("sex", ["male"])
def test_real_people_are_fitted_and_breathe(shared_data, name, height, sex):
    from risorius.anatomy import build_torso
    from risorius.core.spec import reference

    torso = build_torso(reference(sex))
    mesh = read_mesh(shared_data / "skins" / name)
    found = fit(mesh, torso)
    assert height[0] < found.height < height[1]
    assert found.near_median < 0.03
    binding = bind(mesh, torso, placement=found.placement)
    record = make_record(torso, seconds=2.0, rate=5)
    moved = apply_exact(binding, mesh.vertices, torso, record)[-1]
    shift = np.linalg.norm(found.placement.scale * (moved - mesh.vertices), axis=1)
    assert 0.008 < shift.max() < 0.06
    world = found.placement.to_world(mesh.vertices)
    legs = world[:, 1] < torso.bodies.meshes[0].vertices[:, 1].min() - 0.15
    assert shift[legs].max() < 1e-3
    assert world[shift.argmax(), 0] > 0  # the front moves most
