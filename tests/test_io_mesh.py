"""Mesh readers and writers: round trips, real files, and files that are broken in every way."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from risorius.core.errors import InputError
from risorius.core.mesh import PolyMesh, of_triangles
from risorius.io.mesh import read_mesh, write_mesh

PRISM = PolyMesh(
    np.array([[0, 0, 0], [1, 0, 0], [1 / 3, 1, 0], [0, 0, 1], [1, 0, 1], [1 / 3, 1, 1]], dtype=float),
    np.array([2, 1, 0, 3, 4, 5, 0, 1, 4, 3, 1, 2, 5, 4, 2, 0, 3, 5], dtype=np.int32),
    np.array([0, 3, 6, 10, 14, 18], dtype=np.int32),
    ("ends", "sides"),
    np.array([0, 0, 1, 1, 1], dtype=np.int32),
)
ENDINGS = ["obj", "off", "ply", "glb", "usdc", "usda"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_reads_back(tmp_path, ending):
    file = tmp_path / f"prism.{ending}"
    write_mesh(file, PRISM)
    again = read_mesh(file)
    single = ending in ("glb", "usdc", "usda")
    expected = PRISM.vertices.astype(np.float32).astype(float) if single else PRISM.vertices
    assert np.array_equal(again.vertices, expected)
    if ending == "glb":
        assert np.array_equal(again.indices.reshape(-1, 3), PRISM.triangles()[0])
    else:
        assert np.array_equal(again.indices, PRISM.indices) and np.array_equal(again.offsets, PRISM.offsets)
    if ending == "obj":
        assert again.groups == PRISM.groups and np.array_equal(again.face_group, PRISM.face_group)
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]


def test_triangles_keep_area_and_orientation():
    triangles, face = PRISM.triangles()
    corners = PRISM.vertices[triangles]
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(0.5)
    assert np.bincount(face).tolist() == [1, 1, 2, 2, 2]


def test_edges_of_a_prism_are_nine():
    assert len(PRISM.edges()) == 9


def test_obj_reads_relative_corners_continued_lines_and_colours(tmp_path):
    file = tmp_path / "a.obj"
    file.write_text("o part\nv 0 0 0 1 0 0\nv 1 0 0\nv 1 1 \\\n0\nv 0 1 0 # last\nf -4//1 -3//1 \\\n-2//1 -1//1\n")
    mesh = read_mesh(file)
    assert mesh.indices.tolist() == [0, 1, 2, 3] and mesh.groups == ("part",)
    assert mesh.vertices[2].tolist() == [1, 1, 0]


@pytest.mark.parametrize("order", ["binary_big_endian", "binary_little_endian", "ascii"])
def test_ply_in_every_byte_order_with_mixed_faces(tmp_path, order):
    head = (
        f"ply\nformat {order} 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\n"
        "property float z\nproperty uchar red\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n"
    )
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    faces = [[0, 1, 2, 3], [0, 1, 2]]
    if order == "ascii":
        body = "".join(f"{x} {y} {z} 7\n" for x, y, z in points) + "".join(
            f"{len(face)} {' '.join(map(str, face))}\n" for face in faces
        )
        data = body.encode()
    else:
        sign = ">" if "big" in order else "<"
        data = b"".join(np.array(p, sign + "f4").tobytes() + b"\x07" for p in points)
        data += b"".join(bytes([len(f)]) + np.array(f, sign + "i4").tobytes() for f in faces)
    file = tmp_path / "a.ply"
    file.write_bytes(head.encode() + data)
    mesh = read_mesh(file)
    assert np.array_equal(mesh.vertices, np.array(points, float))
    assert [mesh.face(0).tolist(), mesh.face(1).tolist()] == faces


def test_gltf_nodes_place_their_meshes(tmp_path):
    import json

    from risorius.io import mesh_gltf

    file = tmp_path / "a.glb"
    write_mesh(file, PRISM)
    scene = mesh_gltf.Scene(file)
    turn = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]
    scene.asset["nodes"] = [
        {"mesh": 0, "scale": [2, 2, 2]},
        {"children": [0], "rotation": turn, "translation": [5, 0, 0]},
    ]
    scene.asset["scenes"] = [{"nodes": [1]}]
    file.write_bytes(mesh_gltf.packed(json.loads(json.dumps(scene.asset)), scene.binary))
    found = read_mesh(file).vertices
    x, y, z = (PRISM.vertices.astype(np.float32) * 2).T
    assert np.allclose(found, np.stack([5 - y, x, z], axis=1), atol=1e-6)


@pytest.mark.parametrize(
    "name, points, faces",
    [
        ("makehuman/base.obj", 19158, 18486),
        ("rough/man.off", 17495, 34986),
        ("rough/beast.obj", 32311, 32364),
        ("gltf/CesiumMan.glb", 3273, 4672),
        ("webxr_hand/generic-hand/left.glb", None, None),
        ("face/generic_neutral_mesh.obj", 26719, 26384),
    ],
)
def test_real_files(shared_data, name, points, faces):
    mesh = read_mesh(shared_data / "skins" / name)
    assert points is None or (len(mesh.vertices), mesh.face_count) == (points, faces)
    assert np.isfinite(mesh.vertices).all()


def test_a_skinned_man_stands_upright(shared_data):
    size = np.ptp(read_mesh(shared_data / "skins/gltf/CesiumMan.glb").vertices, axis=0)
    assert size.argmax() == 1 and 1.3 < size[1] < 2.2


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("a.obj", "v 0 0 0\nv 1 nan 0\n", r"a\.obj:2: expected finite"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", r"a\.obj:4: expected a corner among the 3"),
        ("a.obj", "v 0 0 0\nv 1 0\n", r"a\.obj:2: expected v and three"),
        ("a.obj", "v 0 0 0\nf 1 1\n", r"a\.obj:2: expected a face of at least three"),
        ("a.obj", "v 0 0 0\nf 0 1 1\n", r"a\.obj:2: expected a corner"),
        ("a.obj", "", "expected points and faces"),
        ("a.obj", "v 1e200 0 0\nf 1 1 1\n", "point 1: expected finite coordinates below"),
        ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n", r"a\.off:4: expected 3 points and 1 faces"),
        ("a.off", "OFF\n99999999999 1 0\n0 0 0\n", "expected 99999999999 points"),
        ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", r"a\.off:6: expected corners from 0 to 2"),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 5000000000\nproperty float x\nend_header\n", "shorter"),
        ("a.ply", "solid\n", "PLY header"),
        ("a.glb", "glTF", "shorter than it says|glTF"),
        ("a.gltf", '{"asset":{"version":"1.0"}}', "glTF 2.0"),
        ("a.usda", "#usda 1.0\n(", "USD stage"),
        ("a.usdc", "PXR-USDC", "USD stage"),
        ("a.stl", "solid", "expected a mesh ending in"),
    ],
)
def test_broken_files_say_what_was_expected(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_mesh(tmp_path / name)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_mesh(tmp_path / "none.obj")
    (tmp_path / "b.obj").mkdir()
    with pytest.raises(InputError, match="folder"):
        read_mesh(tmp_path / "b.obj")


@pytest.mark.parametrize("ending", ["obj", "off", "ply", "glb"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_files_read_or_are_refused_in_one_line(tmp_path, ending, data):
    file = tmp_path / f"m.{ending}"
    if not (tmp_path / f"whole.{ending}").exists():
        write_mesh(tmp_path / f"whole.{ending}", PRISM)
    content = bytearray((tmp_path / f"whole.{ending}").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.integers(0, 3))
        if kind == 0:
            content[at] = data.draw(st.integers(0, 255))
        elif kind == 1:
            del content[at : at + data.draw(st.integers(1, 40))]
        elif kind == 2:
            content[at:at] = data.draw(st.sampled_from([b"nan", b"-1", b"1e999", b"\n", b"\\", b"\xff\xfe", b" 9" * 9]))
        else:
            del content[at:]
        content = content or bytearray(b"x")
    file.write_bytes(bytes(content))
    try:
        mesh = read_mesh(file)
    except InputError as error:
        assert "\n" not in str(error) and "m." in str(error)
    else:
        assert np.isfinite(mesh.vertices).all() and mesh.indices.max() < len(mesh.vertices)


def test_a_failed_write_leaves_nothing(tmp_path):
    file = tmp_path / "a.obj"
    broken = of_triangles(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    object.__setattr__(broken, "face_group", np.array([5]))
    with pytest.raises(IndexError):
        write_mesh(file, broken)
    assert not list(tmp_path.iterdir())


def test_an_unwritable_place_is_the_users_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_mesh(tmp_path / "file" / "a.obj", PRISM)
