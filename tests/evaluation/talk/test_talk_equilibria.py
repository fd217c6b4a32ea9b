"""Equilibria of talk in stag hunt and chicken, where theory gives sets: constructed ones have no exploitability."""

from dataclasses import dataclass

import pytest

from stratagem.games import make_game
from stratagem.games.talk import MOVE
from stratagem.measure.exploitability.exact import exact
from stratagem.players.base import Move, Traits


@dataclass(frozen=True)
class Lottery:
    """Says one of two words with `p` and `1 - p`, and moves by what both have said; silence counts as the first."""

    moves: dict[tuple[str, str], tuple[str, str]]
    otherwise: str
    p: float = 0.5
    name = "lottery"
    family = "any"
    talks = True
    traits = Traits(stochastic=True)

    def turn(self, ask):
        return Move(max(self.policy(ask.view)))

    def policy(self, view):
        if view.facts.exchange != MOVE:
            first, second = list(view.choices)[1:3]
            return {first: self.p, second: 1 - self.p}
        said = {message.sender: message.text for message in view.facts.messages}
        pair = self.moves.get((said.get(0) or "a", said.get(1) or "a"))
        return {pair[view.seat] if pair else self.otherwise: 1.0}


WORDS = "words=[a, b], intents=[]"
LIVE = {("a", "a"): ("G", "S"), ("b", "b"): ("G", "S"), ("a", "b"): ("S", "G"), ("b", "a"): ("S", "G")}
"""Chicken: equal words and the first seat goes, unequal words and the second goes, whatever one of them says."""


def found(game, player):
    return exact(make_game(game), player)


@pytest.mark.parametrize("p", [0.5, 0.3])
def test_jointly_controlled_lottery_is_an_equilibrium_of_chicken_at_even_odds(p):
    """Neither seat can move its odds, and it is worth the mean of both equilibria (Aumann and Maschler 1995)."""
    measured = found(f"talk(icg(rounds=1), {WORDS})", Lottery(LIVE, "S", p))
    if p == 0.5:
        assert measured.nash_conv == pytest.approx(0.0, abs=1e-9)
        assert measured.values == pytest.approx((2.0, 2.0))
    else:
        assert measured.nash_conv > 0.1


def test_crashing_after_equal_words_is_no_equilibrium_of_chicken():
    crash = {**LIVE, ("a", "a"): ("G", "G"), ("b", "b"): ("G", "G")}
    assert found(f"talk(icg(rounds=1), {WORDS})", Lottery(crash, "S")).nash_conv > 1.0


@pytest.mark.parametrize(
    ("after", "value"), [({(a, b): ("S", "S") for a in "ab" for b in "ab"}, 4.0), ({}, 1.0)], ids=["stag", "hare"]
)
def test_stag_hunt_has_an_equilibrium_at_stag_and_one_that_babbles_at_hare(after, value):
    measured = found(f"talk(ish(rounds=1), {WORDS})", Lottery(after, "H"))
    assert measured.nash_conv == pytest.approx(0.0, abs=1e-9)
    assert measured.values == pytest.approx((value, value))


def test_stag_after_one_word_alone_is_no_equilibrium_if_it_is_not_always_said():
    """The other word leads to hare, so who says it by chance gives up 3."""
    measured = found(f"talk(ish(rounds=1), {WORDS})", Lottery({("a", "a"): ("S", "S")}, "H"))
    assert measured.nash_conv > 0.5
