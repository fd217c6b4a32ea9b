"""Ratings and the game of choosing a member, against known values and another implementation."""

import sys
from types import ModuleType

import numpy as np
import pytest

from stratagem.algorithms.league.meta_game import alpha_rank, cycles, find_forgotten_wins, nash_mixture, skew
from stratagem.algorithms.league.ratings import Score, elo, elo_among, elo_by_name
from stratagem.base.errors import BadParameter

ROCK = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
"""Rock, paper, scissors."""


def by_name(scores):
    return {rating.name: rating for rating in elo(scores)}


def test_two_who_won_three_to_one_are_191_points_apart():
    """400 log10(3) = 190.8, for so many games that the virtual draws do not show."""
    found = by_name([Score("a", "b", 30_000.0, 40_000.0)])
    assert found["a"].elo - found["b"].elo == pytest.approx(190.85, abs=0.1)
    assert (found["a"].elo + found["b"].elo) / 2 == pytest.approx(1500.0)


def test_ratings_of_made_up_strengths_are_found_again_within_their_intervals():
    rng = np.random.default_rng(1)
    true = {f"m{n}": 1500.0 + 80.0 * (n - 4) for n in range(9)}
    scores = [
        Score(a, b, float(rng.binomial(60, 1 / (1 + 10 ** ((true[b] - true[a]) / 400)))), 60.0)
        for a in true
        for b in true
        if a < b
    ]
    found = by_name(scores)
    inside = [rating.low <= true[name] <= rating.high for name, rating in found.items()]
    assert sum(inside) >= 7
    assert all(abs(found[name].elo - strength) < 60 for name, strength in true.items())
    assert all(10 < rating.high - rating.elo < 60 for rating in found.values())


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(2)
    hits = []
    for _ in range(200):
        won = float(rng.binomial(100, 1 / (1 + 10 ** (-100 / 400))))
        rating = by_name([Score("a", "b", won, 100.0)])["a"]
        hits.append(rating.low <= 1550.0 <= rating.high)
    assert 0.90 < np.mean(hits) < 0.99


def test_the_mean_of_all_ratings_is_1500():
    """Also where the virtual draws pull one side more: one who won nearly all against four who met nobody else."""
    scores = [Score("best", f"other-{n}", 9.5 - n, 10.0) for n in range(4)]
    assert np.mean([rating.elo for rating in elo(scores)]) == pytest.approx(1500.0)
    assert np.mean(list(elo_by_name(scores).values())) == pytest.approx(1500.0)


def test_whoever_won_all_games_is_finite():
    found = by_name([Score("a", "b", 10.0, 10.0), Score("b", "c", 5.0, 10.0)])
    assert 100 < found["a"].elo - found["c"].elo < 1500
    assert elo([]) == []


def test_who_is_rated_alone_gets_what_it_gets_among_all():
    """The others' ratings being those of the whole, one's own games say the same as all games at once."""
    rng = np.random.default_rng(3)
    names = [f"m{n}" for n in range(12)]
    points = {(a, b): float(rng.binomial(200, 0.5)) for a in names for b in names if a < b}
    found = by_name([Score(a, b, won, 200.0) for (a, b), won in points.items()])
    own = np.array([points["m0", other] for other in names[1:]])
    others = np.array([found[other].elo for other in names[1:]])
    assert elo_among(own, np.full(11, 200.0), others) == pytest.approx(found["m0"].elo, abs=0.1)
    assert elo_among(np.zeros(11), np.zeros(11), others) == pytest.approx(1500.0), "who has met nobody is in the middle"


def test_ratings_without_intervals_are_those_with_them():
    rng = np.random.default_rng(4)
    scores = [Score(f"m{a}", f"m{b}", float(rng.binomial(9, 0.7)), 9.0) for a in range(9) for b in range(a)]
    assert elo_by_name(scores) == {rating.name: rating.elo for rating in elo(scores)}
    assert elo_by_name([]) == {}


def test_more_games_make_narrower_intervals():
    few, many = (by_name([Score("a", "b", n / 2, n)])["a"] for n in (10.0, 1000.0))
    assert (few.high - few.low) > 5 * (many.high - many.low)


def dealt(points, copies=1):
    """Scores of a and b, a deal for each row of points, every game of it `copies` times."""
    rows = [(str(deal), won) for deal, row in enumerate(points) for won in row * copies]
    return [Score("a", "b", won, deal=deal) for deal, won in rows]


def test_elo_is_the_same_however_often_a_deal_is_played():
    points = [[1.0, 0.0], [1.0, 1.0], [0.5, 0.0], [1.0, 1.0], [0.0, 0.0]]
    assert by_name(dealt(points, copies=9)) == by_name(dealt(points))
    turned = [Score("b", "a", 1.0 - score.points, deal=score.deal) for score in dealt(points)]
    assert by_name(turned) == by_name(dealt(points))


