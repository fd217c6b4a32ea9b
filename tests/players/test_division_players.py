"""Negotiators over items: their demands on known pools, worked out by hand from SEPO's rules."""

import pytest
from transcripts import view_of

from stratagem.games.catalogue import make_game
from stratagem.games.negotiation_v2 import DivisionFacts, write_bundle
from stratagem.games.negotiation_v2 import players as negotiators

GAME = make_game("negotiation-v2")
POOL, VALUES = (3, 2, 1), (2, 3, 5)
"""Balls are worth most, then hats, then books."""


def demand(name, *rounds, pool=POOL, values=VALUES):
    """The bundle demanded for certain after rounds of (own demand, the other's)."""
    facts = DivisionFacts(0, pool, values, tuple(own for own, _ in rounds), tuple(other for _, other in rounds))
    mix = getattr(negotiators, name)().policy(view_of(GAME, facts))
    assert list(mix.values()) == [1.0]
    return next(iter(mix))


FAILED = ((3, 2, 1), (3, 0, 0))
AGREED = ((1, 1, 1), (2, 1, 0))


@pytest.mark.parametrize(
    ("name", "rounds", "bundle"),
    [
        ("FairNeg", [], (1, 1, 1)),
        ("FairNeg", [FAILED], (1, 1, 1)),
        ("TitForTatNeg", [], (1, 1, 1)),
        ("TitForTatNeg", [FAILED], (0, 2, 1)),
        ("TitForTatNeg", [(POOL, POOL)], (3, 2, 1)),
        ("TitForTatNeg", [(POOL, (0, 0, 0))], (0, 0, 0)),
        ("ConcedeNeg", [], (3, 2, 1)),
        ("ConcedeNeg", [FAILED], (2, 2, 1)),
        ("ConcedeNeg", [FAILED] * 4, (0, 1, 1)),
        ("ConcedeNeg", [FAILED] * 9, (0, 0, 0)),
        ("GreedyNeg", [AGREED], (3, 2, 1)),
        ("HardballNeg", [AGREED], (0, 2, 1)),
        ("Conservative", [FAILED], (0, 0, 1)),
        ("Defensive", [], (1, 1, 1)),
        ("Defensive", [FAILED], (0, 2, 1)),
        ("HalfUnits", [], (0, 2, 1)),
        ("MirrorNeg", [], (1, 1, 1)),
        ("MirrorNeg", [FAILED], (3, 0, 0)),
        ("GrimNeg", [AGREED, AGREED], (1, 1, 1)),
        ("GrimNeg", [FAILED, AGREED], (3, 2, 1)),
        ("Boulware", [FAILED, AGREED], (0, 2, 1)),
        ("Boulware", [FAILED, AGREED, FAILED], (1, 1, 1)),
    ],
)
def test_known_demand(name, rounds, bundle):
    assert demand(name, *rounds) == write_bundle(bundle)


def test_fair_takes_the_odd_unit_of_the_most_valued_item_only():
    assert demand("FairNeg", pool=(5, 3, 1), values=(6, 3, 1)) == "[3, 1, 0]"
    assert demand("FairNeg", pool=(5, 3, 1), values=(5, 5, 0)) == "[3, 1, 0]"


def test_proportional_rounds_to_the_nearest_unit():
    """5 x .6 = 3, 4 x .3 = 1.2, 1 x .1 = .1; a half goes up."""
    assert demand("Proportional", pool=(5, 4, 1), values=(6, 3, 1)) == "[3, 1, 0]"
    assert demand("Proportional", pool=(5, 5, 5), values=(5, 3, 2)) == "[3, 2, 1]"


def test_proportional_asks_for_one_unit_at_least():
    assert demand("Proportional", pool=(1, 1, 1), values=(4, 3, 3)) == "[1, 0, 0]"


def test_adaptive_cuts_its_wish_to_what_would_have_fitted():
    pool, values = (5, 4, 1), (6, 3, 1)
    failed = ((3, 1, 0), (4, 4, 1))
    agreed = ((1, 0, 0), (4, 4, 1))
    assert demand("Adaptive", pool=pool, values=values) == "[3, 1, 0]"
    assert demand("Adaptive", failed, pool=pool, values=values) == "[1, 0, 0]"
    assert demand("Adaptive", failed, agreed, pool=pool, values=values) == "[3, 1, 0]"
