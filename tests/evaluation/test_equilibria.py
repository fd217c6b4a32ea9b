"""The yardstick of kuhn's policy: the family of equilibria, its nearest member, and how far a policy is from it."""

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.kuhn.players import NashApprox
from stratagem.measure.equilibria import family_of
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.openings import opening_policy

FAMILY = family_of("kuhn")
# SPEC's formulas, by hand: bets where nobody has, calls where somebody has
LOW = {"J:": 0, "Q:": 0, "K:": 0, "J:PB": 0, "Q:PB": 1 / 3, "K:PB": 1}
HIGH = {"J:": 1 / 3, "Q:": 0, "K:": 1, "J:PB": 0, "Q:PB": 2 / 3, "K:PB": 1}
SECOND = {"J:P": 1 / 3, "Q:P": 0, "K:P": 1, "J:B": 0, "Q:B": 1 / 3, "K:B": 1}


def test_the_family_is_kuhns():
    assert {place.key: place.low for place in FAMILY.places} == pytest.approx(LOW | SECOND)
    assert {place.key: place.high for place in FAMILY.places} == pytest.approx(HIGH | SECOND)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.25, FAMILY.most])
def test_a_member_of_the_family_is_found_and_is_at_no_distance(alpha):
    player = NashApprox(alpha)
    policy = opening_policy(make_game("kuhn"), player)
    assert FAMILY.nearest(policy) == pytest.approx(alpha)
    assert FAMILY.distance(policy) == pytest.approx(0.0, abs=1e-12)
    assert exact(make_game("kuhn"), player).exploitability == pytest.approx(0.0, abs=1e-12)


def test_the_nearest_member_stays_in_the_family():
    always = {place.key: {"CALL" if place.key.endswith("B") else "BET": 1.0} for place in FAMILY.places}
    assert FAMILY.nearest(always) == FAMILY.most
    assert FAMILY.distance(always) == pytest.approx(sum(1 - place.high for place in FAMILY.places) / 12)
    assert FAMILY.nearest({"J:": {"BET": 0.2, "PASS": 0.8}}) == pytest.approx(0.2)
    assert FAMILY.nearest({}) == 0.0


def test_situations_of_a_family_are_told_in_words():
    assert {place.key: place.situation for place in FAMILY.places}["K:PB"] == "K, has passed, then faces a bet"


def test_games_without_a_family_have_none():
    assert [family_of(game) for game in ("ipd", "spiel:kuhn_poker", "no such game")] == [None] * 3
    assert family_of("kuhn(hands=1)") is FAMILY
