"""Sounds: what is planted is heard; level, rate and hum do not matter; broken files are refused in one line."""

import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal

from risorius.core.errors import InputError
from risorius.core.hearing import Inhalation
from risorius.core.sound import Sound
from risorius.inverse.sound.clipping import unclipped
from risorius.inverse.sound.hear import hear
from risorius.inverse.sound.kind import CARDS, Ramp, kind_of
from risorius.inverse.sound.target import breathing_in, suction
from risorius.io.sound import read_sound, write_sound
from risorius.maths.signals import envelope, low_pass, runs
from risorius.maths.spectra import frames_of
from risorius.respiration.utterances import LaughPlan, babble, breathing, cough, laugh, sneeze

LAUGH = laugh(seed=3)


def times_of(found):
    return np.array([call.peak for call in found.calls])


# --- the parts


def test_the_low_pass_has_the_gain_and_delay_of_a_first_order_one():
    rate, cutoff = 2000.0, 10.0
    time_ = np.arange(8000) / rate
    for frequency in (2.0, 10.0, 40.0):
        out = low_pass(np.sin(2 * np.pi * frequency * time_), rate, cutoff)[4000:]
        assert np.ptp(out) / 2 == pytest.approx(1 / np.hypot(1, frequency / cutoff), rel=2e-3)


def test_the_envelope_of_a_tone_is_its_mean_modulus():
    tone = 0.7 * np.sin(2 * np.pi * 900 * np.arange(16000) / 16000)
    assert envelope(tone, 16000.0, 10.0, 200.0)[100:].mean() == pytest.approx(0.7 * 2 / np.pi, rel=1e-3)


@given(st.lists(st.booleans(), max_size=60))
def test_runs_cover_exactly_what_is_true(flags):
    flags = np.array(flags, dtype=bool)
    again = np.zeros(len(flags), dtype=bool)
    for first, last in runs(flags):
        assert last > first and flags[first:last].all()
        again[first:last] = True
    assert np.array_equal(again, flags)


@pytest.mark.parametrize("pitch", [90.0, 210.0, 440.0, 800.0])
def test_harmonicity_tells_a_buzz_from_noise_and_finds_its_pitch(pitch):
    rate = 16000.0
    buzz = sum(np.sin(2 * np.pi * pitch * k * np.arange(8000) / rate) / k for k in range(1, 6))
    settings = {"window": 0.04, "hop": 0.01, "edges": (80.0, 500.0, 3600.0), "pitch_range": (75.0, 1050.0)}
    found = frames_of(buzz, rate, **settings)
    assert np.median(found.harmonicity[5:-5]) > 0.95
    assert np.median(found.pitch[5:-5]) == pytest.approx(pitch, rel=0.01)
    noise = frames_of(np.random.default_rng(0).standard_normal(8000), rate, **settings)
    assert np.median(noise.harmonicity) < 0.4 and np.median(noise.flatness) > 3 * np.median(found.flatness)


# --- what was planted


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sex", ["male", "female"])
def test_planted_calls_bouts_and_rate_are_found(seed, sex):
    plan = LaughPlan(bouts=(8, 5, 6), rate=4.3 + 0.5 * seed, sex=sex)
    made = laugh(plan, seed=seed)
    found = hear(made.sound)
    assert found.kind == "laugh" and not found.muddy
    assert len(found.calls) == len(made.times) and len(found.bouts) == len(made.bouts)
    assert np.abs(times_of(found) - made.times).max() < 0.015
    true = 1 / np.median(np.concatenate([np.diff(made.times[a : b + 1]) for a, b in made.bouts]))
    assert found.call_rate == pytest.approx(true, rel=0.05) and found.beat_rate == pytest.approx(true, rel=0.1)
    for start, end in made.breaths:
        assert any(breath.start < 0.5 * (start + end) < breath.end for breath in found.inhalations)


