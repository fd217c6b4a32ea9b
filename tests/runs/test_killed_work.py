"""Runs of every algorithm, sweeps and tournaments that are killed and begun again end as if they had not been."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import ALGORITHMS

KILLING = Path(__file__).parent / "killing_work.py"
KINDS = [*ALGORITHMS.names(), "sweep", "tournament"]


def check(folder, seed, num, *kinds):
    arguments = [sys.executable, "-W", "ignore", KILLING, folder, str(seed), str(num), *kinds]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.keys() == set(kinds)
    for kind, told in found.items():
        assert (told["kills"], told["lost"]) == (num, []), kind
        assert told["parts"] >= 1


OFTEN = ("sepo", "league", "tournament")
"""Kinds that are killed in everyday tests: one policy, several, and play alone."""


@pytest.mark.parametrize(
    "kind", [kind if kind in OFTEN else pytest.param(kind, marks=pytest.mark.long) for kind in KINDS]
)
def test_killed_work_ends_as_if_it_had_not_been(kind, tmp_path):
    check(tmp_path, 1, 1, kind)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_work_that_is_killed_very_often(kind, tmp_path):
    """A hundred kills over all kinds."""
    check(tmp_path, 2, 13, kind)
