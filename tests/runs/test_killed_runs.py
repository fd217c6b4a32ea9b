"""A run that is killed again and again, at any line and at any time, ends as one that never was."""

import json

import pytest
from toy_run import end_of

from forks import forked_program
from stratagem.training.runs.files import PARTIAL
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

KILLING = """
import sys
from pathlib import Path
from killing import main
main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
"""


def check(folder, seed, num_lines, num_times):
    status, printed = forked_program(KILLING, folder, seed, num_lines, num_times, work=folder, scratch=folder)
    assert status == 0, printed
    done = json.loads(printed.splitlines()[-1])
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