def test_elo_interval_of_deals_is_that_of_as_many_games():
    """Three deals won twice and three lost twice say as much as three games of six."""
    found = by_name(dealt([[1.0, 1.0]] * 3 + [[0.0, 0.0]] * 3))["a"]
    assert found == by_name([Score("a", "b", 3.0, 6.0)])["a"]
    assert found.games == 6.0
    games = by_name([Score("a", "b", 6.0, 12.0)])["a"]
    assert found.high - found.low > 1.3 * (games.high - games.low)


def test_elo_intervals_over_deals_cover_where_games_of_a_deal_agree():
    """All seven games of a deal end alike: the interval by deals covers, the one by games does not."""
    rng, hits = np.random.default_rng(5), []
    for _ in range(200):
        won = [[float(draw)] * 7 for draw in rng.random(30) < 1 / (1 + 10 ** (-100 / 400))]
        rated = [by_name(scores)["a"] for scores in (dealt(won), [Score("a", "b", float(np.sum(won)), 210.0)])]
        hits.append([rating.low <= 1550.0 <= rating.high for rating in rated])
    by_deals, by_games = np.mean(hits, axis=0)
    assert by_deals > 0.9
    assert by_games < 0.7


def test_who_wins_more_often_has_the_greater_pay():
    assert skew(np.array([[0.5, 0.9], [0.3, 0.5]])) == pytest.approx(np.array([[0.0, 0.3], [-0.3, 0.0]]))


def test_rock_paper_and_scissors_are_mixed_evenly():
    assert nash_mixture(ROCK) == pytest.approx(np.full(3, 1 / 3))
    assert alpha_rank(ROCK) == pytest.approx(np.full(3, 1 / 3))
    assert list(cycles(ROCK, ["rock", "paper", "scissors"])) == [("rock", "scissors", "paper")]
    assert not list(cycles(ROCK, ["rock", "paper", "scissors"], least=1.0))


def test_weighted_rock_paper_scissors_has_the_known_equilibrium():
    """Where rock's win over scissors counts twice: (1, 2, 1) / 4, by hand."""
    pay = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -1.0], [-2.0, 1.0, 0.0]])
    assert nash_mixture(pay) == pytest.approx([0.25, 0.5, 0.25])


def test_who_beats_everybody_is_all_there_is():
    pay = np.array([[0.0, 0.3, 0.2], [-0.3, 0.0, 0.4], [-0.2, -0.4, 0.0]])
    assert nash_mixture(pay) == pytest.approx([1, 0, 0], abs=1e-9)
    assert alpha_rank(pay)[0] > 0.999
    assert alpha_rank(np.zeros((1, 1))) == pytest.approx([1.0])


@pytest.mark.parametrize("seed", range(5))
def test_no_member_wins_against_the_mixture(seed):
    rates = np.random.default_rng(seed).random((6, 6))
    pay = skew(rates)
    mixture = nash_mixture(pay)
    assert mixture.sum() == pytest.approx(1.0)
    assert (pay @ mixture).max() < 1e-7


@pytest.mark.parametrize("alpha", [0.5, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_alpha_rank_is_that_of_openspiel(monkeypatch, seed, alpha):
    """OpenSpiel's needs a package for pictures to be imported at all; none is drawn here."""
    for name in ("matplotlib", "matplotlib.patches", "matplotlib.patheffects", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["matplotlib"].patches = sys.modules["matplotlib.patches"]
    sys.modules["matplotlib"].patheffects = sys.modules["matplotlib.patheffects"]
    sys.modules["matplotlib"].pyplot = sys.modules["matplotlib.pyplot"]
    sys.modules["matplotlib.patches"].FancyBboxPatch = object
    from open_spiel.python.egt import alpharank

    pay = skew(np.random.default_rng(seed).random((5, 5)))
    _, _, theirs, _, _ = alpharank.compute([pay], m=20, alpha=alpha)
    assert alpha_rank(pay, alpha, crowd=20) == pytest.approx(theirs, abs=1e-6)


def test_a_later_checkpoint_that_loses_to_whom_an_earlier_one_beat_has_forgotten():
    names = ["a1", "a2", "bot"]
    pay = np.array([[0.0, -0.1, 0.2], [0.1, 0.0, -0.3], [-0.2, 0.3, 0.0]])
    assert list(find_forgotten_wins(pay, names, [["a1", "a2"]])) == [("a2", "a1", "bot")]
    assert not list(find_forgotten_wins(pay, names, [["a1", "a2"]], least=0.25))
    assert not list(find_forgotten_wins(pay, names, [["a2", "a1"]]))


def test_a_table_that_is_no_square_is_refused():
    with pytest.raises(BadParameter, match="square"):
        skew(np.zeros((2, 3)))


def test_games_of_a_member_with_itself_are_no_observations():
    alone = [Score("a", "b", 3.0, 4.0)]
    assert elo([*alone, Score("a", "a", 50.0, 100.0)]) == elo(alone)
