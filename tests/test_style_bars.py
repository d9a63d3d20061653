"""What the styles measure against the bars of breathing, laughing and coughing; drives are tuned in `control/data` alone.

`risorius lab styles` prints the same figures.
"""

import numpy as np
import pytest

from risorius.anatomy import build
from risorius.app.styles import measured_styles
from risorius.control.behaviours import Knobs, behaviour
from risorius.control.bind import bind
from risorius.core.spec import reference
from risorius.sim.run import Simulation
from risorius.sim.signals import record_of

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("torso")]

BREATHING = ("calm", "casual", "deep", "pant", "abdominal", "chest", "combined", "paradox")
LAUGHS = ("giggle", "laugh", "belly-laugh")


@pytest.fixture(scope="module")
def figures():
    return measured_styles((*BREATHING, *LAUGHS, "cough", "sneeze", "forced-expiration"))


def test_breathing_styles(figures):
    casual, deep, calm, pant = (figures[name] for name in ("casual", "deep", "calm", "pant"))
    assert casual["rate_per_min"] == pytest.approx(15.0, rel=0.02) and casual["tidal_l"] == pytest.approx(0.5, rel=0.1)
    assert deep["tidal_l"] >= 3.0 * calm["tidal_l"]
    assert pant["rate_per_min"] >= 60.0 and pant["tidal_l"] < 0.8 * calm["tidal_l"] and pant["ribcage_share"] > 0.8
    belly = figures["abdominal"]
    assert belly["tidal_l"] == pytest.approx(0.5, rel=0.1) and belly["sternum_ap_mm"] <= 2.0
    assert belly["umbilicus_ap_mm"] >= 8.0 and belly["sternum_ap_mm"] <= 0.15 * belly["umbilicus_ap_mm"]


def test_paradox(figures):
    assert 0.4 <= figures["paradox"]["tidal_l"] / figures["calm"]["tidal_l"] <= 0.6
    assert figures["paradox"]["umbilicus_mm_per_l"] < 0.0  # the belly goes in while the breath does


def test_combined_breathing_at_three_rates(figures):
    from risorius.app.styles import breathing

    model = build(reference("male"))
    ready = Simulation.of(model)
    assert figures["combined"]["minute_l"] == pytest.approx(21.0, rel=0.25)
    for rate, minute in ((20.0, 11.0), (24.0, 17.0)):
        control = behaviour("combined", 16.0, knobs=Knobs(rate=rate))
        measured = breathing(record_of(model, ready.copy().perform(bind(control, model), 100.0)).signals)
        assert measured["minute_l"] == pytest.approx(minute, rel=0.25)


def test_laughs_grow(figures):
    giggle, laugh, deep = (figures[name] for name in LAUGHS)
    for less, more in ((giggle, laugh), (laugh, deep)):
        for name in ("pressure_peak_cmH2O", "pressure_beat_cmH2O", "umbilicus_mm", "sternum_mm"):
            assert more[name] >= 1.5 * less[name], name
    for each in (giggle, laugh, deep):
        assert each["beat_hz"] == pytest.approx(5.0, abs=0.2) and each["volume_fall_l"] > 0.4
    assert 1.15 <= laugh["volume_fall_l"] <= 1.95 and deep["sternum_tilt_deg"] >= 3.0


@pytest.mark.parametrize("name", ["cough", "sneeze"])
def test_bursts(figures, name):
    burst = figures[name]
    assert 0.1 <= burst["shut_s"] <= 0.35
    assert 5.0 <= burst["peak_flow_lps"] <= 11.0
    assert burst["flow_before_abdominal_peak_s"] > 0.0
    assert 130.0 <= burst["abdominal_peak_cmH2O"] <= 300.0


def test_forced_expiration_is_a_healthy_one(figures):
    forced = figures["forced-expiration"]
    assert 0.75 <= forced["fev1_part"] <= 0.88 and 0.59 <= forced["fef50_per_s"] <= 1.26


@pytest.mark.parametrize(
    ("name", "pressure", "flow"),
    [("blow", (4.0, 20.0), (0.3, 1.2)), ("whistle", (2.0, 10.0), (0.1, 0.4)), ("speak", (2.0, 9.0), (0.1, 0.8))],
)
def test_voice_and_lips_work_at_the_pressures_and_flows_of_people(name, pressure, flow):
    """Middle of the breath group, physiology survey section 5.4."""
    model = build(reference("male"))
    control = behaviour(name, 5.0)
    signals = record_of(model, Simulation.of(model).perform(bind(control, model), control.frames)).signals
    middle = (signals["time_s"] > 2.6) & (signals["time_s"] < 4.4)
    assert pressure[0] < np.median(signals["lung_pressure_cmH2O"][middle]) < pressure[1]
    assert flow[0] < -np.median(signals["flow_lps"][middle]) < flow[1]


def test_a_burp_lets_no_gas_out_of_the_lung():
    model = build(reference("male"))
    control = behaviour("burp", 2.2)
    signals = record_of(model, Simulation.of(model).perform(bind(control, model), control.frames)).signals
    shut = signals["glottis_area_cm2"] == 0.0
    assert shut.sum() > 50 and not signals["flow_lps"][shut].any()
    assert np.ptp(signals["abdominal_pressure_cmH2O"][shut]) > 10.0
