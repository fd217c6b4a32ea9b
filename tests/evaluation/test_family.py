"""Families: declared comparisons are corrected together, and what was not declared is refused."""

import pytest

from stratagem.base.errors import StratagemError
from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import holm

WAYS = Family("ways against self-play", ("held", "fixed", "league"))


def test_family_corrects_what_it_declared():
    found = WAYS.holm({"league": 0.01, "held": 0.04, "fixed": 0.03})
    assert found == dict(zip(("held", "fixed", "league"), holm([0.04, 0.03, 0.01]), strict=True))


def test_family_counts_a_comparison_that_was_not_run():
    assert WAYS.holm({"league": 0.01, "held": None}) == {"league": pytest.approx(0.03)}
    assert WAYS.holm({}) == {}


def test_family_refuses_what_was_not_declared():
    with pytest.raises(StratagemError, match="without pfsp; its comparisons are held, fixed, league"):
        WAYS.holm({"pfsp": 0.001})
    with pytest.raises(StratagemError, match="names a comparison twice"):
        Family("twice", ("held", "held"))
