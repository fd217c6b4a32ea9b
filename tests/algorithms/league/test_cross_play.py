"""Significant results in the final evaluation of a league."""

import numpy as np
import pytest
from scipy.stats import t

from stratagem.algorithms.league.crossplay import counts_by_deal, index_and_error, outsiders, sure_margins
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.hostility import Hostility
from stratagem.measure.matchups import Evaluator
from stratagem.measure.statistics import mean
from stratagem.measure.tournament import pairs
from stratagem.players.catalogue import make_player


def matchups_of(game, players, episodes, seed=0):
    table = Evaluator(episodes, Key(seed), budget=0, exact_budget=0)
    return {
        (row, column): table.matchup(game, players[row], players[column], ("opponents",))
        for row, column in pairs(game, len(players))
    }


def test_equals_are_called_unequal_as_often_as_was_said():
    """Uniform players in Kuhn poker, ten deals a pair: one pair in twenty, of 150; binomial, three standard errors."""
    game, player = make_game("kuhn(hands=1)"), make_player("random", make_game("kuhn(hands=1)"))
    tables = [Evaluator(20, Key(seed), budget=0, exact_budget=0) for seed in range(150)]
    matchups = [{(0, 1): table.matchup(game, player, player, ("opponents",))} for table in tables]
    found = sum(bool(sure_margins(game, 2, one).any()) for one in matchups)
    assert 0 < found <= 150 * 0.05 + 3 * np.sqrt(150 * 0.05 * 0.95)


def test_a_margin_is_judged_by_its_own_error_over_deals():
    """In a zero-sum game of two seats half the difference is the pay itself, and so is its error."""
    game = make_game("kuhn(hands=1)")
    players = [make_player(name, game) for name in ("random", "AlwaysBet")]
    matchups = matchups_of(game, players, 200)
    own = matchups[0, 1].payoff(scaled=False)
    margins = sure_margins(game, 2, matchups)
    assert margins[0, 1] == pytest.approx(own.mean if abs(own.mean) > t.ppf(0.975, own.n - 1) * own.se else 0.0)
    assert margins[0, 1] == -margins[1, 0]


def test_a_single_deal_says_nothing():
    game = make_game("kuhn(hands=1)")
    players = [make_player(name, game) for name in ("NashApprox", "AlwaysBet", "TightPassive")]
    assert not sure_margins(game, 3, matchups_of(game, players, 2)).any()


def test_with_three_seats_each_is_the_one_among_copies_of_the_other_in_games_of_their_own():
    game = make_game("public-goods")
    players = [make_player(name, game) for name in ("random", "first-legal")]
    margins = sure_margins(game, 2, matchups_of(game, players, 12))
    assert margins[0, 1] == -margins[1, 0] != 0.0


def test_outsiders_of_one_member_play_the_same_deals():
    game = make_game("public-goods")
    players = [make_player(name, game) for name in ("random", "noise(random, p=0.1)", "noise(random, p=0.2)")]
    matchups = matchups_of(game, players, 12)
    found = outsiders(game, 3, matchups)
    rows = [matchups[row, 2].by_deal(lambda e: e.per_round(e.seat_of(0))).values() for row in (0, 1)]
    expected = mean([sum(column) / 2 for column in zip(*rows, strict=True)])
    assert (found[2]["mean"], found[2]["se"], found[2]["n"]) == pytest.approx((expected.mean, expected.se, 4))
    assert outsiders(make_game("kuhn"), 3, {}) == []


@pytest.mark.runs
def test_deals_of_an_alliance_are_counted_once_for_all_outsiders():
    game = make_game("diplomacy(until=1901)")
    players = [make_player(name, game) for name in ("dumbbot", "random", "first-legal")]
    assert len(counts_by_deal(0, 3, matchups_of(game, players, 14))) == 2


def test_an_alliance_has_the_jackknifes_error():
    """Three deals, an outsider and two copies; with as many chances everywhere the index is 1 - inside / outside."""
    inside, outside = [1.0, 2.0, 3.0], [4.0, 4.0, 8.0]

    def deal(own, other):
        attacks = np.array([[0.0, other, other], [other, 0.0, own], [other, own, 0.0]])
        return Hostility(attacks, 10.0 * (1.0 - np.eye(3)))

    def index(kept):
        return 1.0 - sum(inside[n] for n in kept) / sum(outside[n] for n in kept)

    found, error = index_and_error([deal(*pair) for pair in zip(inside, outside, strict=True)], 3)
    less = np.array([index(kept) for kept in ((1, 2), (0, 2), (0, 1))])
    assert found == pytest.approx(index((0, 1, 2)))
    assert error == pytest.approx(np.sqrt(2 / 3 * ((less - less.mean()) ** 2).sum()))
    assert index_and_error([deal(1.0, 4.0)], 3) == (pytest.approx(0.75), None)
    assert index_and_error([], 3) == (None, None)