@pytest.mark.parametrize("rate", [3.2, 5.0, 7.0])
def test_slow_and_fast_laughs_keep_their_rate(rate):
    made = laugh(LaughPlan(rate=rate, bouts=(7, 6)), seed=1)
    assert hear(made.sound).call_rate == pytest.approx(rate, rel=0.1)


def test_calls_are_cut_in_their_valleys():
    found = hear(LAUGH.sound)
    for bout in found.bouts:
        for left, right in zip(found.calls[bout.first : bout.last], found.calls[bout.first + 1 : bout.last + 1]):
            assert left.end == right.start
            middle = 0.5 * (left.peak + right.peak)
            assert abs(left.end - middle) < 0.25 * (right.peak - left.peak)


@pytest.mark.parametrize("rate", [8, 12, 15, 20, 24, 40])
def test_breathing_at_a_known_rate_is_found_within_one(rate):
    found = hear(breathing(rate, seed=rate).sound)
    assert found.kind == "breathing" and abs(found.breathing_rate - rate) < 1


def test_breaths_in_draw_and_breaths_out_push():
    made = breathing(12, seed=4)
    target = hear(made.sound).target
    for start, end in made.breaths[1:-1]:
        inside = (target.time > start + 0.4) & (target.time < end - 0.4)
        assert target.pressure[inside].mean() < 0


def test_a_louder_breath_is_a_deeper_one():
    made = breathing(15, seed=2)
    time_ = np.arange(len(made.sound.samples)) / made.sound.rate
    louder = np.where((time_ > made.breaths[3][0] - 0.1) & (time_ < made.breaths[3][1] + 0.1), 3.0, 1.0)
    found = hear(Sound(made.sound.samples * louder, made.sound.rate))
    depth = {phase.start: phase.depth for phase in found.phases if phase.inward}
    deepest = max(depth, key=lambda start: depth[start])
    assert abs(deepest - made.breaths[3][0]) < 0.5 and depth[deepest] > 1.4
    assert np.mean(list(depth.values())) == pytest.approx(1.0)


def test_coughs_and_a_sneeze_are_told_and_build_pressure_before_their_sound():
    made = cough([0.6, 1.3, 2.5])
    found = hear(made.sound)
    assert found.kind == "cough" and np.abs(times_of(found) - [0.6, 1.3, 2.5]).max() < 0.08
    before = found.target.at(np.array([0.6 - 0.08]))
    assert before > 5 and found.target.at(np.array([0.3])) < 1  # the glottis is shut, the sound not there yet
    assert hear(sneeze().sound).kind == "sneeze"


def test_babble_is_speech_more_often_than_not():
    kinds = [hear(babble(seed=seed, sex=sex).sound).kind for seed in range(4) for sex in ("male", "female")]
    assert kinds.count("speech") >= 6


@pytest.mark.parametrize("colour", ["white", "hum", "silence", "click"])
def test_what_is_none_of_them_is_none(colour):
    random, time_ = np.random.default_rng(2), np.arange(44100 * 2) / 44100
    samples = {
        "white": random.standard_normal(len(time_)),
        "hum": np.sin(2 * np.pi * 50 * time_),
        "silence": np.zeros(len(time_)),
        "click": (np.arange(len(time_)) % 11025 == 5000).astype(float),
    }[colour]
    found = hear(Sound(samples, 44100.0))
    assert found.kind == "none" and found.reason


# --- what must not matter


def changed(name, samples, rate):
    random = np.random.default_rng(5)
    time_ = np.arange(len(samples)) / rate
    if name == "quiet":
        return samples * 1e-4
    if name == "offset":
        return samples + 0.2
    if name == "hum":
        return samples + 0.08 * (np.sin(2 * np.pi * 50 * time_) + 0.5 * np.sin(2 * np.pi * 150 * time_ + 1))
    if name == "noise":
        return samples + 0.01 * random.standard_normal(len(samples))
    if name == "clipped":
        return np.clip(4 * samples, -1, 1)
    return np.concatenate([np.zeros(int(rate)), samples, np.zeros(int(rate))])


