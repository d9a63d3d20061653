"""Markers and belts: what is planted comes back, whatever the axes, units, order, gaps and sway; broken files are refused."""

import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risorius.app.breathe import analyse, curve_breaths, marker_breath
from risorius.core.errors import InputError
from risorius.core.markers import Curve, Markers
from risorius.inverse.markers.breaths import average_breath, find_breaths
from risorius.inverse.markers.hull import hull_volume
from risorius.inverse.markers.layout import MarkerMap, all_axes, handed, landmarks, lay_out
from risorius.inverse.markers.rigid import filled, moved, rigid_motion, without_sway
from risorius.io.curve import read_curve
from risorius.io.marker_map import read_marker_map
from risorius.io.markers import read_markers
from risorius.maths.rotations import matrices

RATE, PERIOD = 50.0, 4.0
LEVELS, ROUND = (1.30, 1.18, 1.05), 12


def trunk(frames=1000, *, period=PERIOD, swell=0.012, noise=0.0, sway=0.0, seed=0):
    """Three elliptic rings of markers (forward, up, right) whose front swells and rises with a breath of known period.

    Returns points (f, n, 3) [m], the breath (f,) 0 … 1, and which markers are in front.
    """
    random = np.random.default_rng(seed)
    angle = (np.arange(ROUND) + 0.5) / ROUND * 2 * np.pi
    rest = np.array([[0.11 * np.cos(a), level, 0.16 * np.sin(a)] for level in LEVELS for a in angle])
    breath = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(frames) / RATE / period)
    front = rest[:, 0] > 0.01
    out = np.where(front[:, None], [1.0, 0.4, 0.0], 0.0) * np.clip(rest[:, :1] / 0.11, 0, 1)
    points = rest + swell * breath[:, None, None] * out
    if sway:
        turn = np.cumsum(random.normal(size=(frames, 4)), axis=0) * sway * 0.02
        turn[:, 0] = 1.0
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        shift = sway * np.cumsum(random.normal(size=(frames, 3)), axis=0) * 0.03
        points = np.einsum("fij,fnj->fni", matrices(turn), points - rest.mean(0)) + rest.mean(0) + shift[:, None]
    return points + noise * random.normal(size=points.shape), breath, front


def markers(points, names=None):
    return Markers(tuple(names or (f"M{k:02}" for k in range(points.shape[1]))), points, RATE)


# --- the parts


def test_a_rigid_motion_is_found_exactly():
    random = np.random.default_rng(1)
    cloud = random.normal(size=(9, 3))
    turn = random.normal(size=(40, 4))
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    shift = random.normal(size=(40, 3))
    points = moved(matrices(turn), shift, np.broadcast_to(cloud, (40, 9, 3)))
    points[3, 2] = np.nan
    rotation, back = rigid_motion(cloud, points, np.ones(9))
    again = moved(rotation, back, points)
    assert np.nanmax(np.abs(again - cloud)) < 1e-12
    assert np.allclose(np.linalg.det(rotation), 1.0)


def test_sway_is_taken_out_and_the_breath_stays():
    still, _, _ = trunk(swell=0.0, sway=0.05)
    aligned, shape = without_sway(still)
    assert np.abs(still - still.mean(0)).max() > 0.02 and np.abs(aligned - shape).max() < 1e-6
    plain, breath, front = trunk()
    swaying, _, _ = trunk(sway=0.05)
    a, b = (without_sway(points)[0] for points in (plain, swaying))
    spread = [np.linalg.norm(np.ptp(points, axis=0), axis=1) for points in (a, b)]
    assert np.abs(spread[0] - spread[1]).max() < 1e-4 and spread[0][front].max() > 0.007
    assert np.corrcoef(hull_volume(b), breath)[0, 1] > 0.99


def test_gaps_are_filled_from_how_the_others_move():
    points, _, _ = trunk()
    random = np.random.default_rng(3)
    holes = points.copy()
    holes[random.random(points.shape[:2]) < 1 / 3] = np.nan
    assert np.abs(filled(holes) - points).max() < 2e-4


