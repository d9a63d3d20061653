"""Volumes, pressures and weights of closed surfaces; contact; all against closed forms or differences."""

import numpy as np
import pytest

from risorius.maths.polyhedron import volume
from risorius.mechanics.contact import Contact, find_contacts
from risorius.mechanics.surface import fluid_weight, volume_gradient, volume_inside


def ball(levels=3):
    """Unit sphere from a subdivided octahedron."""
    points = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
    faces = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    for _ in range(levels):
        middles, new = {}, list(points)

        def middle(a, b, middles=middles, new=new, points=points):
            key = (min(a, b), max(a, b))
            if key not in middles:
                middles[key] = len(new)
                new.append((points[a] + points[b]) / 2)
            return middles[key]

        split = []
        for a, b, c in faces:
            d, e, f = middle(a, b), middle(b, c), middle(c, a)
            split += [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
        points = np.array(new)
        points /= np.linalg.norm(points, axis=1)[:, None]
        faces = np.array(split)
    return points, faces


def test_volume_of_a_cube_is_exact_and_of_a_ball_converges_with_the_square_of_the_edge():
    errors = [4 / 3 * np.pi - volume(*ball(level)) for level in (2, 3, 4)]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.05)


def test_gradient_is_the_derivative_and_pressure_neither_pushes_nor_turns_the_whole():
    rng = np.random.default_rng(1)
    points, faces = ball(2)
    points = points * 0.1 + rng.normal(size=points.shape) * 0.004
    gradient = np.zeros_like(points)
    value = volume_gradient(points, faces, np.array([0.01, 0.02, 0.0]), gradient)
    assert value == pytest.approx(volume(points, faces), rel=1e-12)
    assert value == pytest.approx(volume_inside(points, faces, np.array([0.01, 0.02, 0.0])), rel=1e-14)
    way = rng.normal(size=points.shape)
    step = 1e-6
    slope = (volume(points + step * way, faces) - volume(points - step * way, faces)) / (2 * step)
    assert np.sum(gradient * way) == pytest.approx(slope, rel=1e-6)
    np.testing.assert_allclose(gradient.sum(axis=0), 0, atol=1e-16)
    np.testing.assert_allclose(np.cross(points, gradient).sum(axis=0), 0, atol=1e-17)


def test_a_fluid_hands_its_weight_to_its_container_and_shifting_the_gauge_adds_pressure():
    points, faces = ball(3)
    heaviness = np.array([0.0, -9900.0, 300.0])
    force, other = np.zeros_like(points), np.zeros_like(points)
    fluid_weight(points, faces, np.zeros(3), heaviness, force)
    np.testing.assert_allclose(force.sum(axis=0), heaviness * volume(points, faces), rtol=1e-12, atol=1e-9)
    shift = np.array([0.1, -0.2, 0.3])
    fluid_weight(points, faces, shift, heaviness, other)
    gradient = np.zeros_like(points)
    volume_gradient(points, faces, np.zeros(3), gradient)
    np.testing.assert_allclose(other, force - heaviness @ shift * gradient, atol=1e-9)


def wall():
    """A bowl of triangles with its normals outward (down), and one point to drop into it."""
    side = np.linspace(-1, 1, 9)
    x, z = np.meshgrid(side, side, indexing="ij")
    points = np.stack([x.ravel(), 0.2 * (x**2 + z**2).ravel(), z.ravel()], axis=1)
    quads = [(i * 9 + j, (i + 1) * 9 + j, (i + 1) * 9 + j + 1, i * 9 + j + 1) for i in range(8) for j in range(8)]
    faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))])
    normal = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    faces = np.where(normal[:, 1:2] > 0, faces[:, ::-1], faces)
    return np.vstack([points, [[0, 0, 0]]]), faces


def contact_of(points, faces):
    owner = {}
    for f, face in enumerate(faces):
        for k in range(3):
            owner[face[(k + 1) % 3], face[(k + 2) % 3]] = f
    neighbour = np.array(
        [[owner.get((face[(k + 2) % 3], face[(k + 1) % 3]), -1) for k in range(3)] for face in faces], dtype=np.int64
    )
    one = np.ones(1)
    place = np.array([len(points) - 1], dtype=np.int64)
    return Contact(
        place, np.zeros(1, dtype=np.int64), faces.astype(np.int64), neighbour, faces.astype(np.int64),
        np.arange(len(points) - 1), 3000.0 * one, 0.0 * one, 0.001 * one, 0.0 * one,
    )  # fmt: skip


def push_at(contact, points, place):
    points = points.copy()
    points[-1] = place
    force = np.zeros_like(points)
    rooms = [
        np.zeros((len(points) - 1, 3)),
        force,
        np.zeros(1, dtype=np.int64),
        *np.zeros((2, 1, 3)),
        *np.zeros((2, 1)),
    ]
    touching = find_contacts(contact, points, np.zeros_like(points), 0.001, *rooms)
    return touching, force, rooms[2][0], points


@pytest.mark.parametrize("x, z", [(0.0, 0.0), (0.63, -0.41), (-0.9, 0.9), (0.131, 0.777)])
def test_contact_walks_to_the_right_face_pushes_back_and_keeps_momentum(x, z):
    points, faces = wall()
    contact = contact_of(points, faces)
    inside, _, _, _ = push_at(contact, points, [x, 0.2 * (x * x + z * z) + 0.1, z])
    assert inside == 0
    touching, force, foot, moved = push_at(contact, points, [x, 0.2 * (x * x + z * z) - 0.03, z])
    assert touching == 1 and force[-1, 1] > 0
    corners = moved[faces[foot]]
    shares = np.linalg.lstsq(np.vstack([corners.T[[0, 2]], np.ones(3)]), np.array([x, z, 1.0]), rcond=None)[0]
    assert (shares > -0.05).all()
    np.testing.assert_allclose(force.sum(axis=0), 0, atol=1e-10)


def test_contact_force_is_continuous_over_faces():
    points, faces = wall()
    contact = contact_of(points, faces)
    path = np.linspace(-0.8, 0.8, 4001)
    pushes = np.array([push_at(contact, points, [x, 0.2 * (x * x + 0.04) - 0.02, 0.2 + 0.1 * x])[1][-1] for x in path])
    steps = np.abs(np.diff(pushes, axis=0)).max()
    assert steps < 0.05 * np.abs(pushes).max()
