"""Rough meshes and broken files: muscles grow, contract, mirror and bake, or one clear line says why not."""

import json
from dataclasses import replace

import numpy as np
import pytest

from risorius.app.muscle import bake, deform
from risorius.app.muscle import grow as grow_file
from risorius.cli.main import main
from risorius.io.mesh import read_mesh, write_mesh
from risorius.maths.lowrank import compress, fewest
from risorius.skin.muscle.surface import Surface
from skins import cut_up, drawn_at, plane, sphere

PLACES = [
    ("rough/beast.obj", (0, 120, 60), 25.0), ("rough/dino.off", (0.6, 0.5, 0.0), 0.4),
    ("makehuman/base.obj", (0.5, 4.0, 1.2), 0.8),
]  # fmt: skip


def curves_file(path, surface, place, size, **more):
    entry = {"name": "m_l", "curves": [curve.tolist() for curve in drawn_at(surface, place, size)],
             "skin_thickness": 0.02 * size, "muscle_thickness": 0.06 * size, **more}  # fmt: skip
    path.write_text(json.dumps({"version": 1, "muscles": [entry]}))
    return path


def keys_file(path, names, seconds=1.0):
    keys = [{"time": time, "muscles": {name: {"contraction": value} for name in names}}
            for time, value in ((0.0, 0.0), (0.5 * seconds, 0.7), (seconds, 0.1))]  # fmt: skip
    path.write_text(json.dumps({"version": 1, "rate": 30, "keys": keys}))
    return path


def baked(path):
    """(f, n, 3) what a baked glb plays."""
    import pygltflib

    from risorius.io.mesh_gltf import Scene

    scene, asset = Scene(path), pygltflib.GLTF2().load(str(path))
    primitive = asset.meshes[0].primitives[0]
    rest = scene.accessor(primitive.attributes.POSITION)
    shapes = np.array([scene.accessor(target["POSITION"]) for target in primitive.targets])
    weights = scene.accessor(asset.animations[0].samplers[0].output).reshape(-1, len(shapes))
    return rest + np.einsum("fk,kni->fni", weights, shapes)


@pytest.mark.parametrize("file, place, size", PLACES)
def test_rough_meshes_grow_contract_mirror_and_bake(shared_data, tmp_path, file, place, size):
    mesh = shared_data / "skins" / file
    skin = read_mesh(mesh)
    curves = curves_file(tmp_path / "c.json", Surface(skin), place, size, mirror={"axis": "x"})
    figures = grow_file(mesh, curves, tmp_path / "m.json")
    assert set(figures["muscles"]) == {"m_l", "m_r"}
    keys = keys_file(tmp_path / "k.json", ["m_l", "m_r"])
    deform(mesh, tmp_path / "m.json", keys, tmp_path / "o.usdc")
    unit = 0.004 * size * 1e3
    found = bake(mesh, tmp_path / "m.json", keys, tmp_path / "b.glb", error_mm=unit, millimetres=1e3)
    from pxr import Usd, UsdGeom

    cached = Usd.Stage.Open(str(tmp_path / "o.usdc"))
    prim = UsdGeom.Mesh(cached.GetDefaultPrim())
    cache = np.array([np.array(prim.GetPointsAttr().Get(t)) for t in range(31)])
    assert np.linalg.norm(cache[15] - skin.vertices, axis=1).max() > 0.05 * size
    played = baked(tmp_path / "b.glb")
    miss = np.linalg.norm(played - cache, axis=2).max() * 1e3
    assert miss <= found["error_mm"] + 1e-6 * size * 1e3 + 1e-2 and found["error_mm"] <= unit
    assert found["targets"] <= 8


def test_the_baked_usd_plays_in_usd_itself(tmp_path):
    """OpenUSD's own skinning evaluates the blend shapes."""
    from pxr import Usd, UsdGeom, UsdSkel

    ball = sphere(24)
    write_mesh(tmp_path / "s.ply", ball)
    surface = Surface(ball)
    grow_file(tmp_path / "s.ply", curves_file(tmp_path / "c.json", surface, (0.6, 0.5, 0.5), 0.8), tmp_path / "m.json")
    keys = keys_file(tmp_path / "k.json", ["m_l"])
    figures = bake(tmp_path / "s.ply", tmp_path / "m.json", keys, tmp_path / "b.usda", error_mm=2.0)
    deform(tmp_path / "s.ply", tmp_path / "m.json", keys, tmp_path / "o.usdc")
    cached = Usd.Stage.Open(str(tmp_path / "o.usdc"))
    prim = UsdGeom.Mesh(cached.GetDefaultPrim())
    stage = Usd.Stage.Open(str(tmp_path / "b.usda"))
    assert UsdSkel.BakeSkinning(stage.Traverse())
    skinned = UsdGeom.Mesh(stage.GetPrimAtPath("/Skin/Mesh"))
    for frame in (0, 7, 15, 30):
        wanted = np.array(prim.GetPointsAttr().Get(frame))
        miss = np.linalg.norm(np.array(skinned.GetPointsAttr().Get(frame)) - wanted, axis=1).max()
        assert 1e3 * miss <= figures["error_mm"] + 1e-3
    assert figures["targets"] >= 1 and figures["error_mm"] <= 2.0


