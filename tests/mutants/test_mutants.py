"""Each mutant of the list changes one place of the source as it is, and names tests that are there."""

import ast
import tomllib
from collections import Counter

import pytest

from mutants import AREAS, ROOT, mutants

EVERY = mutants()
LEAST = 60


def test_mutants_are_many_and_of_every_area():
    assert len(EVERY) >= LEAST
    assert set(Counter(one.area for one in EVERY)) == set(AREAS)
    assert len({(one.file, one.old, one.new) for one in EVERY}) == len(EVERY)


@pytest.mark.parametrize("mutant", EVERY, ids=str)
def test_mutant_changes_one_place_that_is_there(mutant):
    text = (ROOT / mutant.path).read_text("utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.old != mutant.new
    (tomllib.loads if mutant.file.endswith(".toml") else ast.parse)(mutant.applied(text))
    assert mutant.tests
    for test in mutant.tests:
        path, _, name = test.partition("::")
        assert not name or f"def {name.partition('[')[0]}(" in (ROOT / "tests" / path).read_text("utf-8")
        assert (ROOT / "tests" / path).is_file()
    assert not mutant.equivalent or mutant.equivalent.endswith(".")
