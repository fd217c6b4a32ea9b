"""Every way to measure a player asks it in the game that is played, and not in a game of one round."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import stratagem as sg
from stratagem.games import Key, make_game
from stratagem.games.kuhn import Kuhn
from stratagem.games.talk import Talk
from stratagem.measure.exploitability.best_responder import best_responder
from stratagem.measure.exploitability.learn import learned_bound
from stratagem.measure.exploitability.lower_bound import player_bound, search_bound
from stratagem.measure.exploitability.replies import sampled_exploitability
from stratagem.measure.exploitability.scored import scored_exact
from stratagem.measure.openings import opening_policy
from stratagem.measure.sampled.counted import CountingPlayer
from stratagem.players.base import ScoredActions, Scripted, Traits

KUHN = make_game("kuhn")
TALK = make_game("talk(kuhn, before=round, intents=[], words=[yes])")


@dataclass(frozen=True)
class Watched(Scripted[Any]):
    """Plays at random, and notes the games and the turns in which it is asked."""

    games: set[Any] = field(default_factory=set, compare=False)
    exact: bool = True

    @property
    def name(self) -> str:
        return "watched"

    @property
    def traits(self) -> Traits:
        return Traits(stochastic=True, memory=None, reads_words=True, scored=True, exact=self.exact)

    def strategy(self, view):
        self.games.add(view.game)
        return dict.fromkeys(view.choices, 1.0 / view.choices.count)

    def scored(self, views, ask=None):
        return [ScoredActions(self.strategy(view), 0.0) for view in views]


WAYS: dict[str, Callable[[Any, Watched], object]] = {
    "exact": lambda game, player: sg.exploitability(game, player),
    "evaluate": lambda game, player: sg.evaluate(game, [player], opponents=["random"], episodes=2),
    "tournament": lambda game, player: sg.tournament(game, [player, "random"], episodes=2),
    "audit": lambda game, player: sg.audit(player, games=[game], decisions=600, progress=False),
    "replies": lambda game, player: sampled_exploitability(game, player, Key(0), 4),
    "scored": lambda game, player: scored_exact(game, player),
    "counted": lambda game, player: sg.exploitability(game, CountingPlayer(player, 2, Key(0))),
    "search": lambda game, player: search_bound(game, player, Key(0), budget=10, deals=2),
    "learned": lambda game, player: learned_bound(game, player, Key(0), budget=10, deals=2),
    "player": lambda game, player: player_bound(game, player, Key(0), exploiter="random", deals=2),
    "best response": lambda game, player: best_responder(game, player),
    "opening policy": lambda game, player: opening_policy(game, player),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", [KUHN, TALK], ids=["kuhn", "talk(kuhn)"])
def test_a_player_is_asked_in_the_game_that_is_played(way, game):
    player = Watched()
    WAYS[way](game, player)
    # an audit asks questions about the rules, too, and in the words of a disguise
    assert {asked for asked in player.games if isinstance(asked, Kuhn | Talk)} == {game}


def test_a_best_response_is_that_to_a_round_drawn_at_random():
    """Seat 0 folds and seat 1 calls, so an opener's bet is called in every second round: with a jack it gains 0.5."""

    class Folds(Scripted[Any]):
        traits = Traits()

        def strategy(self, view):
            return ("FOLD" if view.seat == 0 else "CALL") if view.facts.facing_bet else "PASS"

    assert best_responder(KUHN, Folds()).table["J:"] == "BET"
    assert best_responder(make_game("kuhn(hands=1)"), Folds()).table["J:"] == "PASS"
