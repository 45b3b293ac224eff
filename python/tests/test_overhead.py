"""scripts/python-overhead, where the tests are in Halocline's tree."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import halocline as hl

SCRIPT = Path(__file__).parents[2] / "scripts" / "python-overhead"
pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="scripts/python-overhead is not here")


def told(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("library", ["halocline", "numpy"])
def test_a_library_is_measured_in_a_process(library):
    on = ["--gpu"] if library == "halocline" and not hl.why_no_gpu() else []
    done = told("--measure", library, *on)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["version"] and 0 < found["call"] < found["first"] + 1


def test_what_is_missing_is_said():
    done = told("numpy")
    assert done.returncode == 0 and "| numpy " in done.stdout and "left out: numpy (GPU): CPU alone" in done.stderr
    unknown = told("fortran")
    assert unknown.returncode == 2 and "fortran: there are halocline, numpy" in unknown.stderr


def test_a_library_that_is_wrong_is_found_out(tmp_path):
    script = tmp_path / "overhead"
    script.write_text(SCRIPT.read_text().replace("now[1:-1, 1:-1] + rate *", "now[1:-1, 1:-1] - rate *"))
    done = subprocess.run([sys.executable, script, "--measure", "numpy"], capture_output=True, text=True)
    assert done.returncode == 1 and "numpy is wrong by" in done.stderr
