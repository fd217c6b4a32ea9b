"""Intervals, yardsticks and hidden information: cases in which the easy way is wrong."""

import math

import numpy as np
import pytest
from scipy.stats import t

from stratagem.base.errors import CannotCompute
from stratagem.games import Key, make_game
from stratagem.games.auction.safety import cooperative_pay
from stratagem.games.conformance import verify
from stratagem.games.kuhn import Kuhn, KuhnState
from stratagem.games.safety.catalogue import stakes_of
from stratagem.games.solver import solve
from stratagem.measure.evaluate import evaluate
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.matchups import Evaluator
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.metrics.regret import given_away
from stratagem.measure.rates import rate, wilson
from stratagem.measure.suites import find_suite
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


def test_intervals_of_few_deals_hold():
    """Ten deals of seven games that often end alike; by the number of Kish alone 90 % of the intervals hold."""
    random, true, held, repetitions = np.random.default_rng(0), 0.2, 0, 2000
    for _ in range(repetitions):
        common = (random.random(10) < 0.3)[:, None] & np.ones((10, 7), dtype=bool)
        won = np.where(common, (random.random(10) < true)[:, None], random.random((10, 7)) < true)
        games = [(deal, float(won[deal, game])) for deal in range(10) for game in range(7)]
        found = rate(games, _hit, _one, _deal)
        held += found.low <= true <= found.high
    assert held / repetitions > 0.93


def test_number_of_tries_is_lowered_where_deals_are_few():
    """Five deals of two games, one deal lost: .8 ± .2, so 4 tries by Kish, and 2.66 by Korn and Graubard."""
    games = [(deal, float(deal > 0)) for deal in range(5) for _ in range(2)]
    found, tries = rate(games, _hit, _one, _deal), 4.0 * (t.ppf(0.975, 9) / t.ppf(0.975, 4)) ** 2
    assert tries == pytest.approx(2.655, abs=1e-3)
    expected = wilson(0.8 * tries, tries)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.n, found.se) == (5, pytest.approx(0.2))


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
    earned = expected_payoffs(game, [make_player("Conservative", game)] * seats)
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

        def payoffs(self):
            paid = super().payoffs()
            return paid[::-1] if self.round == 3 else paid

    class Bent(Kuhn):
        state = Swapped

    report = verify(Bent(), episodes=10)
    assert report.failed == ("twin",)


def test_a_game_of_one_seat_is_measured_without_opponents():
    suite = find_suite("spiel:catch")
    (result,) = evaluate(suite, ["random"], Evaluator(episodes=2), chance=False)
    assert result.rows[0].metrics["win rate"] is None
