"""Runs of every algorithm, sweeps and tournaments that are killed and begun again end as if they had not been."""

import json

import pytest

from forks import SECONDS, forked_program
from stratagem.algorithms.catalogue import ALGORITHMS

pytestmark = pytest.mark.runs

KILLING = "import sys; from killing_work import main; main(*sys.argv[1:])"
KINDS = [*ALGORITHMS.names(), "sweep", "tournament"]


def check(folder, seed, num, *kinds):
    limit = SECONDS * num  # each kill begins the work again
    status, printed = forked_program(KILLING, folder, seed, num, *kinds, work=folder, scratch=folder, seconds=limit)
    assert status == 0, printed
    found = json.loads(printed.splitlines()[-1])
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