def test_what_is_written_as_gltf_passes_the_khronos_validator(tmp_path):
    from test_take import gltf_report

    ball = sphere(16)
    write_mesh(tmp_path / "s.ply", ball)
    curves = curves_file(tmp_path / "c.json", Surface(ball), (0.6, 0.5, 0.5), 0.8)
    grow_file(tmp_path / "s.ply", curves, tmp_path / "m.json")
    keys = keys_file(tmp_path / "k.json", ["m_l"])
    deform(tmp_path / "s.ply", tmp_path / "m.json", keys, tmp_path / "d.glb")
    bake(tmp_path / "s.ply", tmp_path / "m.json", keys, tmp_path / "b.glb", error_mm=1.0)
    keys_file(keys, [])  # nothing moves: no targets, no animation
    deform(tmp_path / "s.ply", tmp_path / "m.json", keys, tmp_path / "still.glb")
    for name in ("d.glb", "b.glb", "still.glb"):
        report = gltf_report(tmp_path / name)
        assert report["issues"]["numErrors"] == 0 and report["issues"]["numWarnings"] == 0, report["issues"]["messages"]


def test_what_is_written_as_usd_passes_every_usd_validator(tmp_path):
    from test_take import usd_problems

    ball = sphere(16)
    write_mesh(tmp_path / "s.ply", ball)
    curves = curves_file(tmp_path / "c.json", Surface(ball), (0.6, 0.5, 0.5), 0.8)
    grow_file(tmp_path / "s.ply", curves, tmp_path / "m.json")
    keys = keys_file(tmp_path / "k.json", ["m_l"])
    deform(tmp_path / "s.ply", tmp_path / "m.json", keys, tmp_path / "d.usdc")
    bake(tmp_path / "s.ply", tmp_path / "m.json", keys, tmp_path / "b.usdc", error_mm=1.0)
    for name in ("d.usdc", "b.usdc"):
        assert usd_problems(tmp_path / name) == []


def test_fewer_targets_as_the_error_grows_and_never_more_than_principal_shapes():
    random = np.random.default_rng(3)
    shapes = random.normal(size=(6, 50, 3)) * (0.5 ** np.arange(6))[:, None, None]
    motion = np.einsum("fk,kni->fni", random.normal(size=(40, 6)), shapes)
    rest = random.normal(size=(50, 3))
    counts = []
    for tolerance in (1e-9, 0.2, 0.6, 1.5):
        few = fewest(rest, rest + motion, tolerance=tolerance)
        plain = compress(rest, rest + motion, tolerance=tolerance)
        again = rest + np.einsum("fk,kni->fni", few.amounts, few.shapes)
        assert np.linalg.norm(again - rest - motion, axis=2).max() == pytest.approx(few.error, abs=1e-9)
        assert few.error <= tolerance and len(few.shapes) <= len(plain.shapes)
        counts.append(len(few.shapes))
    assert counts[0] == 6 and sorted(counts, reverse=True) == counts and counts[-1] < 6


def test_degenerate_meshes_are_no_obstacle(tmp_path):
    """Duplicate points, faces without area, loose points, a non-manifold fin."""
    flat = plane(21)
    faces = [flat.face(k).tolist() for k in range(flat.face_count)]
    copies = len(flat.vertices)
    vertices = np.concatenate([flat.vertices, flat.vertices[:40], [[0.0, 0.5, 0.0], [9.0, 9.0, 9.0]]])
    faces += [[0, 0, 1], [5, 6, 6], [copies, copies + 1, copies + 2], [200, 221, copies + 40], [200, 221, copies + 40]]
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + ["f " + " ".join(str(k + 1) for k in f) for f in faces]
    (tmp_path / "s.obj").write_text("\n".join(lines))
    curves = curves_file(tmp_path / "c.json", Surface(flat), (0, 0, 0.5), 0.6)
    assert main(["muscle", "grow", str(tmp_path / "s.obj"), str(curves), "-o", str(tmp_path / "m.json")]) == 0
    keys_file(tmp_path / "k.json", ["m_l"])
    for name in ("o.glb", "o.obj"):
        assert main(["muscle", "deform", *(str(tmp_path / n) for n in ("s.obj", "m.json", "k.json")), "-o",
                     str(tmp_path / name)]) == 0  # fmt: skip
    assert len(read_mesh(tmp_path / "o.obj").vertices) == len(vertices)
    write_mesh(tmp_path / "soup.ply", cut_up(flat))
    assert main(["muscle", "grow", str(tmp_path / "soup.ply"), str(curves), "-o", str(tmp_path / "m.json")]) == 0