def test_the_hull_of_a_box_is_its_volume():
    corners = np.array([[x, y, z] for x in (0, 0.2) for y in (0, 0.3) for z in (0, 0.5)])
    random = np.random.default_rng(0)
    inside = random.random((20, 3)) * [0.2, 0.3, 0.5]
    assert hull_volume(np.concatenate([corners, inside])[None]) == pytest.approx(0.03)
    with pytest.raises(InputError, match="plane"):
        hull_volume(np.concatenate([corners[:4], corners[:4] * 2])[None] * [0, 1, 1])


@pytest.mark.parametrize("rate", [6, 12, 15, 24, 40])
@pytest.mark.parametrize("duty", [0.35, 0.5])
def test_planted_breaths_are_counted_timed_and_measured(rate, duty):
    random = np.random.default_rng(rate)
    time_ = np.arange(0, 60, 0.02)
    turn = np.mod(time_ * rate / 60 + 0.3, 1.0)
    wave = np.where(
        turn < duty, 0.5 - 0.5 * np.cos(np.pi * turn / duty), 0.5 + 0.5 * np.cos(np.pi * (turn - duty) / (1 - duty))
    )
    found = find_breaths(3.0 * wave + 0.4 * time_ / 60 + 0.02 * random.normal(size=len(time_)), 50.0)
    assert found.rate == pytest.approx(rate, rel=0.01) and abs(found.count - rate) <= 1
    assert found.duty == pytest.approx(duty, abs=0.05)
    assert np.median(found.depths) == pytest.approx(3.0, rel=0.12 if rate == 40 else 0.05)
    mean, spread = average_breath(3.0 * wave, 50.0, found)
    assert np.ptp(mean) == pytest.approx(3.0, rel=0.02) and spread.max() < 0.25


def test_the_average_leaves_out_breaths_of_another_size():
    wave = np.concatenate(
        [0.2 * np.sin(np.arange(0, 2 * np.pi, 0.03)) ** 2, np.tile(np.sin(np.arange(0, np.pi, 0.015)) ** 2, 4)]
    )
    found = find_breaths(wave, 50.0)
    mean, _ = average_breath(wave, 50.0, found)
    assert found.count == 6 and np.ptp(mean) > 0.95


@pytest.mark.parametrize("values", [np.zeros(500), np.ones(20), np.linspace(0, 1, 500)])
def test_a_signal_without_breaths_is_refused(values):
    with pytest.raises(InputError):
        find_breaths(values, 50.0)


# --- who sits where


@pytest.mark.parametrize("turn", range(24))
def test_front_and_forward_are_found_in_any_axes(turn):
    points, _, _ = trunk(noise=2e-4)
    axes = all_axes()[turn]
    layout = lay_out(markers(points @ axes.T))
    assert handed(layout.axes) and np.allclose(layout.axes @ layout.axes.T, np.eye(3), atol=1e-9)
    assert abs(layout.axes[1] @ axes[:, 1]) > 0.99  # up or down: a ring does not tell which
    assert layout.axes[0] @ axes[:, 0] > 0.9
    assert np.array_equal(layout.front, points[0, :, 0] > points[0, :, 0].mean())


def test_the_column_lies_in_the_middle_of_the_front():
    points, _, _ = trunk()
    layout = lay_out(markers(points))
    assert (
        layout.column.any() and (np.abs(points[0, layout.column, 2]) < 0.05).all() and layout.front[layout.column].all()
    )


def test_usual_names_and_a_mapping_decide_before_the_shape_does(tmp_path):
    points, _, _ = trunk(swell=0.0)
    names = [f"box:{k}" for k in range(points.shape[1])]
    names[0], names[12], names[24], names[6], names[18] = "STRN", "XIPH", "NAVEL", "T1", "T10"
    box = np.array([name.startswith("box") for name in names])
    points[:, box] += 0.1 * np.sin(np.arange(len(points)) / 40)[:, None, None]  # a box that is carried about
    down = points * [1, -1, -1]  # the recording's y points down
    layout = lay_out(markers(down, names))
    assert sorted(layout.landmark) == ["navel", "sternum", "t1", "t10", "xiphoid"]
    assert layout.axes[1] @ [0, -1, 0] > 0.99 and layout.axes[0] @ [1, 0, 0] > 0.7
    (tmp_path / "names.map").write_text("# ours\nbox:1? = ignore\nbox:* = front\nSTRN = column\nup = -y\nforward = x\n")
    pairs, up, forward = read_marker_map(tmp_path / "names.map", set(landmarks()))
    assert (up, forward) == ("-y", "x") and pairs[0] == ("box:1?", "ignore")
    mapped = lay_out(markers(down, names), MarkerMap(pairs, up, forward))
    assert mapped.axes[0] @ [1, 0, 0] > 0.99
    used = [names[number] for number in mapped.used]
    assert (
        "box:11" not in used and mapped.front[used.index("box:3")] and mapped.landmark[used.index("STRN")] == "column"
    )


