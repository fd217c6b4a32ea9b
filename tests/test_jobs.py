"""The processes that share the tests, and the limit of a test: what a small folder of tests is told."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from processor_time import LIMIT, allowed

TESTS = Path(__file__).parent
FIRST = """
import os, warnings, pytest

def test_passes(): pass
def test_fails(): print("what it printed"); assert [] == [1]
def test_warns(): warnings.warn("careful")
def test_ends_its_process(): os._exit(3)
def test_after_it(): pass
def test_takes_long(): sum(range(10_000_000))
@pytest.mark.runs
def test_may_take_long(): sum(range(10_000_000))
@pytest.fixture
def broken(): raise ValueError
def test_of_a_broken_fixture(broken): pass
"""
SECOND = "import pytest\ndef test_skips(): pytest.skip()\n@pytest.mark.xfail\ndef test_known(): assert 0\n"


@pytest.fixture
def folder(tmp_path):
    """A folder with tests and our plugins, a low limit, and no library to read in."""
    for name in ("conftest", "jobs", "like_macos", "processor_time", "shared_models"):
        shutil.copy(TESTS / f"{name}.py", tmp_path)
    for name, old, new in (("processor_time", "LIMIT = 1.0", "LIMIT = 0.01"), ("jobs", "in READ_IN", "in ()")):
        text = (tmp_path / f"{name}.py").read_text("utf-8")
        assert old in text
        (tmp_path / f"{name}.py").write_text(text.replace(old, new), "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = runs: dear\n")
    (tmp_path / "test_first.py").write_text(FIRST)
    (tmp_path / "test_second.py").write_text(SECOND)
    return tmp_path


@pytest.mark.runs
def test_processes_report_what_one_would(folder):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--jobs", "2", "--cpu-times", "3"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    told = done.stdout
    assert "3 failed, 4 passed, 1 skipped, 1 xfailed, 1 warning, 1 error" in told, told
    assert "FAILED test_first.py::test_ends_its_process" in told
    assert "The process of this test ended with status 3." in told
    assert "FAILED test_first.py::test_takes_long" in told
    assert "s of processor time, not 0.01: give it less to do, or mark it `runs`." in told
    assert "what it printed" in told
    assert "careful" in told
    assert "ERROR test_first.py::test_of_a_broken_fixture" in told
    listed = told.partition("processor time:")[2]
    assert "call     test_first.py::test_may_take_long" in listed


def test_a_test_within_the_limit_is_compared_with_nothing():
    assert allowed(LIMIT / 2) == LIMIT
    assert allowed(2 * LIMIT) >= 2 * LIMIT
