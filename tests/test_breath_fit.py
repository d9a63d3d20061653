"""A breath fitted to markers: what is planted comes back; markers ride on the skin; files round trip."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from risorius.app.breathe import marker_breath
from risorius.app.breathe_fit import errors, fit_markers_to_torso, tides
from risorius.app.marker_export import places_of
from risorius.app.retrain import between, target_breath, targets
from risorius.control.control import Channel, Control
from risorius.control.curves import Linear
from risorius.core.errors import InputError
from risorius.core.markers import Markers
from risorius.core.record import Record
from risorius.core.spec import Spec
from risorius.inverse.breath.answer import Answer, SeenMarkers, SeenVolume
from risorius.inverse.breath.drive import FOUR, ONSET, breath_control, knobs, shape
from risorius.inverse.breath.fit import Misfit, timing, unknowns_of
from risorius.inverse.markers.breaths import harmonics_of, idealised
from risorius.inverse.markers.layout import lay_out
from risorius.inverse.markers.place import place, turned
from risorius.inverse.markers.subject import body, subject_of
from risorius.inverse.markers.virtual import VirtualMarkers
from risorius.inverse.search.executors import Processes, Serial
from risorius.inverse.search.least_squares import Unknowns, solve
from risorius.io.markers import read_markers
from risorius.io.markers_out import write_csv, write_trc
from risorius.skin.binding import apply_exact
from risorius.view.lessons import COLUMNS, write_lessons

MAN = Spec()


# --- the optimiser


@dataclass(frozen=True)
class Wave:
    """A curve that depends on its three numbers in a crooked way."""

    goal: tuple[float, ...] = (0.0, 0.0, 0.0)

    def __call__(self, values):
        t = np.linspace(0.0, 6.0, 200)
        a, b, c = values
        u, v, w = self.goal
        return a * np.sin((1.0 + b) * t) + np.exp(c * t / 6.0) - u * np.sin((1.0 + v) * t) - np.exp(w * t / 6.0)


def unknowns(low=-2.0, high=2.0, spread=1.0):
    one = np.ones(3)
    return Unknowns(low * one, high * one, 0.0 * one, spread * one, 1e-4 * one)


def test_least_squares_find_what_was_planted_and_the_prior_fades():
    goal = (0.7, 0.3, -0.4)
    found = solve(Wave(goal), np.full(3, 0.2), unknowns(), Serial(), rounds=12, settled=1e-12)
    assert np.allclose(found.values, goal, atol=1e-5) and found.cost < 1e-10


def test_least_squares_stay_within_bounds_and_never_get_worse():
    found = solve(Wave((1.5, 0.3, -0.4)), np.full(3, 0.2), unknowns(high=0.5), Serial(), rounds=8)
    assert found.values.max() <= 0.5 and found.values[0] == pytest.approx(0.5)
    assert all(later <= earlier for earlier, later in zip(found.history, found.history[1:], strict=False))


def test_processes_solve_as_one_process_does():
    alone = solve(Wave((0.7, 0.3, -0.4)), np.full(3, 0.2), unknowns(), Serial(), rounds=2)
    with Processes(2) as executor:
        spread = solve(Wave((0.7, 0.3, -0.4)), np.full(3, 0.2), unknowns(), executor, rounds=2)
    assert np.array_equal(alone.values, spread.values)


# --- what is driven


def test_without_bulge_a_breath_is_the_papers_sawtooth():
    values = {"diaphragm": 0.4, "lead": 0.1, "rise": 0.4, "fall": 0.3}
    control = breath_control(values, 5.0, 20.0)
    times = 5.0 + 0.5 + 5.0 * np.array([0.0, 0.2, 0.4, 0.55, 0.7, 0.9])
    assert np.allclose(control.excitation(("diaphragm",), times)[:, 0], 0.4 * np.array([0, 0.5, 1, 0.5, 0, 0]))


@pytest.mark.parametrize("bulge", [-1.0, -0.3, 0.0, 0.6, 1.0])
def test_a_breaths_curve_stays_between_nothing_and_its_amplitude(bulge):
    parts, values = np.array(shape(0.4, 0.9, bulge, bulge)).T
    assert (np.diff(parts) > 0).all() and parts[-1] <= 1.0
    assert values.min() >= 0.0 and values.max() == pytest.approx(1.0)


def test_a_curve_is_its_harmonics():
    at = np.arange(100) / 100
    breath = np.stack([np.sin(2 * np.pi * at) + 0.3 * np.cos(6 * np.pi * at)] * 40, axis=1)
    noisy = breath + 0.05 * np.random.default_rng(0).standard_normal(breath.shape)
    count = harmonics_of(noisy, 5.0)
    assert count == 3
    assert np.allclose(idealised(breath, count), breath, atol=1e-12)
    assert np.abs(idealised(noisy, count) - breath).std() < 0.35 * 0.05


# --- markers on a skin


def rest_record(torso, frames=2):
    """A torso that does nothing."""
    bodies = len(torso.bodies.names)
    turn = np.zeros((frames, bodies, 4))
    turn[..., 0] = 1.0
    points = np.repeat(np.asarray(torso.surface.points)[None], frames, axis=0)
    return Record(np.arange(frames) / 25.0, np.zeros((frames, bodies, 3)), turn, points)


def test_virtual_markers_are_the_skin_where_they_sit():
    on = body(MAN)
    places = places_of(on.torso)
    markers = VirtualMarkers.of(on.binding, on.torso, places)
    record = rest_record(on.torso)
    record.points += 0.01 * np.random.default_rng(1).standard_normal(record.points.shape)
    record.position[1, :, 1] += 0.03
    whole = places.on(apply_exact(on.binding, np.asarray(on.torso.skin.vertices), on.torso, record))
    assert np.allclose(markers.read(on.torso, record), whole, atol=1e-12)


@pytest.mark.parametrize("named", [True, False])
def test_a_cloud_taken_off_a_skin_finds_its_way_back(named):
    on = body(MAN)
    places = places_of(on.torso)
    cloud = places.on(np.asarray(on.torso.skin.vertices))
    cloud = cloud @ turned(np.array([0.05, -0.1, 0.04])).T + np.array([0.3, 1.1, -0.2])
    landmark = [name if named and name in ("sternum", "xiphoid", "navel") else "" for name in places.names]
    found = place(cloud, places.names, landmark, on.trunk)
    back = cloud @ found.rotation.T + found.shift
    assert found.rms < 1e-3
    assert np.linalg.norm(back - places.on(np.asarray(on.torso.skin.vertices)), axis=1).mean() < 8e-3


@pytest.mark.parametrize(
    "spec",
    ["sex=male,stature=1.88,mass=90", pytest.param("sex=male,stature=1.64,mass=72", marks=pytest.mark.nightly)],
)
def test_the_subject_is_scaled_to_the_markers(spec):
    truth = Spec.parse(spec)
    torso = body(truth).torso
    places = places_of(torso)
    found = subject_of(places.on(np.asarray(torso.skin.vertices)), places.names, [""] * len(places.names), MAN)
    assert abs(found.stature - truth.stature) < 0.6 * abs(MAN.stature - truth.stature)
    assert found.bmi == pytest.approx(truth.bmi, abs=2.0)


def test_a_cloud_that_lies_on_no_trunk_is_refused():
    cloud = np.random.default_rng(2).normal(size=(12, 3)) * 0.6
    with pytest.raises(InputError, match="lie on a trunk"):
        place(cloud, [str(k) for k in range(12)], [""] * 12, body(MAN).trunk)


# --- figures


def test_errors_of_a_torso_that_follows_half_way_are_half_of_a_still_ones():
    recorded = np.random.default_rng(3).normal(size=(50, 6, 3)) * 1e-3
    report = errors(0.5 * recorded, recorded, 4.0, "all")
    assert report["error_p_all_part"] == pytest.approx(0.5, abs=1e-3)
    assert report["error_v_all_part"] == pytest.approx(0.5, abs=1e-3)
    corner = np.array([[x, y, z] for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.1)])
    swell = (corner - 0.05) * (0.5 - 0.5 * np.cos(np.arange(20) / 20 * 2 * np.pi))[:, None, None]
    assert tides(corner, swell, swell)["tidal_hull_l"] == pytest.approx(8.0 - 1.0)
    assert tides(corner, swell, 0 * swell)["tidal_hull_part"] == 0.0


# --- files


@pytest.mark.parametrize("ending, write", [("trc", write_trc), ("csv", write_csv)])
def test_markers_written_are_markers_read(tmp_path, ending, write):
    points = np.random.default_rng(5).normal(size=(20, 4, 3))
    points[3, 1] = np.nan
    write(tmp_path / f"m.{ending}", ("a", "b", "c d", "e"), points, 50.0)
    read = read_markers(tmp_path / f"m.{ending}")
    assert read.names == ("a", "b", "c d", "e") and read.rate == pytest.approx(50.0)
    assert np.allclose(read.points, points, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize(
    "text, message",
    [("", "expected columns"), ("name,height,angle\na,0.5\n", "2 numbers"), ("name,height,angle\na,3,0\n", "height"),
     ("name,x_mm,y_mm,z_mm\na,nan,0,0\n", "3 numbers"), ("name,height,angle\n", "at least one")],
)  # fmt: skip
def test_a_wrong_table_of_places_is_named(tmp_path, text, message):
    (tmp_path / "places.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        places_of(body(MAN).torso, tmp_path / "places.csv")


# --- the torso


def test_four_planted_amplitudes_come_back():
    on = body(MAN)
    seen = SeenMarkers(VirtualMarkers.of(on.binding, on.torso, places_of(on.torso)), 10)
    truth = {"intercostal_external": 0.35, "diaphragm": 0.12, "intercostal_internal": 0.08, "abdomen": 0.04}
    answer = Answer(MAN, "upright", 4.0, seen)
    base = timing(0.38)
    moved = answer({**base, **truth})
    recorded = moved - moved.mean(axis=0)
    misfit = Misfit(answer, FOUR, base, recorded, len(recorded) / 4.0)
    found = solve(misfit, np.full(4, 0.1), unknowns_of(FOUR, base), Serial(), rounds=4)
    for name, value in zip(FOUR, found.values, strict=True):
        assert abs(value - truth[name]) <= max(0.05 * truth[name], 0.02), name
    assert found.cost < 1e-3


def test_a_settled_breath_is_what_a_long_run_comes_to():
    answer = Answer(MAN, "upright", 4.0, SeenVolume())
    values = {**timing(0.38), "diaphragm": 0.1, "intercostal_external": 0.2}
    short = answer(values)[:, 0]
    from risorius.app.perform import simulate

    control = replace(breath_control(values, 4.0, 16.0), frames=12.5)
    _, record, _ = simulate(control, MAN)
    moments = (2 + ONSET + np.arange(50) / 50) * 4.0
    long = np.interp(moments, record.time, record.signals["lung_volume_l"])
    assert np.ptp(short) == pytest.approx(np.ptp(long), rel=0.02)
    assert np.abs((short - short.mean()) - (long - long.mean())).max() < 0.02 * np.ptp(long)


@pytest.mark.nightly
@pytest.mark.parametrize("missing, part, least", [(0.0, 0.05, 0.02), (1 / 3, 0.10, 0.03)])
def test_planted_activations_come_back_from_noisy_markers(missing, part, least):
    from risorius.app.perform import simulate
    from risorius.skin.binding import apply

    truth = {"intercostal_external": 0.30, "diaphragm": 0.15, "intercostal_internal": 0.10, "abdomen": 0.05}
    period, random = 4.4, np.random.default_rng(11)
    into = Linear(points=((0.0, 0.0), (1.8, 1.0), (3.0, 0.0), (4.4, 0.0)), period=period)
    out = Linear(points=((0.0, 0.0), (1.8, 0.0), (3.0, 1.0), (4.4, 0.0)), period=period)
    curves = {"intercostal_external": into, "diaphragm": into, "intercostal_internal": out, "abdomen": out}
    control = Control(tuple(Channel(n, (curves[n],), v) for n, v in truth.items()), 30.0, frames=50.0)
    torso, record, _ = simulate(control, MAN)
    on = body(MAN)
    places = places_of(torso)
    points = places.on(apply(on.binding, np.asarray(torso.skin.vertices), torso, record)).astype(float)
    points += 1e-3 * random.standard_normal(points.shape)
    kept = sorted(random.permutation(len(places.names))[: round(len(places.names) * (1 - missing))])
    markers = Markers(tuple(places.names[k] for k in kept), points[:, kept], 50.0)
    fitted = fit_markers_to_torso(marker_breath(markers, lay_out(markers)), MAN, "upright", lambda _n, _p: None)
    for name, row in fitted.report["activations"].items():
        if knobs()[name].high == 1.0:
            assert abs(row["value"] - truth.get(name, 0.0)) <= max(part * truth.get(name, 0.0), least), name
    assert fitted.report["error_p_all_part"] < 0.15


# --- the command


def run(*words):
    return subprocess.run(
        [sys.executable, "-m", "risorius", "breathe", *map(str, words)], capture_output=True, text=True
    )


def test_a_leg_is_no_chest(shared_data):
    done = run(shared_data / "markers/leg39_swing_short.trc", "-o", "nowhere/out")
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_a_take_wants_a_folder(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,3\n")
    done = run(tmp_path / "a.csv")
    assert done.returncode == 2 and "-o DIR" in done.stderr


def test_the_layout_that_ships_names_the_trunk():
    places = places_of(body(MAN).torso)
    assert len(places.names) == 34 and len(set(places.names)) == 34
    assert json.dumps(places.names)
    height = places.on(np.asarray(body(MAN).torso.skin.vertices))[:, 1]
    assert height[places.names.index("sternum")] > height[places.names.index("navel")]


# --- retraining


def test_the_way_from_one_breath_to_another_begins_and_ends_with_them():
    goal, period = target_breath("abdominal")
    own = {**timing(0.4), "intercostal_external": 0.3}
    assert between(own, goal, 0.0) == own and between(own, goal, 1.0) == goal
    assert period == pytest.approx(5.0) and goal["diaphragm"] > 0.0 and goal["intercostal_external"] == 0.0


@pytest.mark.parametrize("name", targets())
def test_every_style_is_a_breath_within_its_bounds(name):
    values, period = target_breath(name)
    assert all(knobs()[key].low <= value <= knobs()[key].high for key, value in values.items())
    groups = body(MAN).torso.groups
    driven = breath_control(values, period, period).excitation(groups, np.linspace(0, period, 50))
    assert driven[:, groups.index("diaphragm")].max() <= values["diaphragm"] + 1e-12


def test_an_unknown_target_is_refused():
    with pytest.raises(InputError, match="abdominal"):
        target_breath("yoga")


def test_the_page_of_lessons_holds_every_step(tmp_path):
    time = np.linspace(0, 8, 50)
    names = ("lung_volume_l", "ribcage_volume_l", "abdomen_volume_l")
    curves = [{"time_s": time, **{name: np.sin(time) for name in names}}] * 3
    row = dict.fromkeys(COLUMNS, 1.0)
    write_lessons(tmp_path / "index.html", "A & B", [{"take": f"step-{k}", **row} for k in range(3)], curves)
    text = (tmp_path / "index.html").read_text()
    assert text.count("<tr data-step") == 3 and "A &amp; B" in text and "http" not in text.replace("http-", "")


def test_some_of_the_markers_stay_what_they_were():
    time = np.arange(0, 24, 0.04)
    rest = places_of(body(MAN).torso).on(np.asarray(body(MAN).torso.skin.vertices))
    swell = (
        0.02 * (0.5 - 0.5 * np.cos(2 * np.pi * time / 4))[:, None, None] * np.clip(rest[:, :1], 0, 1) / 0.1 * [1, 0, 0]
    )
    recorded = Markers(tuple(f"m{k}" for k in range(len(rest))), rest + swell, 25.0)
    whole = marker_breath(recorded, lay_out(recorded))
    kept = np.arange(len(whole.names)) % 3 > 0
    part = whole.only(kept)
    assert part.names == tuple(np.array(whole.names)[kept]) and part.mean.shape[1] == kept.sum()
    chosen = recorded.chosen([whole.layout.used[k] for k in np.flatnonzero(kept)])
    alone = marker_breath(chosen, lay_out(chosen))
    reach = [np.linalg.norm(one.mean - one.mean.mean(axis=0), axis=2).max(axis=0) for one in (part, alone)]
    assert np.allclose(*reach, atol=4e-4) and reach[0].max() > 4e-3  # whichever way either looks