@pytest.mark.parametrize("line, message", [
    ("STRN sternum", "names.map:2: expected `NAME = landmark`"),
    ("STRN = elbow", "names.map:2: expected one of"),
    ("up = w", "names.map:2: expected an axis"),
])  # fmt: skip
def test_a_wrong_line_of_a_mapping_is_named(tmp_path, line, message):
    (tmp_path / "names.map").write_text(f"# remark\n{line}\n")
    with pytest.raises(InputError, match=message):
        read_marker_map(tmp_path / "names.map", set(landmarks()))


# --- the whole


def test_a_planted_breath_comes_back_through_sway_noise_and_gaps():
    points, _, _ = trunk(frames=1500, noise=1e-3, sway=0.02)
    random = np.random.default_rng(9)
    points[random.random(points.shape[:2]) < 0.33] = np.nan
    recorded = markers(points)
    found = marker_breath(recorded, lay_out(recorded))
    assert found.breaths.rate == pytest.approx(60 / PERIOD, rel=0.01)
    plain, _, _ = trunk(frames=1500)
    clean = marker_breath(markers(plain), lay_out(markers(plain)))
    whole = rigid_motion(clean.mean.mean(axis=0), found.mean.mean(axis=0)[None], np.ones(clean.mean.shape[1]))
    turned = moved(np.repeat(whole[0], 100, axis=0), np.repeat(whole[1], 100, axis=0), found.mean)
    assert np.abs(turned - clean.mean).max() < 1.5e-3
    position, speed = found.still_errors()
    true, fast = clean.still_errors()
    assert position == pytest.approx(true, rel=0.15) and speed == pytest.approx(fast, abs=1.5e-3)  # 1 mm of noise


def test_a_body_that_does_not_move_has_the_errors_of_the_closed_form():
    points, _, _ = trunk(frames=1200)
    found = marker_breath(markers(points), lay_out(markers(points)))
    amplitude = np.linalg.norm(np.ptp(found.mean, axis=0), axis=1) / 2
    position, speed = found.still_errors()
    assert position == pytest.approx(amplitude.mean() * 2 / np.pi, rel=0.01)
    assert speed == pytest.approx(2 * np.pi / PERIOD * amplitude.mean() * 2 / np.pi, rel=0.01)


def test_a_marker_without_a_known_name_counts_where_it_keeps_its_place_on_the_trunk():
    points, _, _ = trunk(frames=600)
    names = [f"m{k}" for k in range(points.shape[1])]
    names[0], names[12], names[24], names[6], names[18] = "STRN", "XIPH", "NAVEL", "T1", "T10"
    points[:, 1] += 0.1 * np.sin(np.arange(600) / 40)[:, None]  # a hand
    points[:, 2] += [0.0, 0.0, 0.6]  # a stand
    used = lay_out(markers(points, names)).used
    assert len(used) == points.shape[1] - 2 and 1 not in used and 2 not in used


# --- files