@pytest.mark.parametrize("name", ["quiet", "offset", "hum", "noise", "clipped", "padded"])
def test_level_offset_hum_noise_clipping_and_silence_do_not_matter(name):
    found = hear(Sound(changed(name, LAUGH.sound.samples, LAUGH.sound.rate), LAUGH.sound.rate))
    shift = 1.0 if name == "padded" else 0.0
    assert found.kind == "laugh" and len(found.calls) == len(LAUGH.times)
    assert np.abs(times_of(found) - shift - LAUGH.times).max() < 0.02


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 48000, 96000])
def test_the_sample_rate_does_not_matter(rate):
    found = hear(LAUGH.sound.at(rate))
    reference = hear(LAUGH.sound)
    assert found.kind == "laugh" and len(found.calls) == len(reference.calls)
    both = reference.target.at(found.target.time)
    assert np.sqrt(((found.target.pressure - both) ** 2).mean()) < 0.05 * both.max()


def test_a_muddy_track_gets_the_stronger_filter_by_itself():
    random = np.random.default_rng(7)
    tail = random.standard_normal(int(0.35 * 44100)) * np.exp(-np.arange(int(0.35 * 44100)) / (0.12 * 44100))
    wet = signal.fftconvolve(LAUGH.sound.samples, tail / np.sqrt((tail**2).sum()))
    murmur = signal.sosfilt(
        signal.butter(2, (200, 1500), "band", fs=44100, output="sos"), random.standard_normal(len(wet))
    )
    found = hear(Sound(wet / np.abs(wet).max() + 0.25 * murmur, 44100.0))
    assert found.muddy and found.kind == "laugh"
    assert found.call_rate == pytest.approx(4.7, rel=0.1)


# --- the target


def test_the_target_follows_the_envelope_linearly_within_bouts_whatever_the_level():
    found = hear(LAUGH.sound)
    b, a = signal.butter(1, 10, fs=LAUGH.sound.rate)
    smooth = signal.lfilter(b, a, np.abs(LAUGH.sound.samples))
    at = np.arange(len(smooth)) / LAUGH.sound.rate
    inside = np.zeros(len(found.target.time), dtype=bool)
    for bout in found.bouts:
        inside |= (found.target.time >= bout.start) & (found.target.time <= bout.end)
    sound = np.interp(found.target.time, at, smooth)
    assert np.corrcoef(sound[inside], found.target.pressure[inside])[0, 1] > 0.92
    quiet = hear(Sound(LAUGH.sound.samples * 0.01, LAUGH.sound.rate))
    assert np.allclose(quiet.target.pressure, found.target.pressure, atol=0.05)


def test_mean_peak_and_intensity_are_as_asked():
    one, half = hear(LAUGH.sound), hear(LAUGH.sound, intensity=0.5)
    peaks = [one.target.pressure[(one.target.time >= c.start) & (one.target.time <= c.end)].max() for c in one.calls]
    assert np.mean(peaks) == pytest.approx(25.0, rel=0.05)
    assert np.allclose(half.target.pressure, 0.5 * one.target.pressure)
    assert one.target.pressure.min() < 0 < one.target.pressure.max()


def test_an_inhalation_draws_its_volume_by_rohrers_airway():
    breath = Inhalation(0.5, 1.1, 0.9)
    time_ = np.linspace(0, 2, 4001)
    assert np.trapezoid(breathing_in(time_, breath), time_) == pytest.approx(0.9, rel=1e-4)
    flow = breathing_in(time_, breath).max()
    assert suction(time_, breath).max() == pytest.approx(1.0 * flow + 0.4 * flow**2)


def test_the_same_seed_gives_the_same_sound_and_another_another():
    assert np.array_equal(laugh(seed=3).sound.samples, LAUGH.sound.samples)
    assert not np.array_equal(laugh(seed=4).sound.samples[:1000], LAUGH.sound.samples[:1000])


