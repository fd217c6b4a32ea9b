"""Exact payoffs beside those of play: a player that states other probabilities than it plays is found."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from stratagem.api.evaluations import evaluate
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.kuhn.players import NashApprox
from stratagem.measure.agreement import ERROR_RATE, disagreements
from stratagem.measure.matchups import Evaluator
from stratagem.measure.tournament import tournament
from stratagem.players.base import Ask, Move, Traits, Turn
from stratagem.players.catalogue import make_player

KUHN = make_game("kuhn")


@dataclass(frozen=True)
class TwoFaced(NashApprox):
    """States an equilibrium, and folds to each bet in play."""

    def turn(self, ask: Ask) -> Turn:
        return Move("FOLD") if "FOLD" in ask.view.choices else super().turn(ask)


def found(player, opponent="AlwaysBet", *, episodes=200, seed=0):
    evaluator = Evaluator(episodes=episodes, key=Key(seed))
    matchup = evaluator.matchup(KUHN, player, make_player(opponent, KUHN), ())
    return disagreements(KUHN, [(player.name, [matchup])])


def test_stated_probabilities_that_are_not_played_are_found():
    (alarm,) = found(TwoFaced())
    assert alarm.p < ERROR_RATE
    assert alarm.played.mean < alarm.exact - 0.3
    assert "exact figures and play differ" in str(alarm)


def test_comparisons_of_an_evaluation_share_their_error_rate():
    evaluator = Evaluator(episodes=60, key=Key(0))
    matchup = evaluator.matchup(KUHN, TwoFaced(), make_player("AlwaysBet", KUHN), ())
    (alone,) = disagreements(KUHN, [("first", [matchup])])
    assert 0.0 < alone.p < ERROR_RATE / 2
    pair = disagreements(KUHN, [("first", [matchup]), ("second", [matchup])])
    assert [found.p for found in pair] == pytest.approx([2.0 * alone.p] * 2)


def test_few_deals_give_no_alarm():
    assert found(TwoFaced(), episodes=50) == []


@pytest.mark.parametrize("player", ["NashApprox", "random", "LooseAggressive", "AlwaysBet"])
@pytest.mark.parametrize("opponent", ["AlwaysBet", "random", "TightPassive"])
def test_a_player_that_plays_what_it_states_gives_no_alarm(player, opponent):
    assert not any(found(make_player(player, KUHN), opponent, seed=seed) for seed in range(5))


@dataclass(frozen=True)
class ByRound(NashApprox):
    """Folds to each bet in the rounds in which it does not open, and states it."""

    traits = replace(NashApprox.traits, memory=0)

    def strategy(self, view: Any) -> Any:
        return "FOLD" if view.facts.facing_bet and not view.facts.opens else super().strategy(view)


@dataclass(frozen=True)
class BySeat(NashApprox):
    """Folds to each bet at seat 0 alone, whether it opens or not."""

    traits = Traits(stochastic=True)

    def strategy(self, view: Any) -> Any:
        return "FOLD" if view.facts.facing_bet and view.seat == 0 else super().strategy(view)


@pytest.mark.parametrize("player", [ByRound(), BySeat()])
def test_a_player_that_differs_by_seat_has_the_exact_payoff_of_play(player):
    evaluator = Evaluator(episodes=2_000, key=Key(3))
    matchup = evaluator.matchup(KUHN, player, make_player("AlwaysBet", KUHN), ())
    assert disagreements(KUHN, [(player.name, [matchup])]) == []
    played = replace(matchup, expectations=()).payoff()
    assert matchup.payoff().mean == pytest.approx(played.mean, abs=3 * played.se)


def test_an_evaluation_and_a_tournament_print_the_alarm():
    result = evaluate("kuhn", [TwoFaced()], opponents=["AlwaysBet"], episodes=200)
    assert any("exact figures and play differ" in warning for game in result.results for warning in game.warnings)
    cross = tournament(KUHN, "kuhn", [TwoFaced(), make_player("AlwaysBet", KUHN)], Evaluator(episodes=200))
    assert any("exact figures and play differ" in warning for warning in cross.warnings)
