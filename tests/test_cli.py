"""The command line as a user meets it."""

import json
import subprocess
import sys


def risorius(*words):
    return subprocess.run([sys.executable, "-m", "risorius", *words], capture_output=True, text=True)


def test_help_names_every_command_and_an_example():
    result = risorius("--help")
    assert result.returncode == 0
    assert "perform" in result.stdout and "examples:" in result.stdout


def test_unknown_command_leaves_with_two_and_no_traceback():
    result = risorius("dance")
    assert result.returncode == 2
    assert "dance" in result.stderr and "Traceback" not in result.stderr


def test_doctor_prints_one_json_object():
    report = json.loads(risorius("doctor", "--json").stdout)
    assert report["packages"]["numpy"]


def test_doctor_counts_a_subjects_elements_by_group():
    torso = json.loads(risorius("doctor", "--subject", "male", "--json").stdout)["torso"]
    assert torso["bodies"] == 50 and torso["elements"] >= 1500
    assert sum(torso["groups"].values()) == torso["elements"]
    assert torso["groups"]["intercostal_external"] + torso["groups"]["intercostal_internal"] > 500
    text = risorius("doctor", "--subject", "female")
    assert text.returncode == 0 and "intercostal_external" in text.stdout


def test_doctor_refuses_a_subject_outside_the_range():
    result = risorius("doctor", "--subject", "sex=male,stature=3")
    assert result.returncode == 2 and "stature" in result.stderr and "Traceback" not in result.stderr