def test_ramps_and_kinds():
    assert Ramp(1.0, 3.0)(2.0) == 0.5 and Ramp(3.0, 1.0)(2.5) == 0.25 and Ramp(0.0, 1.0)(9.0) == 1.0
    nothing = dict.fromkeys(CARDS, 0.0)
    assert kind_of(nothing) == "none"
    assert kind_of({**nothing, "laugh": 0.6, "cough": 0.7}) == "laugh"
    assert kind_of({**nothing, "laugh": 0.6, "cough": 0.9}) == "cough"
    assert kind_of({**nothing, "laugh": 0.4, "cough": 0.5}) == "cough"


# --- files


@pytest.mark.parametrize("ending", ["wav", "flac", "ogg", "mp3"])
def test_every_format_reads_back(tmp_path, ending):
    path = tmp_path / f"laugh.{ending}"
    write_sound(path, LAUGH.sound)
    again = read_sound(path)
    assert again.rate == LAUGH.sound.rate and again.seconds == pytest.approx(LAUGH.sound.seconds, abs=0.06)
    assert len(hear(again).calls) == len(LAUGH.times)


def test_channels_are_averaged(tmp_path):
    import soundfile

    left = LAUGH.sound.samples
    soundfile.write(tmp_path / "two.wav", np.stack([left, np.zeros_like(left)], 1), 44100, subtype="FLOAT")
    assert np.allclose(read_sound(tmp_path / "two.wav").samples, 0.5 * left, atol=1e-6)


def wav(samples, rate=8000, claimed=None, kind=3, bits=32):
    data = np.asarray(samples, dtype="<f4").tobytes()
    size = len(data) if claimed is None else claimed
    head = b"RIFF" + struct.pack("<I", min(36 + size, 2**32 - 1)) + b"WAVEfmt " + struct.pack(
        "<IHHIIHH", 16, kind, 1, rate, rate * bits // 8, bits // 8, bits
    )  # fmt: skip
    return head + b"data" + struct.pack("<I", size) + data


