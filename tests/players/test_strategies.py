"""Strategies of scripted players: an action or a mixture is played, and anything else is a failed turn."""

from dataclasses import dataclass
from typing import Any

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.base import Scripted
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

KUHN = make_game("kuhn(hands=1)")


@dataclass(frozen=True)
class Given(Scripted[Any]):
    """Plays what it is given in the first turn of a hand."""

    plan: Any

    def strategy(self, view):
        return self.plan if "BET" in view.choices else "FOLD"


def messages(plan):
    """Messages of the failed turns of a player with this plan, each once."""
    match = Match(KUHN, [Given(plan), make_player("CallingStation", KUHN)])
    return {said for one in play(rotate_seats(match, 8, Key(0), name="plans")) for _, said in one.failed_turns()}


@pytest.mark.parametrize(
    "plan",
    [{"BET": 0.9, "PASS": 0.9}, {"BET": 1.9, "PASS": -0.9}, {"BET": 0.2, "PASS": 0.2}, {}, None, 1, ["BET"]],
    ids=str,
)
def test_a_strategy_that_is_no_mixture_is_a_failed_turn(plan):
    said = f"{plan!r} is no action, and no mixture: its probabilities are at least 0 and sum to 1"
    assert messages(plan) == {f"ValueError: {said}"}


@pytest.mark.parametrize("plan", ["BET", {"BET": 1.0}, {"BET": 1 / 3, "PASS": 2 / 3}], ids=str)
def test_an_action_or_a_mixture_is_played(plan):
    assert messages(plan) == set()