def mutated(data: bytes, random: np.random.Generator) -> bytes:
    """A file with a few bytes changed, cut out, doubled or swapped for tokens that parsers dislike."""
    raw = bytearray(data)
    tokens = [
        b"nan",
        b"1e999",
        b"-1",
        b"99999999",
        b"null",
        b"[]",
        b"{}",
        b'""',
        b"\x00",
        b"\xff\xfe",
        b"true",
        b",",
        b"]",
    ]
    for _ in range(int(random.integers(1, 5))):
        at = int(random.integers(0, max(len(raw), 1)))
        match int(random.integers(0, 5)):
            case 0:
                raw[at : at + 1] = bytes([int(random.integers(0, 256))])
            case 1:
                del raw[at : at + int(random.integers(1, 60))]
            case 2:
                raw[at:at] = raw[at : at + int(random.integers(1, 60))]
            case 3:
                raw[at : at + int(random.integers(0, 6))] = tokens[int(random.integers(0, len(tokens)))]
            case 4:
                del raw[at:]
    return bytes(raw)


@pytest.mark.parametrize("count", [80, pytest.param(500, marks=pytest.mark.nightly)])
def test_broken_files_end_well_or_in_one_line(tmp_path, capsys, count):
    flat = plane(9, 0.1)
    for ending in ("obj", "off", "ply", "glb", "usdc"):
        write_mesh(tmp_path / f"s.{ending}", flat)
    curves = curves_file(tmp_path / "c.json", Surface(flat), (0, 0, 0), 0.8, mirror={"axis": "x", "at": 0.1})
    assert main(["muscle", "grow", str(tmp_path / "s.obj"), str(curves), "-o", str(tmp_path / "m.json")]) == 0
    table = json.loads((tmp_path / "m.json").read_text())
    table["controls"] = {"pull": {"muscles": {"m_l": {"contraction": 0.5}}}}
    table["drivers"] = [{"control": "pull", "angle": {"joint": "jaw", "axis": [1, 0, 0]}, "map": [[0, 0], [20, 1]]}]
    (tmp_path / "m.json").write_text(json.dumps(table))
    keys = keys_file(tmp_path / "k.json", ["m_l", "m_r"], 0.2)
    random = np.random.default_rng(20)
    codes = []
    sources = ["s.obj", "s.off", "s.ply", "s.glb", "s.usdc", "c.json", "m.json", "k.json", "m.json", "k.json"]
    originals = {name: (tmp_path / name).read_bytes() for name in set(sources)}
    for number in range(count):
        name = sources[number % len(sources)]
        broken = tmp_path / f"x{name}"
        broken.write_bytes(mutated(originals[name], random))
        mesh = broken if name.startswith("s.") else tmp_path / "s.obj"
        capsys.readouterr()
        if name == "c.json" or (name.startswith("s.") and number % 3 == 0):
            use = broken if name == "c.json" else curves
            words = ["muscle", "grow", str(mesh), str(use), "-o", str(tmp_path / "xo.json")]
        else:
            muscles, play = (broken if name == n else tmp_path / n for n in ("m.json", "k.json"))
            words = ["muscle", "deform", str(mesh), str(muscles), str(play), "-o", str(tmp_path / "xo.obj")]
        code = main(words)  # anything but a clean end or a named mistake raises here
        said = capsys.readouterr().err
        assert code in (0, 2) and (code == 0) == (said == ""), (number, name, said)
        assert said.count("\n") == (1 if code else 0), said
        codes.append(code)
    assert keys.exists() and codes.count(2) > 0.3 * count


ODD = [None, -1, 0, 7, 1e9, 1e308, 2**40, True, "", "x", [], {}, [0], [[0, 0, 0]], 0.5, [1, 2, 3]]


def places(value, here=()):
    """Where anything stands in a document (the first entries of long lists)."""
    found = [here] if here else []
    inner = value.items() if isinstance(value, dict) else enumerate(value[:6]) if isinstance(value, list) else ()
    for key, entry in inner:
        found += places(entry, (*here, key))
    return found


