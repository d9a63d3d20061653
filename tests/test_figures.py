"""Figures of takes: each says what its take holds, or what is missing."""

import dataclasses

import numpy as np
import pytest

from risorius.core.errors import InputError
from risorius.core.record import Record
from risorius.io.take import Take
from risorius.view.figures import FIGURES, draw_figure, drawn, outline_of, page_figures
from simple_torso import make_record, make_torso

TORSO = make_torso()


def take(amount=1.0):
    record = make_record(TORSO, seconds=4.0, amount=amount)
    volume = record.signals["lung_volume_l"]
    more = {
        "lung_pressure_cmH2O": -record.signals["flow_lps"], "ribcage_volume_l": 0.6 * volume,
        "abdomen_volume_l": 0.4 * volume,
        "sternum_height_mm": 4.0 * (volume - volume[0]),
    }  # fmt: skip
    for rib in range(1, 11):
        more |= {f"rib{rib}_pump_deg": volume / rib, f"rib{rib}_bucket_deg": volume * rib}
    skin = np.repeat(np.asarray(TORSO.skin.vertices)[None], len(record.time), axis=0)
    filled = Record(record.time, record.position, record.rotation, record.points, {**record.signals, **more})
    return Take(TORSO, filled, skin)


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "sound"])
def test_every_figure_is_drawn_from_one_take_and_from_two(tmp_path, name):
    draw_figure(tmp_path / "one.png", name, [("one", take())])
    draw_figure(tmp_path / "two.svg", name, [("one", take()), ("two", take(0.5))])
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG" and b"<svg" in (tmp_path / "two.svg").read_bytes()


def test_curves_are_the_columns():
    one = take()
    figure = drawn("spirogram", [("a", one), ("b", take(0.5))])
    line = figure.axes[0].get_lines()[0]
    assert np.array_equal(line.get_ydata(), one.record.signals["lung_volume_l"])
    loop = drawn("konno-mead", [("a", one)]).axes[0].get_lines()[0]
    assert np.ptp(loop.get_ydata()) == pytest.approx(1.5 * np.ptp(loop.get_xdata()))


def test_a_section_of_a_sphere_is_a_circle():
    skin = TORSO.skin
    pieces = outline_of(np.asarray(skin.vertices), np.asarray(skin.faces))
    ends = np.concatenate(pieces)
    ellipse = (ends[:, 0] / 0.16) ** 2 + ((ends[:, 1] - 0.32) / 0.54) ** 2
    assert len(pieces) >= 46 and ellipse == pytest.approx(1.0, abs=0.02)


def test_what_a_take_does_not_have_is_said(tmp_path):
    bare = dataclasses.replace(take(), record=make_record(TORSO, seconds=1.0))
    with pytest.raises(InputError, match="rib1_pump_deg"):
        draw_figure(tmp_path / "ribs.png", "ribs", [("bare", bare)])
    with pytest.raises(InputError, match="sound"):
        draw_figure(tmp_path / "sound.png", "sound", [("bare", bare)])
    with pytest.raises(InputError, match="spirogram"):
        draw_figure(tmp_path / "x.png", "dance", [("bare", bare)])
    assert not list(tmp_path.iterdir())
    assert len(page_figures(take())) == 5
