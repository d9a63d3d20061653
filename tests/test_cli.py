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
