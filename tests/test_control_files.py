"""Control files: exact round trips, schema and reader of one mind, errors that name the place, mutated files."""

import io
import math
import random
import re
import time
from pathlib import Path

import numpy as np
import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st

from risorius.anatomy.torso.build import GROUPS
from risorius.control.bind import MOTIONS
from risorius.control.control import FAMILIES, Ball, Channel, Control, Push, added, blended
from risorius.control.curves import Curve, Linear, Sawtooth, Sine, Square
from risorius.core.errors import InputError
from risorius.io.control_file import control_text, read_control, schema_text

TIMES = np.linspace(0.0, 20.0, 801)
SCHEMA = xmlschema.XMLSchema(schema_text())

numbers = st.floats(-1e6, 1e6)
moments = st.floats(0.0, 1e6)
parts = st.floats(0.0, 1.0)


@st.composite
def spans(draw):
    start = draw(moments)
    return {"level": draw(numbers), "start": start, "end": draw(st.just(math.inf) | st.floats(start, 1e6))}


@st.composite
def curves(draw):
    kind = draw(st.sampled_from([Curve, Sine, Square, Sawtooth, Linear]))
    values = draw(spans())
    if kind is Linear:
        times = sorted(draw(st.lists(moments, min_size=1, max_size=5)))
        period = draw(st.just(0.0) | st.floats(times[-1], 1e6))
        return Linear(points=tuple((t, draw(numbers)) for t in times), period=period, **values)
    if kind is not Curve:
        values |= {"amplitude": draw(numbers), "frequency": draw(moments), "phase": draw(numbers)}
    if kind is Square:
        values["duty"] = draw(parts)
    if kind is Sawtooth:
        values["rise"] = draw(parts)
    return kind(**values)


fades = curves().filter(lambda curve: isinstance(curve, Linear))
targets = st.sampled_from([*GROUPS, *FAMILIES, *MOTIONS, "glottis", "syringe", "element:levator costae 4 at 0.05 r"])
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
channels = st.builds(
    Channel, targets, st.lists(curves(), max_size=3).map(tuple), numbers, st.lists(fades, max_size=2).map(tuple)
)
small = st.floats(-5.0, 5.0)
places = st.none() | st.tuples(small, small, small)
balls = st.builds(
    Ball, st.floats(0, 3600), st.floats(0.01, 100), st.floats(0.01, 0.5), st.floats(0, 5), places,
    st.tuples(small, small, small),
)  # fmt: skip
forces = st.floats(-2000.0, 2000.0)
pushes = st.builds(Push, texts, st.tuples(forces, forces, forces), st.floats(0, 1800), st.floats(1800, 3600))
controls = st.builds(
    Control, st.lists(channels, max_size=4).map(tuple), st.floats(1e-3, 3600), st.sampled_from(["upright", "supine"]),
    st.sampled_from(["mouth", "nose"]), texts, st.lists(balls, max_size=2).map(tuple),
    st.lists(pushes, max_size=2).map(tuple), st.floats(1.0, 240.0),
)  # fmt: skip