def text_of(points, kind, unit=1000.0, names=None):
    names = names or [f"M{k}" for k in range(points.shape[1])]
    rows = (points * unit).reshape(len(points), -1)

    def cells(row):
        return ["" if np.isnan(value) else f"{value:.6f}" for value in row]

    if kind == "flat":
        head = ",".join(f"{name} {axis}" for name in names for axis in "XYZ")
        return head + "\n" + "\n".join(",".join(cells(row)) for row in rows)
    if kind == "vicon":
        above = ",," + ",".join(f"{name},," for name in names)
        body = "\n".join(f"{k + 1},0," + ",".join(cells(row)) for k, row in enumerate(rows))
        line = "Frame,Sub Frame," + ",".join(["X,Y,Z"] * len(names))
        units = ",," + ",".join(["mm"] * 3 * len(names))
        return f"Trajectories,,\n{RATE:g},,\n{above}\n{line}\n{units}\n{body}"
    mark = "\t" if kind == "tabs" else ","
    head = [
        mark.join(["PathFileType", "4", "(X/Y/Z)", "a.trc"]),
        mark.join(["DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units"]),
        mark.join([f"{RATE:g}", f"{RATE:g}", str(len(rows)), str(len(names)), "mm"]),
        mark.join(["Frame#", "Time"] + [part for name in names for part in (name, "", "")]),
        mark.join(["", ""] + [f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ"]),
    ]
    body = [mark.join([str(k + 1), f"{k / RATE:.4f}", *cells(row)]) for k, row in enumerate(rows)]
    return "\n".join([*head, "", *body])


@pytest.mark.parametrize("kind, ending", [("flat", "csv"), ("vicon", "csv"), ("tabs", "trc"), ("commas", "trc")])
def test_tables_of_every_kind_read_back(tmp_path, kind, ending):
    points, _, _ = trunk(frames=30)
    points[4, 2] = np.nan
    path = tmp_path / f"a.{ending}"
    path.write_text(text_of(points, kind))
    found = read_markers(path)
    assert found.names[:2] == ("M0", "M1") and found.rate == (None if kind == "flat" else RATE)
    assert np.allclose(found.points, points, atol=1e-8, equal_nan=True)


@pytest.mark.parametrize("unit, factor", [("m", 1.0), ("cm", 100.0), ("mm", 1000.0)])
def test_units_are_guessed_from_the_size_and_can_be_said(tmp_path, unit, factor):
    points, _, _ = trunk(frames=5)
    (tmp_path / "a.csv").write_text(text_of(points, "flat", factor))
    assert np.allclose(read_markers(tmp_path / "a.csv").points, points, atol=1e-6)
    assert np.allclose(read_markers(tmp_path / "a.csv", unit=unit).points, points, atol=1e-6)


def test_columns_in_any_order_with_time_and_other_separators(tmp_path):
    points, _, _ = trunk(frames=20)
    columns = [(f"M{k}_{axis}_mm", points[:, k, place] * 1000) for k in range(36) for place, axis in enumerate("xyz")]
    columns.append(("time", np.arange(20) / RATE))
    order = np.random.default_rng(0).permutation(len(columns))
    head = ";".join(columns[k][0] for k in order)
    rows = [";".join(f"{columns[k][1][f]:.6f}".replace(".", ",") for k in order) for f in range(20)]
    (tmp_path / "a.csv").write_text("\n".join([head, *rows]))
    found = read_markers(tmp_path / "a.csv")
    assert found.rate == pytest.approx(RATE)
    for k in range(36):
        assert np.allclose(found.points[:, found.names.index(f"M{k}")], points[:, k], atol=1e-6)


def write_c3d(path, points, rate=RATE, unit="mm", names=None):
    import ezc3d

    c3d = ezc3d.c3d()
    c3d["parameters"]["POINT"]["RATE"]["value"] = [rate]
    c3d["parameters"]["POINT"]["UNITS"]["value"] = [unit]
    c3d["parameters"]["POINT"]["LABELS"]["value"] = names or [f"M{k}" for k in range(points.shape[1])]
    data = np.ones((4, points.shape[1], len(points)))
    data[:3] = points.transpose(2, 1, 0) * 1000
    c3d["data"]["points"] = data
    c3d.write(str(path))


def test_c3d_reads_back(tmp_path):
    points, _, _ = trunk(frames=25)
    points[3, 5] = np.nan
    write_c3d(tmp_path / "a.c3d", points)
    found = read_markers(tmp_path / "a.c3d")
    assert found.rate == RATE and np.allclose(found.points, points, atol=1e-6, equal_nan=True)


def c3d_bytes(tmp_path):
    write_c3d(tmp_path / "good.c3d", trunk(frames=20)[0])
    return (tmp_path / "good.c3d").read_bytes()


def test_broken_marker_files_are_refused_in_one_line(tmp_path):
    points, _, _ = trunk(frames=20)
    good = c3d_bytes(tmp_path)
    none = bytearray(good)
    none[2:4] = struct.pack("<H", 0)
    gaps = np.full_like(points, np.nan)
    files = {
        "empty.c3d": b"", "text.c3d": b"hello " * 200, "cut.c3d": good[:700], "half.c3d": good[: len(good) // 2],
        "none.c3d": bytes(none), "empty.csv": b"", "words.csv": b"a,b,c\nd,e,f\n", "binary.csv": bytes(range(256)) * 9,
        "head.csv": text_of(points, "flat").split("\n")[0].encode(), "gaps.csv": text_of(gaps, "flat").encode(),
        "zeros.csv": text_of(0 * points, "flat").encode(), "letters.csv": text_of(points, "flat").encode() + b"\nx,y",
        "cut.trc": text_of(points, "tabs").encode()[:120], "other.trc": b"nothing\nof\nthe\nkind\n\n\n",
        "gaps.trc": text_of(gaps, "tabs").encode(), "huge.csv": text_of(points * 1e9, "flat").encode(), "a.xyz": b"1",
    }  # fmt: skip
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        begun = time.perf_counter()
        with pytest.raises(InputError, match=name) as caught:
            read_markers(tmp_path / name)
        assert "\n" not in str(caught.value) and time.perf_counter() - begun < 2


@given(st.binary(max_size=40), st.integers(0, 2500))
def test_noise_in_a_table_never_ends_in_anything_but_a_refusal(tmp_path_factory, noise, at):
    points, _, _ = trunk(frames=3)
    good = text_of(points, "tabs").encode()
    folder = tmp_path_factory.mktemp("fuzz")
    for name in ("f.trc", "f.csv"):
        (folder / name).write_bytes(good[:at] + noise + good[at + len(noise) :])
        try:
            found = read_markers(folder / name)
        except InputError:
            continue
        assert found.points.shape[2] == 3 and not np.isinf(found.points).any()


def test_flipped_bytes_in_a_c3d_never_end_in_anything_but_a_refusal(tmp_path):
    """In a process of its own: the library that reads C3D is compiled code."""
    (tmp_path / "good.c3d").write_bytes(c3d_bytes(tmp_path))
    code = f"""
import numpy as np
from risorius.core.errors import InputError
from risorius.io.markers import read_markers
good = open({str(tmp_path / "good.c3d")!r}, "rb").read()
random = np.random.default_rng(0)
for _ in range(60):
    data = bytearray(good)
    for at in random.integers(2, 512, 2):
        data[at] = random.integers(256)
    open({str(tmp_path / "f.c3d")!r}, "wb").write(data)
    try:
        read_markers({str(tmp_path / "f.c3d")!r})
    except InputError:
        pass
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# --- curves


@pytest.mark.parametrize("quantity, sign", [("belt", 1), ("volume", 1), ("flow", 1), ("belt", -1)])
def test_a_curve_gives_rate_and_depth(quantity, sign):
    time_ = np.arange(0, 60, 0.01)
    volume = 0.25 * (1 - np.cos(2 * np.pi * time_ / 4))
    values = np.gradient(volume, 0.01) if quantity == "flow" else sign * volume
    _, found = curve_breaths(Curve(values, 100.0), quantity, invert=sign < 0)
    assert found.rate == pytest.approx(15, rel=0.01) and np.median(found.depths) == pytest.approx(0.5, rel=0.05)


def test_curve_files(tmp_path):
    time_ = np.arange(0, 30, 0.05)
    values = np.sin(2 * np.pi * time_ / 4)
    np.save(tmp_path / "a.npy", values)
    assert np.array_equal(read_curve(tmp_path / "a.npy", rate=20).values, values)
    rows = "\n".join(f"{t:.3f},{v:.6f},7" for t, v in zip(time_, values, strict=True))
    (tmp_path / "a.csv").write_text("time_s,belt,other\n" + rows)
    found = read_curve(tmp_path / "a.csv")
    assert found.rate == pytest.approx(20) and np.allclose(found.values, values, atol=1e-6)
    assert (read_curve(tmp_path / "a.csv", column="other").values == 7).all()
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "table.npy", np.zeros((5, 5)))
    np.save(tmp_path / "nan.npy", np.full(100, np.nan))
    np.save(tmp_path / "one.npy", np.zeros(1))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:90])
    (tmp_path / "text.npy").write_text("hello")
    for name in ("objects.npy", "table.npy", "nan.npy", "one.npy", "cut.npy", "text.npy"):
        with pytest.raises(InputError, match=name):
            read_curve(tmp_path / name, rate=20)
    for name in ("a.npy", "a.csv"):
        assert analyse(tmp_path / name, rate=20)["rate_per_minute"] == pytest.approx(15, rel=0.02)
    with pytest.raises(InputError, match="--rate"):
        read_curve(tmp_path / "a.npy")
    with pytest.raises(InputError, match="column"):
        read_curve(tmp_path / "a.csv", column="third")


# --- the command and real recordings


def test_the_command_writes_what_it_found(tmp_path):
    points, _, _ = trunk(frames=800)
    write_c3d(tmp_path / "a.c3d", points)
    report = analyse(tmp_path / "a.c3d", tmp_path / "out")
    assert report["rate_per_minute"] == pytest.approx(15, rel=0.01)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"breath.json", "breath.png", "cycle.csv"}
    lines = (tmp_path / "out" / "cycle.csv").read_text().splitlines()
    assert len(lines) == 101 and lines[0].startswith("phase,M0_forward_mm,M0_up_mm,M0_right_mm")
    (tmp_path / "flat.csv").write_text(text_of(points, "flat"))
    command = [sys.executable, "-m", "risorius", "breathe", str(tmp_path / "flat.csv"), "--analyse"]
    bad = subprocess.run(command, capture_output=True, text=True)
    assert bad.returncode == 2 and bad.stderr.count("\n") == 1 and "--rate" in bad.stderr


def test_the_recorded_chest(shared_data):
    """Four breaths, two shallow and two deep; hull volumes as the file's authors give them."""
    folder = shared_data / "markers" / "chestvolume"
    recorded = read_markers(folder / "sample_data.csv", rate=100)
    table = np.genfromtxt(folder / "hull_volume_reference.csv", delimiter=",", names=True)
    volume = 1e3 * hull_volume(recorded.points[table["frame"].astype(int)])
    assert np.abs(volume - table["total_hull_L"]).max() < 1e-9
    report = analyse(folder / "sample_data.csv", rate=100)
    assert report["breaths"] == 4 and report["averaged"] == 2
    assert report["averaged_depth_l"] == pytest.approx(1.85, abs=0.1)
    assert 2.5 < report["still_error_p_all_mm"] < 4.0
    assert {"M01", "M02", "M03", "M28", "M29"} <= set(report["front"])
    assert {"M16", "M17", "M18", "M13", "M14"} <= set(report["back"])


@pytest.mark.parametrize("name, count, rate", [
    ("pyomeca/tests/data/markers_analogs.c3d", 51, 100), ("pyomeca/tests/data/markers.csv", 51, 100),
    ("pyomeca/tests/data/markers.trc", 51, 100), ("pyomeca/tests/data/markers_without_header.csv", 51, None),
    ("walking2.c3d", 44, 250), ("leg39_swing_short.trc", 41, 60),
])  # fmt: skip
def test_real_marker_files_are_read(shared_data, name, count, rate):
    found = read_markers(shared_data / "markers" / name)
    assert len(found.names) == count and found.rate == rate and np.nanmax(np.abs(found.points)) < 10


def test_the_same_recording_from_c3d_and_csv_agrees(shared_data):
    folder = shared_data / "markers" / "pyomeca" / "tests" / "data"
    a, b = read_markers(folder / "markers_analogs.c3d"), read_markers(folder / "markers.csv")
    assert a.names == b.names and np.nanmax(np.abs(a.points - b.points)) < 1e-5


@pytest.mark.parametrize("name, quantity, rate", [("resp1_airflow", "flow", (5, 7)), ("resp3_belt", "belt", (17, 21))])
def test_real_curves(shared_data, name, quantity, rate):
    curve = read_curve(shared_data / "breath" / f"{name}.npy", rate=1000)
    _, found = curve_breaths(curve, quantity)
    assert rate[0] < found.rate < rate[1]
