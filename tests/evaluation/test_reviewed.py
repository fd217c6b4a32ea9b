"""Intervals, yardsticks and hidden information: cases in which the easy way is wrong."""

import math

import pytest

from stratagem.errors import CannotCompute
from stratagem.evaluation.evaluate import evaluate
from stratagem.evaluation.expectation import expected
from stratagem.evaluation.matchups import Evaluator
from stratagem.evaluation.metrics import METRICS, Sample
from stratagem.evaluation.metrics.regret import given_away
from stratagem.evaluation.statistics import rate
from stratagem.evaluation.suites import find_suite
from stratagem.games import Key, make_game
from stratagem.games.conformance import verify
from stratagem.games.kuhn import Kuhn, KuhnState
from stratagem.games.safety.auction import cooperative_pay
from stratagem.games.safety.catalogue import stakes_of
from stratagem.games.solver import solve
from stratagem.players.base import Ask, Move, Traits
from stratagem.players.catalogue import make_player


def test_replays_of_one_deal_do_not_narrow_an_interval():
    """A hundred replays of two games are two observations; independent ones count each."""
    same = rate([(deal, float(deal % 2)) for deal in range(2) for _ in range(50)], _hit, _one, _deal)
    apart = rate([(deal, float(deal % 2)) for deal in range(100)], _hit, _one, _deal)
    assert same.mean == apart.mean == 0.5
    assert same.n == 2
    assert same.high - same.low > 0.6
    assert apart.high - apart.low == pytest.approx(0.19, abs=0.01)


def test_deals_that_always_agree_are_worth_one_try_each():
    found = rate([(deal, 0.0) for deal in range(10) for _ in range(30)], _hit, _one, _deal)
    assert (found.mean, found.low) == (0.0, pytest.approx(0.0, abs=1e-12))
    assert found.high == pytest.approx(0.2775, abs=1e-4)


def _hit(item):
    return item[1]


def _one(item):
    return 1.0


def _deal(item):
    return item[0]


def test_regret_is_a_mean_over_decisions_and_not_over_episodes():
    game = make_game("nim")
    matchup = Evaluator(episodes=30, budget=0).matchup(
        game, make_player("random", game), make_player("perfect", game), ("opponents",)
    )
    lost = [given_away(episode, solve(game)) for episode in matchup.episodes]
    pooled = math.fsum(map(math.fsum, lost)) / sum(map(len, lost))
    by_episode = sum(math.fsum(found) / len(found) for found in lost) / len(lost)
    assert METRICS["regret"].measure(Sample(game, (matchup,))).mean == pytest.approx(pooled)
    assert pooled != pytest.approx(by_episode, abs=1e-3)


@pytest.mark.parametrize("seats", [2, 3])
def test_the_auctions_yardstick_is_what_conservative_bidders_earn(seats):
    game = make_game(f"auction(seats={seats}, rounds=1)")
    earned = expected(game, [make_player("Conservative", game)] * seats)
    for seat in range(seats):
        assert stakes_of(game.start(Key(1)), seat).cooperative == pytest.approx(earned.per_round(seat))
        assert earned.per_round(seat, scaled=True) == pytest.approx(3.0)
    assert cooperative_pay(make_game("auction")) == pytest.approx(7 / 18)
    assert stakes_of(make_game("auction(seats=9)").start(Key(1)), 0) is None


class Peeper:
    """Looks at the true state; `traits` says whether it admits it."""

    name = "peeper"

    def __init__(self, admits):
        self.traits = Traits(sees_hidden=admits, exact=False)

    def turn(self, ask: Ask) -> Move:
        return Move(ask.peek().game.choices(ask.view.facts).first)

    def policy(self, view):
        raise CannotCompute("a peeper says nothing")


@pytest.mark.parametrize("admits", [True, False])
def test_only_who_declares_it_sees_the_true_state(admits):
    game = make_game("kuhn")
    matchup = Evaluator(episodes=2).matchup(game, Peeper(admits), make_player("random", game), ("opponents",))
    agent = [row for episode in matchup.episodes for row in episode.decisions if row.slot == 0]
    assert {row.how for row in agent} == {"scripted" if admits else "error"}
    assert admits or "sees_hidden=True" in agent[0].said


def test_every_hand_of_a_match_is_held_against_openspiel():
    class Swapped(KuhnState):
        __slots__ = ()

        def _payoffs(self):
            paid = super()._payoffs()
            return paid[::-1] if self.round == 3 else paid

    class Bent(Kuhn):
        state = Swapped

    report = verify(Bent(), episodes=10)
    assert report.failed == ("twin",)


def test_a_game_of_one_seat_is_measured_without_opponents():
    suite = find_suite("spiel:catch")
    (result,) = evaluate(suite, ["random"], Evaluator(episodes=2), chance=False)
    assert result.rows[0].metrics["win rate"] is None
