"""The papers' variants of the model: joints of the ribs, the lung that is read off the motion, table 8.1."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from risorius.anatomy import build
from risorius.app.perform import simulate
from risorius.control.behaviours import behaviour
from risorius.core.errors import InputError
from risorius.core.spec import CHOICES, PRESETS, Spec
from risorius.core.torso import Joint
from risorius.core.units import ATMOSPHERE, CMH2O, LITRE
from risorius.maths.rotations import matrices
from risorius.respiration.boyle import Boyle

LUNG = Boyle(5 * CMH2O / LITRE, 4.5 * CMH2O, 8.2e-4 * ATMOSPHERE / LITRE**2, 0.8, ATMOSPHERE)
CHEST = 5e-3
pytestmark = pytest.mark.xdist_group("torso")


@given(st.fixed_dictionaries({name: st.sampled_from(allowed) for name, allowed in CHOICES.items()}))
def test_a_subject_is_written_and_read_back(variants):
    spec = replace(Spec(), **variants)
    assert Spec.parse(str(spec)) == spec


def test_presets_are_variants_by_one_name():
    for name, variants in PRESETS.items():
        assert Spec.parse(f"female,{name}") == Spec.parse(f"sex=female,preset={name}")
        assert Spec.parse(name) == replace(Spec(), **variants)
    assert Spec.parse("papers,ribs=hinges").ribs == "hinges"


@pytest.mark.parametrize(
    "text", ["preset=cat", "ribs=knee", "lungs=", "male,female", "papers,hinges", "muscles=own,muscles=own"]
)
def test_unknown_variants_are_refused(text):
    with pytest.raises(InputError):
        Spec.parse(text)


# --- the lung that is read off the motion -------------------------------------------------------------------------------


def at_rest(chest):
    """Lung volume where P_lung is the atmosphere's: (P_atm − P_tm(V)) (V_cw − V) = constant."""
    first = LUNG.filled * CHEST
    content = (ATMOSPHERE - LUNG.recoil) * (CHEST - first)

    def excess(volume):
        return (ATMOSPHERE - LUNG.recoil - LUNG.transmural * (volume - first)) * (chest - volume) - content

    return brentq(excess, 0.5 * first, chest)


def test_it_starts_at_eighty_per_cent_and_one_atmosphere():
    time = np.linspace(0.0, 0.1, 6)
    volume, pressure, pleural, flow = LUNG.read_off(time, np.full(6, CHEST), np.ones(6))
    assert volume == pytest.approx(np.full(6, 0.8 * CHEST), rel=1e-9) and abs(pressure).max() < 0.01
    assert pleural == pytest.approx(np.full(6, -LUNG.recoil)) and abs(flow).max() < 1e-4


def test_a_slow_breath_goes_through_states_of_rest():
    time = np.linspace(0.0, 40.0, 401)
    chest = CHEST + 2.5e-4 * (1.0 - np.cos(2 * np.pi * time / 40.0))
    volume, pressure, _, _ = LUNG.read_off(time, chest, np.ones(401))
    assert volume == pytest.approx([at_rest(c) for c in chest], abs=2e-7)
    assert np.abs(pressure).max() < 0.01 * CMH2O


@pytest.mark.parametrize("rate", [5e-4, -5e-4])
@pytest.mark.parametrize("opening", [1.0, 0.3])
def test_flow_follows_the_chest_and_costs_the_square_of_it(rate, opening):
    """ΔP = −k Q|Q|/a²: a chest that widens draws gas in, under pressure below the mouth's."""
    time = np.linspace(0.0, 0.8, 81)
    _, pressure, _, flow = LUNG.read_off(time, CHEST + rate * time, np.full(81, opening))
    assert flow[50:] == pytest.approx(np.full(31, rate), rel=0.02)
    expected = -LUNG.turbulence * flow[50:] * np.abs(flow[50:]) / opening**2
    assert pressure[50:] == pytest.approx(expected, abs=0.02 * CMH2O)


def test_behind_a_shut_glottis_only_boyle_acts():
    time = np.linspace(0.0, 1.0, 101)
    chest = CHEST - 1e-4 * time**2 * (3.0 - 2.0 * time)
    volume, pressure, pleural, flow = LUNG.read_off(time, chest, np.zeros(101))
    assert not flow.any() and (volume == volume[0]).all()
    absolute = (ATMOSPHERE - LUNG.recoil) * (0.2 * CHEST) / (chest - volume)
    assert pleural + ATMOSPHERE == pytest.approx(absolute, rel=1e-9)
    assert pressure == pytest.approx(pleural + LUNG.recoil, abs=1e-6)