BROKEN = {
    "empty.wav": b"",
    "text.wav": b"this is a letter and no sound\n" * 20,
    "one.wav": wav([0.5]),
    "nan.wav": wav([0.1, np.nan] * 4000),
    "infinite.wav": wav([0.1, np.inf] * 4000),
    "header.wav": wav([0.1] * 8000)[:20],
    "rate.wav": wav([0.1] * 8000, rate=1),
    "no_samples.wav": wav([]),
    "cut.flac": b"fLaC\x00\x00\x00\x22" + b"\x10" * 12,
    "cut.ogg": b"OggS" + b"\x00" * 30,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(InputError, match=name) as caught:
        read_sound(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_ten_hours_are_refused_at_once(tmp_path):
    import soundfile

    path = tmp_path / "long.flac"
    with soundfile.SoundFile(str(path), "w", 8000, 1, format="FLAC") as stream:
        for _ in range(36):
            stream.write(np.zeros(8000 * 1000, dtype=np.int16))
    begun = time.perf_counter()
    with pytest.raises(InputError, match="at most 1200 s of sound, got 36000 s"):
        read_sound(path)
    assert time.perf_counter() - begun < 2


@given(st.binary(max_size=400), st.integers(0, 200))
def test_noise_in_a_file_never_ends_in_anything_but_a_refusal(tmp_path_factory, noise, at):
    good = wav(0.3 * np.sin(np.arange(1200)))
    path = tmp_path_factory.mktemp("fuzz") / "f.wav"
    path.write_bytes(good[:at] + noise + good[at + len(noise) :])
    try:
        sound = read_sound(path)
    except InputError:
        return
    assert np.isfinite(sound.samples).all()
    hear(sound)


def test_the_command_refuses_in_one_line_and_answers_in_json(tmp_path):
    (tmp_path / "a.wav").write_bytes(b"nothing")
    command = [sys.executable, "-m", "risorius", "laugh"]
    bad = subprocess.run([*command, str(tmp_path / "a.wav"), "--analyse"], capture_output=True, text=True)
    assert bad.returncode == 2 and bad.stderr.count("\n") == 1 and "a.wav" in bad.stderr
    import json

    words = [*command, "sample", "--analyse", "--json", "-o", str(tmp_path / "out")]
    report = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert report["kind"] == "laugh" and len(report["bouts"]) == 3
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "heard.json", "heard.png", "pressure.csv", "sample.flac",
    }  # fmt: skip
    again = subprocess.run([*command, str(tmp_path / "out" / "sample.flac"), "--analyse", "--json"],
                           capture_output=True, text=True, check=True)  # fmt: skip
    assert len(json.loads(again.stdout)["calls"]) == len(report["calls"])


# --- real sounds


@pytest.fixture(scope="module")
def kinds(shared_data):
    """Kind of every real clip, by folder."""
    folder = shared_data / "sound"
    return {
        name: [hear(read_sound(path)).kind for path in sorted((folder / name).glob("*.flac"))]
        for name in ("laughing", "coughing", "sneezing", "breathing", "negative")
    }


def test_real_laughs_are_taken_and_other_noise_is_not(kinds):
    laughs, others = kinds["laughing"], kinds["negative"]
    assert len(laughs) == 24 and len(others) == 30
    assert sum(kind != "laugh" for kind in laughs) <= 4
    assert others.count("laugh") <= 2


def test_most_real_coughs_sneezes_and_breaths_are_told(kinds):
    assert kinds["coughing"].count("cough") >= 8 and kinds["coughing"].count("laugh") <= 3
    assert sum(kind in ("sneeze", "cough") for kind in kinds["sneezing"]) >= 10
    assert kinds["breathing"].count("breathing") >= 5


@pytest.mark.parametrize("rate", [12, 24])
def test_real_breathing_at_a_known_rate(shared_data, rate):
    found = hear(read_sound(shared_data / "breath" / f"breathmy_{rate}RR.flac"))
    assert found.kind == "breathing" and abs(found.breathing_rate - rate) < 1


def test_loudness_comes_back_where_a_sound_was_cut_off():
    made = laugh(seed=2).sound
    driven = 8.0 * made.samples / np.abs(made.samples).max()
    clipped = Sound(np.clip(driven, -1.0, 1.0), made.rate)
    assert unclipped(made) is made

    def likeness(sound):
        ours, theirs = (envelope(samples, made.rate, 10.0, 200.0) for samples in (sound.samples, driven))
        return np.corrcoef(ours, theirs)[0, 1]

    assert likeness(unclipped(clipped)) > max(0.97, likeness(clipped) + 0.01)


def test_gaussian_noise_of_any_strength_is_told_from_what_is_left_of_it():
    random = np.random.default_rng(3)
    strength = np.repeat([0.5, 1.0, 2.0, 4.0], 22050)
    noise = Sound(np.clip(strength * random.standard_normal(len(strength)), -1.0, 1.0), 44100.0)
    found = unclipped(noise).samples.reshape(4, -1)
    middle = np.sqrt((found[:, 4000:-4000] ** 2).mean(axis=1))
    assert middle[1:] == pytest.approx(strength[::22050][1:], rel=0.15)


def test_a_laugh_between_two_stretches_of_speech_is_found_and_the_speech_left_out():
    laughed, said = laugh(seed=6).sound, babble(4.0, seed=2).sound
    scale = np.sqrt(np.mean(laughed.samples**2) / np.mean(said.samples**2))
    joined = Sound(np.concatenate([scale * said.samples, laughed.samples, scale * said.samples]), said.rate)
    found = hear(joined)
    assert found.kind == "laugh"
    inside = [4.0 - 1.0 <= call.peak <= 4.0 + laughed.seconds + 1.0 for call in found.calls]
    assert np.mean(inside) > 0.9
    both = Sound(np.concatenate([said.samples, said.samples]), said.rate)
    assert hear(both).kind == "speech"
