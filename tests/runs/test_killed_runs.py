"""A run that is killed again and again, at any line and at any time, ends as one that never was."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from toy_run import end_of

from stratagem.runs.files import PARTIAL
from stratagem.runs.folder import RunFolder

KILLING = Path(__file__).parent / "killing.py"


def check(folder, seed, num_lines, num_times):
    numbers = map(str, (seed, num_lines, num_times))
    run = subprocess.run([sys.executable, KILLING, folder, *numbers], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    done = json.loads(run.stdout)
    assert (done["lines"]["kills"], done["times"]["kills"]) == (num_lines, num_times)
    expected = end_of(RunFolder.open(folder / "whole"))
    killed = sorted(folder.glob("at_a_*[0-9]"))
    assert len(killed) == done["lines"]["runs"] + done["times"]["runs"]
    for path in killed:
        assert end_of(RunFolder.open(path)) == expected, path.name
        assert list(path.rglob(f"{PARTIAL}*")) == []
    assert any((path / "set-aside").is_dir() for path in killed)


def test_runs_that_are_killed_end_as_if_they_were_not(tmp_path):
    check(tmp_path, seed=1, num_lines=10, num_times=6)


@pytest.mark.long
def test_runs_that_are_killed_very_often(tmp_path):
    check(tmp_path, seed=2, num_lines=150, num_times=50)