@settings(max_examples=150)
@given(control=controls)
def test_what_is_written_reads_back_and_obeys_the_schema(control, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "round.xml"
    text = control_text(control)
    path.write_text(text, encoding="utf-8")
    again = read_control(path)
    assert again == control and control_text(again) == text
    SCHEMA.validate(text)
    if control.channels:
        with np.errstate(over="ignore", invalid="ignore"):
            first, second = (c.excitation(GROUPS, TIMES) for c in (control, again))
        assert first.tobytes() == second.tobytes()


def test_the_schema_is_a_schema():
    assert xmlschema.XMLSchema.meta_schema.is_valid(io.StringIO(schema_text()))


SAMPLE = control_text(
    Control(
        (
            Channel("diaphragm", (Sine(0.03, amplitude=0.03, frequency=0.25, phase=-0.25),), 1.0),
            Channel("abdomen", (Square(0.0, 4.0, 6.0, 0.5, 5.0, 0.0, 0.4), Curve(0.05)), 0.5),
            Channel("element:levator costae 4 at 0.05 r", (Sawtooth(0.0, 1.0, 2.0, 1.0, 2.0, 0.0, 0.3),)),
            Channel("spine.flexion", (Linear(points=((0.0, 0.0), (1.0, 12.5), (2.0, 0.0)), period=4.0),), 1.0,
                    (Linear(points=((1.0, 0.0), (2.0, 1.0))),)),
            Channel("glottis", (Curve(1.0), Curve(-1.0, 3.0, 3.2))),
        ),
        8.0, "supine", "nose", "sample", (Ball(2.0, 5.0, 0.1),), (Push("sternum", (-40.0, 0.0, 5.0), 1.0, 1.2),),
    )
)  # fmt: skip

WRONG = [
    ('posture="supine"', 'posture="prone"', "upright, supine"),
    ('target="diaphragm"', 'target="diafragm"', "expected a muscle group"),
    ('duty="0.4"', 'duty="1.4"', "duty from 0 to 1"),
    ('frequency="5.0"', 'frequency="fast"', "expected a number for frequency"),
    ('frequency="5.0"', 'frequency="nan"', "expected a number for frequency"),
    ('frequency="5.0"', 'frequency="1_0"', "expected a number for frequency"),
    ('frequency="5.0"', 'frequence="5.0"', "unknown attribute 'frequence'"),
    ("<square", "<sqare", "expected one of constant, sine"),
    ("0.0:0.0 1.0:12.5", "0.0:0.0 1.0", "time:value"),
    ("0.0:0.0 1.0:12.5", "0.0:0.0 9.0:12.5", "not falling"),
    ('period="4.0"', 'period="1.5"', "within the period"),
    ('end="6.0"', 'end="3.0"', "after the start"),
    ('mass="5.0"', 'mass="-5.0"', "mass from 0.01"),
    ('body="sternum" ', "", "expected attribute 'body'"),
    ('seconds="8.0"', 'seconds="1e9"', "seconds from 0.001 to 3600"),
    ("<ball", "<bomb", "expected <drive>, <element>, <push> or <ball>"),
    ("</drive>", "words</drive>", "expected no text"),
    ('version="1"', 'version="2"', "expected version 1"),
]


@pytest.mark.parametrize("old, new, expected", WRONG)
def test_an_error_names_file_line_element_and_what_was_expected(tmp_path, old, new, expected):
    assert old in SAMPLE
    text = SAMPLE.replace(old, new, 1)
    path = tmp_path / "wrong.xml"
    path.write_text(text)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if (new and new in row) or (not new and "<push" in row))
    with pytest.raises(InputError) as found:
        read_control(path)
    message = str(found.value)
    assert expected in message and "<" in message
    match = re.match(rf"{re.escape(str(path))}:(\d+): ", message)
    assert match and (int(match[1]) == line or new == "words</drive>")


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE control [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE control [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE control SYSTEM "http://127.0.0.1/control.dtd">',
    ],
)
def test_entities_and_document_types_are_refused(tmp_path, head):
    path = tmp_path / "bomb.xml"
    path.write_text(f'{head}\n<control seconds="1"><drive target="&b;"/></control>')
    with pytest.raises(InputError, match="document types and entities"):
        read_control(path)


MARKS = [
    '"',
    "<",
    ">",
    "/",
    "=",
    " ",
    "0",
    "9",
    "-",
    ".",
    ":",
    "e",
    "inf",
    "nan",
    "&",
    "é",
    "\x00",
    "drive",
    "sine",
    "1e400",
]


def mutated(text, rng):
    """One of many ways to spoil a file: letters, lines and attributes lost, doubled, swapped or replaced."""
    data = text
    for _ in range(rng.randint(1, 3)):
        kind, a, b = rng.randrange(7), rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
        low, high = min(a, b), min(max(a, b), min(a, b) + 60)
        lines = data.splitlines(keepends=True)
        row = rng.randrange(len(lines)) if lines else 0
        values = re.findall(r'"[^"]*"', data)
        if kind == 0:
            data = data[:low] + data[high:]
        elif kind == 1:
            data = data[:a] + rng.choice(MARKS) + data[a:]
        elif kind == 2:
            data = data[:low] + data[low:high] * 2 + data[high:]
        elif kind == 3 and lines:
            data = "".join(lines[:row] + lines[row + 1 :])
        elif kind == 4 and lines:
            rng.shuffle(lines)
            data = "".join(lines)
        elif kind == 5 and len(values) > 1:
            data = data.replace(rng.choice(values), rng.choice(values), 1)
        elif values:
            data = data.replace(rng.choice(values), f'"{rng.choice(MARKS)}"', 1)
    return data


def fuzz(count, seed, path):
    """Every mutated file is read as the schema would read it, or refused in one line; quickly."""
    rng = random.Random(seed)
    accepted = 0
    for _ in range(count):
        text = mutated(SAMPLE, rng)
        path.write_bytes(text.encode("utf-8"))
        begun = time.perf_counter()
        try:
            control = read_control(path)
        except InputError as error:
            assert "\n" not in str(error) and str(path) in str(error), text
            continue
        finally:
            assert time.perf_counter() - begun < 2.0
        accepted += 1
        assert SCHEMA.is_valid(text), text  # no guess: what is accepted is what the schema describes
        path.write_text(control_text(control), encoding="utf-8")
        assert read_control(path) == control
        value = control.excitation(GROUPS, TIMES)
        assert np.isfinite(value).all() and value.min() >= 0.0 and value.max() <= 1.0
    return accepted


