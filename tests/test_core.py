"""Specs, errors and the XML reader."""

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risorius.core import xml
from risorius.core.errors import InputError
from risorius.core.spec import Spec, reference

BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;">]>
<a>&y;</a>"""
EXTERNAL = b'<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "file:///etc/passwd">\n<a/>'


@pytest.mark.parametrize("text", ["male", "female", "sex=female,stature=1.65,mass=60,age=30", "age=70"])
def test_a_spec_reads_back_from_its_own_text(text):
    spec = Spec.parse(text)
    assert Spec.parse(str(spec)) == spec


def test_reference_words_are_the_reference_subjects():
    assert Spec.parse("female") == reference("female") == Spec("female", 1.65, 60, 30)


def test_stature_alone_keeps_the_body_mass_index():
    assert Spec.parse("stature=1.9").bmi == pytest.approx(reference("male").bmi)


@pytest.mark.parametrize(
    "text, word",
    [
        ("", "nothing"),
        ("child", "child"),
        ("sex=male,weight=70", "weight"),
        ("stature=nan", "stature"),
        ("stature=-1.7", "stature"),
        ("stature=1.75,mass=inf", "mass"),
        ("mass=20", "body-mass index"),
        ("age=17", "18 to 80"),
        ("age=30,age=31", "at most once"),
        ("mass=heavy", "number"),
    ],
)
def test_bad_specs_say_what_was_expected(text, word):
    with pytest.raises(InputError, match=word):
        Spec.parse(text)


@given(st.text(max_size=60))
def test_no_text_breaks_the_spec_reader(text):
    try:
        Spec.parse(text)
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("data", [BOMB, EXTERNAL])
def test_entities_and_external_files_are_refused_with_their_line(data):
    with pytest.raises(InputError, match=r"f\.xml:2: document types"):
        xml.parse(data, file="f.xml")


def test_broken_xml_names_its_line():
    with pytest.raises(InputError, match=r"f\.xml:3: not well-formed"):
        xml.parse(b"<a>\n<b>\n</a>", file="f.xml")


def test_deep_nesting_is_refused():
    with pytest.raises(InputError, match="nested"):
        xml.parse(b"<a>" * 100)


names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
values = st.text(st.characters(min_codepoint=32, max_codepoint=0xD7FF), max_size=12)
elements = st.recursive(
    st.builds(xml.Element, names, st.dictionaries(names, values, max_size=3), values.map(str.strip)),
    lambda children: st.builds(
        xml.Element, names, st.dictionaries(names, values, max_size=3), st.just(""), st.lists(children, max_size=3)
    ),
    max_leaves=12,
)


def shape(element):
    return element.tag, element.attributes, element.text, [shape(child) for child in element]


@given(elements)
def test_what_is_written_reads_back_the_same(element):
    assert shape(xml.parse(xml.write(element).encode())) == shape(element)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_xml_reader(data):
    try:
        xml.parse(data)
    except InputError as error:
        assert "\n" not in str(error)


def test_an_edit_starts_afresh_the_kernels_that_it_reaches_and_no_others(tmp_path, monkeypatch):
    from risorius.maths import compiled

    copy = tmp_path / "risorius"
    shutil.copytree(compiled.SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.stl"))
    monkeypatch.setattr(compiled, "SOURCE", copy)
    modules = ("risorius.sim.step", "risorius.strands.step", "risorius.skin.muscle.deform")

    def hashes():
        compiled.source_hash.cache_clear()
        return [compiled.source_hash(module) for module in modules]

    def changed(name):
        before = hashes()
        with (copy / name).open("a") as file:
            file.write("# edited\n")
        return [one != other for one, other in zip(before, hashes())]

    assert changed("mechanics/muscles.py") == [True, False, False]
    assert changed("strands/bodies.py") == [False, True, False]
    assert changed("skin/muscle/deform.py") == [False, False, True]
    assert changed("maths/compiled.py") == [True, True, True]
    assert changed("app/laugh.py") == [False, False, False]
    compiled.source_hash.cache_clear()