def warped(table, random):
    """A well-formed document in which something is missing or stands for something else."""
    out = json.loads(json.dumps(table))
    where = places(out)
    way = where[int(random.integers(len(where)))]
    inside = out
    for key in way[:-1]:
        inside = inside[key]
    if random.integers(4) == 0:
        del inside[way[-1]]
    else:
        inside[way[-1]] = ODD[int(random.integers(len(ODD)))]
    return out


@pytest.mark.parametrize("count", [80, pytest.param(500, marks=pytest.mark.nightly)])
def test_well_formed_nonsense_ends_well_or_in_one_line(tmp_path, capsys, count):
    ball = sphere(12)
    write_mesh(tmp_path / "s.obj", ball)
    curves = curves_file(tmp_path / "c.json", Surface(ball), (0.6, 0.5, 0.5), 0.8, mirror={"axis": "x", "at": 0.1},
                         set="connected", bulge=[[1, 2], [2, 3]], closed=False, center=[0, 0, 0])  # fmt: skip
    assert main(["muscle", "grow", str(tmp_path / "s.obj"), str(curves), "-o", str(tmp_path / "m.json")]) == 0
    table = json.loads((tmp_path / "m.json").read_text())
    table["controls"] = {"pull": {"muscles": {"m_l": {"contraction": 0.5}}, "range": [0, 2], "rest": 0.5}}
    (tmp_path / "m.json").write_text(json.dumps(table))
    keys_file(tmp_path / "k.json", ["m_l", "m_r"], 0.1)
    tables = {name: json.loads((tmp_path / name).read_text()) for name in ("c.json", "m.json", "k.json")}
    random = np.random.default_rng(4)
    codes = []
    for number in range(count):
        name = list(tables)[number % 3]
        (tmp_path / f"x{name}").write_text(json.dumps(warped(tables[name], random)))
        files = [
            str(tmp_path / (f"x{n}" if n == name else n))
            for n in (("c.json",) if name == "c.json" else ("m.json", "k.json"))
        ]
        out = str(tmp_path / ("xo.json" if name == "c.json" else "xo.glb"))
        capsys.readouterr()
        code = main(["muscle", "grow" if name == "c.json" else "deform", str(tmp_path / "s.obj"), *files, "-o", out])
        said = capsys.readouterr().err
        assert code in (0, 2) and said.count("\n") == (1 if code else 0), (number, name, said)
        codes.append(code)
    assert codes.count(2) > 0.4 * count


def test_control_points_of_subdivision_cages_and_nurbs_patches_move_alike(tmp_path):
    """The same points as a cage of Catmull and Clark, and as a NURBS patch's net, move bit for bit as the plain mesh's."""
    from pxr import Usd, UsdGeom, Vt

    flat = plane(21, 0.1)
    curves = [[[s * 0.2, 0.0, z] for z in (-0.4, -0.1, 0.2, 0.4)] for s in (-1, 1)]
    entry = {"name": "a", "curves": curves, "skin_thickness": 0.03, "muscle_thickness": 0.05}
    (tmp_path / "c.json").write_text(json.dumps({"version": 1, "muscles": [entry]}))
    keys = [{"time": 0, "muscles": {"a": {"contraction": 0}}}, {"time": 1, "muscles": {"a": {"contraction": 0.5}}}]
    (tmp_path / "k.json").write_text(json.dumps({"version": 1, "rate": 2, "keys": keys}))
    write_mesh(tmp_path / "plain.usda", flat)
    write_mesh(tmp_path / "cage.usda", replace(flat, scheme="catmullClark"))
    stage = Usd.Stage.CreateNew(str(tmp_path / "patch.usda"))
    patch = UsdGeom.NurbsPatch.Define(stage, "/Patch")
    patch.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(flat.vertices, dtype=np.float32)))
    for make in (patch.CreateUVertexCountAttr, patch.CreateVVertexCountAttr):
        make(21)
    stage.GetRootLayer().Save()
    moved = {}
    for name in ("plain", "cage", "patch"):
        grow_file(tmp_path / f"{name}.usda", tmp_path / "c.json", tmp_path / "m.json")
        deform(tmp_path / f"{name}.usda", tmp_path / "m.json", tmp_path / "k.json", tmp_path / f"{name}.out.usdc")
        written = Usd.Stage.Open(str(tmp_path / f"{name}.out.usdc"))
        prim = UsdGeom.Mesh(written.GetDefaultPrim())
        moved[name] = np.array(prim.GetPointsAttr().Get(2)), prim.GetSubdivisionSchemeAttr().Get()
    assert [scheme for _, scheme in moved.values()] == ["none", "catmullClark", "none"]
    assert np.abs(moved["plain"][0] - flat.vertices).max() > 0.05
    assert all(np.array_equal(points, moved["plain"][0]) for points, _ in moved.values())