# --- joints and muscles ---------------------------------------------------------------------------------------------------


def run(spec, name, seconds=6.0):
    torso, record, _ = simulate(behaviour(name, seconds, papers=spec.muscles == "papers"), spec)
    return torso, record


def test_a_hinged_rib_turns_about_the_lateral_and_the_forward_axis_alone():
    spec = Spec.parse("ribs=hinges")
    torso, record = run(spec, "calm", 3.0)
    for rib in range(1, 13):
        body = torso.bodies.index(f"rib{rib}_r")
        assert torso.bodies.joint[body] == Joint.UNIVERSAL
        spin = matrices(record.rotation)
        seen = np.swapaxes(spin[:, torso.bodies.parent[body]], 1, 2) @ spin[:, body]
        assert np.abs(seen[:, 2, 0]).max() < 1e-9  # R = Rz(pump) Rx(bucket) leaves this corner empty
    pump, bucket = record.signals["rib5_pump_deg"], record.signals["rib5_bucket_deg"]
    assert np.ptp(pump) > 0.3 and np.ptp(bucket) > 0.3


def test_a_free_rib_has_friction_and_nothing_else():
    model = build(Spec.parse("ribs=ball"))
    for body, name in enumerate(model.torso.bodies.names):
        if name.startswith("rib"):
            assert model.torso.bodies.joint[body] == Joint.BALL
            assert model.joints[body].stiffness == (0.0, 0.0, 0.0) and min(model.joints[body].damping) > 0.0


@pytest.mark.parametrize("text", ["ribs=ball", "ribs=hinges", "lungs=boyle"])
def test_every_variant_rests_and_breathes(text):
    spec = Spec.parse(text)
    _, still = run(spec, "rest", 4.0)
    assert np.ptp(still.signals["lung_volume_l"]) < 0.06
    _, breath = run(spec, "calm", 6.0)
    assert 0.4 < np.ptp(breath.signals["lung_volume_l"]) < 1.3


def test_gas_cannot_be_pushed_into_a_lung_that_is_read_off():
    with pytest.raises(InputError, match="two-way"):
        simulate(behaviour("relaxed-curve", 2.0), Spec.parse("papers"))


def test_the_papers_muscles_are_table_8_1():
    model = build(Spec.parse("papers"))
    unit = model.materials["diaphragm"].force / 5.0
    table = {  # k_PE, b_PE, v_max, F_max
        "intercostal_internal": (1.5, 0.05, 1.0, 1.5), "intercostal_external": (1.5, 0.05, 1.0, 1.5),
        "rectus_upper": (100.0, 1.0, 8.0, 8.0), "rectus_middle": (16.0, 0.16, 8.0, 8.0),
        "rectus_lower": (100.0, 1.0, 8.0, 8.0), "oblique": (16.0, 0.16, 8.0, 8.0), "diaphragm": (16.0, 0.16, 5.0, 5.0),
        "rhomboid": (1.0, 0.1, 10.0, 1.0), "serratus_anterior": (10.0, 1.0, 10.0, 1.0),
    }  # fmt: skip
    for group, (passive, damping, speed, force) in table.items():
        found = model.materials[group]
        given_force = found.force / unit
        assert (given_force * found.passive, given_force * found.damping, found.speed, given_force) == pytest.approx(
            (passive, damping, speed, force)
        )
        assert found.law == "hill-paper" and found.rise == found.fall == 0.0


def test_the_papers_preset_breathes_and_laughs():
    spec = Spec.parse("papers")
    _, breath = run(spec, "calm", 8.0)
    late = breath.time > 4.0
    assert 0.6 < np.ptp(breath.signals["lung_volume_l"][late]) < 1.0  # about 800 ml (section 7.2)
    _, laugh = run(spec, "laugh", 3.0)
    for record in (breath, laugh):
        assert record.signals["abdominal_pressure_cmH2O"].min() >= 0.0
        assert np.abs(record.signals["cavity_volume_error_pct"]).max() < 2.0
        assert all(np.isfinite(values).all() for values in record.signals.values())
