"""Bad input, bad places, a full disk, Ctrl-C: the exit code, one clear line, nothing left behind."""

import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest

PERFORM = ("perform", "rest", "--seconds", "0.2", "--no-video")
WAITING = """
import contextlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import risorius.cli.progress as progress
from risorius.cli.main import main

@contextlib.contextmanager
def bar():
    def tell(phase, part):
        if phase.startswith(tuple(sys.argv[1].split("|"))):
            print("here", flush=True)
            time.sleep(600)
    yield tell

progress.progress_bar = bar
sys.exit(main(sys.argv[2:]))
"""
"""The command line with a progress bar that stops in the phase named first and waits for Ctrl-C."""


def risorius(*words, **more):
    return subprocess.run([sys.executable, "-m", "risorius", *map(str, words)], capture_output=True, text=True, **more)


def one_line(result, code, *parts):
    assert result.returncode == code, result.stderr
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    for part in parts:
        assert part in lines[0], lines[0]
    assert result.stdout == ""


@pytest.mark.parametrize(
    "words, parts",
    [
        (("perform", "dance"), ("behaviour", "dance", "calm")),
        (("perform", "calm", "--subject", "martian"), ("subject", "martian", "male, female")),
        (("perform", "calm", "--subject", "sex=male,hat=3"), ("hat=3", "stature=")),
        (("perform", "calm", "--subject", "stature=-1"), ("stature", "1.5 to 2 m", "-1")),
        (("perform", "calm", "--subject", "stature=nan"), ("stature", "nan")),
        (("perform", "calm", "--subject", "mass=nan"), ("mass", "nan")),
        (("perform", "calm", "--subject", "age=-4"), ("age", "-4")),
        (("perform", "calm", "--subject", "mass=lots"), ("mass", "a number", "lots")),
        (("perform", "calm", "--subject", ""), ("subject", "nothing")),
        (("perform", "calm", "--seconds", "nan"), ("seconds", "nan")),
        (("perform", "calm", "--seconds=-1"), ("seconds", "-1")),
        (("perform", "calm", "--seconds", "inf"), ("seconds", "inf")),
        (("perform", "calm", "--seconds", "soon"), ("--seconds", "soon")),
        (("perform", "calm", "--dt", "nan"), ("dt", "nan")),
        (("perform", "calm", "--dt", "0"), ("dt", "got 0")),
        (("perform", "calm", "--dt=-0.001"), ("dt", "-0.001")),
        (("perform", "calm", "--posture", "upside-down"), ("--posture", "upside-down")),
        (("perform", "calm", "--control", "x.xml"), ("behaviour", "control --control FILE.xml")),
        (("perform", "control"), ("behaviour", "control --control FILE.xml")),
        (("perform", "control", "--control", "missing.xml"), ("missing.xml", "cannot be read")),
    ],
)
def test_bad_words_leave_with_two_and_one_line(tmp_path, capsys, words, parts):
    from risorius.cli.main import main

    try:
        code = main([*words, "-o", str(tmp_path / "take")])
    except SystemExit as left:
        code = left.code
    said = capsys.readouterr()
    one_line(subprocess.CompletedProcess(words, code, said.out, said.err), 2, *parts)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text, parts",
    [
        ("", ("c.xml",)),
        ("<control seconds='1'><drive target='diaphragm'", ("c.xml:1",)),
        ("<control seconds='nan'/>", ("c.xml:1", "seconds", "nan")),
        ("<control seconds='1'>\n<drive target='diaphragm' gain='nan'/></control>", ("c.xml:2", "gain", "nan")),
        (
            "<control seconds='1'>\n<drive target='wings'><constant level='1'/></drive></control>",
            ("wings", "diaphragm"),
        ),
        ("<control seconds='1'>\n<drive target='diaphragm' hat='1'/></control>", ("c.xml:2", "hat")),
        ("<control seconds='1' posture='flying'/>", ("c.xml:1", "posture", "flying")),
    ],
)
def test_bad_control_files_are_named_with_line(tmp_path, capsys, text, parts):
    from risorius.cli.main import main

    (tmp_path / "c.xml").write_text(text)
    code = main(["perform", "control", "--control", str(tmp_path / "c.xml"), "-o", str(tmp_path / "take")])
    said = capsys.readouterr()
    one_line(subprocess.CompletedProcess((), code, said.out, said.err), 2, *parts)
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.xml"]


@pytest.mark.parametrize("place", ["file/take", "file", "letters"])
def test_places_that_cannot_be_written_are_refused_before_any_work(tmp_path, capsys, place):
    from risorius.cli.main import main

    (tmp_path / "file").write_text("")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear").write_text("you")
    code = main([*PERFORM, "-o", str(tmp_path / place)])
    said = capsys.readouterr()
    one_line(subprocess.CompletedProcess((), code, said.out, said.err), 2, place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dear", "file", "letters"]


def test_trying_a_place_leaves_no_folders(tmp_path):
    from risorius.io.take import writable

    writable(tmp_path / "a" / "b" / "take")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", [50_000, pytest.param(1_000_000, marks=pytest.mark.nightly)])
def test_a_disk_that_fills_up_leaves_with_one_and_nothing(tmp_path, limit):
    def narrow():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    warm = risorius(*PERFORM, "-o", tmp_path / "take")  # kernels are compiled and kept before room runs out
    assert warm.returncode == 0, warm.stderr
    shutil.rmtree(tmp_path / "take")
    result = risorius(*PERFORM, "-o", tmp_path / "take", preexec_fn=narrow)
    one_line(result, 1, str(tmp_path / "take"), "could not be written")
    assert not list(tmp_path.iterdir())


@pytest.mark.nightly
def test_a_disk_without_room_for_compiled_kernels_is_named(tmp_path):
    def narrow():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    cold = {**os.environ, "RISORIUS_CACHE": str(tmp_path / "cache")}
    result = risorius(*PERFORM, "-o", tmp_path / "take", preexec_fn=narrow, env=cold)
    one_line(result, 1, "RISORIUS_CACHE")
    assert not (tmp_path / "take").exists()


@pytest.mark.parametrize(
    "phase",
    ["building|compiling", "simulating", "story"]
    + [pytest.param(phase, marks=pytest.mark.nightly) for phase in ("skin", "signals", "glb", "page")],
)
def test_ctrl_c_in_every_phase_leaves_nothing(tmp_path, phase):
    words = [sys.executable, "-c", WAITING, phase, *PERFORM, "-o", str(tmp_path / "take")]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "here\n"
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert said == "risorius perform: interrupted\n"
    assert not list(tmp_path.iterdir())