def test_mutated_files_are_read_right_or_refused(tmp_path):
    assert fuzz(200, 1, tmp_path / "mutated.xml") > 5


@pytest.mark.nightly
def test_two_thousand_mutated_files_are_read_right_or_refused(tmp_path):
    assert fuzz(2000, 2, tmp_path / "mutated.xml") > 50


def breath(**more):
    return Control.of(20.0, diaphragm=Sine(0.05, amplitude=0.05, frequency=0.25, phase=-0.25), **more)


def test_one_control_on_top_of_another_adds_up():
    laugh = Control.of(4.0, abdomen=Square(amplitude=0.5, frequency=5.0), glottis=Curve(0.5)).shifted(6.0)
    both = added(breath(glottis=Curve(0.9)), laugh)
    value = both.excitation(GROUPS, TIMES)
    assert np.allclose(value, breath().excitation(GROUPS, TIMES) + laugh.excitation(GROUPS, TIMES))
    assert value[TIMES < 6.0][:, GROUPS.index("transversus")].max() == 0.0
    opening = both.glottis(TIMES)
    assert np.allclose(opening[(TIMES > 0) & (TIMES < 6.0)], 0.9) and np.allclose(opening[TIMES >= 6.0], 0.4)
    assert both.seconds == 20.0


def test_a_blend_begins_as_one_and_ends_as_the_other():
    one, other = breath(glottis=Curve(0.3)), Control.of(20.0, transversus=Curve(0.4))
    mixed = blended(one, other, 5.0, 10.0)
    value, first, second = (c.excitation(GROUPS, TIMES) for c in (mixed, one, other))
    assert np.array_equal(value[TIMES <= 5.0], first[TIMES <= 5.0])
    assert np.allclose(value[TIMES >= 10.0], second[TIMES >= 10.0])
    half = np.argmin(np.abs(TIMES - 7.5))
    assert np.allclose(value[half], 0.5 * (first[half] + second[half]))
    assert mixed.glottis(TIMES)[0] == pytest.approx(0.3) and mixed.glottis(TIMES)[-1] == pytest.approx(1.0)
    steps = np.abs(np.diff(mixed.glottis(TIMES)))
    assert steps.max() < 0.02


def test_a_blend_of_a_control_with_itself_is_that_control():
    mixed = blended(breath(), breath(), 2.0, 9.0)
    assert np.allclose(mixed.excitation(GROUPS, TIMES), breath().excitation(GROUPS, TIMES), atol=1e-15)


def test_what_was_blended_and_added_is_written_and_read_back(tmp_path):
    control = added(blended(breath(glottis=Curve(0.3)), Control.of(20.0, transversus=Curve(0.4)), 5.0, 10.0), breath())
    path = tmp_path / "mixed.xml"
    path.write_text(control_text(control))
    assert read_control(path) == control
    SCHEMA.validate(path.read_text())


def test_the_manuals_example_is_a_control_file(tmp_path):
    manual = Path(__file__).resolve().parent.parent / "docs" / "control-files.md"
    text = manual.read_text(encoding="utf-8").split("```xml\n")[1].split("```")[0]
    path = tmp_path / "manual.xml"
    path.write_text(text, encoding="utf-8")
    SCHEMA.validate(text)
    control = read_control(path)
    assert len(control.channels) == 5 and control.balls and control.pushes
    assert control.glottis(np.array([5.0, 7.0])) == pytest.approx([1.0, 0.3])


@pytest.mark.parametrize("valve", ["glottis", "lips"])
def test_a_valve_alone_is_the_airway(valve):
    control = Control.of(4.0, **{valve: Sine(0.5, amplitude=0.5, frequency=0.3)})
    assert np.allclose(control.opening(TIMES), control.valve(valve, TIMES))


def test_resistances_of_glottis_and_lips_add_up():
    """An orifice costs K2 Q² (1/a² − 1) more than an open one; two in series cost the sum."""
    control = Control.of(4.0, glottis=Curve(0.4), lips=Curve(0.25))
    assert control.opening(TIMES[TIMES < 4.0]) ** -2.0 - 1.0 == pytest.approx((0.4**-2 - 1.0) + (0.25**-2 - 1.0))
    shut = Control.of(4.0, glottis=Curve(0.4), lips=Curve(0.0))
    assert not shut.opening(TIMES).any()


def test_lips_are_open_where_a_control_does_not_move_them():
    late = Control.of(2.0, lips=Curve(0.2, 0.0, 2.0)).shifted(3.0)
    assert (late.valve("lips", np.array([0.0, 1.0, 2.9])) == 1.0).all() and late.valve("lips", np.array([3.5])) == 0.2
    mixed = blended(breath(), breath(lips=Curve(0.2)), 5.0, 10.0)
    assert mixed.valve("lips", np.array([1.0, 15.0])) == pytest.approx([1.0, 0.2])
