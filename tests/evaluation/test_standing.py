"""Diplomacy's scoring set: first, sole first, solo, centres and eliminations, from how each power stands at the end."""

from dataclasses import replace

import pytest

from stratagem.games import Key, make_game
from stratagem.measure.by_seat import by_seat
from stratagem.measure.matchups import Evaluator
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.suites import STANDING_METRICS, find_suite
from stratagem.players.catalogue import make_player

GAME = make_game("diplomacy(until=1901, judged=False)")
NAMES = ("first", "sole first", "solo", "centres", "eliminated")


@pytest.fixture(scope="module")
def matchup():
    random = make_player("random", GAME)
    return Evaluator(7, Key(0)).matchup(GAME, random, random, ("opponents",))


def stood(matchup, *rows):
    """The matchup with these centres by seat, solos and survivors at the end of its first episodes.

    In an earlier phase all had three centres.
    """
    episodes = tuple(
        replace(
            episode,
            signals={
                "centers": [(3 / 34,) * 7, tuple(count / 34 for count in centers)],
                "alive": [(1.0,) * 7, tuple(float(count > 0) for count in centers)],
                "solo": [(0.0,) * 7, tuple(float(count >= 18) for count in centers)],
            },
        )
        for episode, centers in zip(matchup.episodes, rows, strict=False)
    )
    return Sample(GAME, (replace(matchup, episodes=episodes),))


def figures(sample):
    return [METRICS[name].measure(sample).mean for name in NAMES]


def test_each_figure_follows_from_the_centres(matchup):
    agent = matchup.episodes[0].seat_of(0)

    def seated(own, others):
        return [own if seat == agent else others.pop(0) for seat in range(7)]

    assert figures(stood(matchup, seated(6, [6, 5, 4, 4, 4, 3]))) == [1, 0, 0, pytest.approx(6), 0]
    assert figures(stood(matchup, seated(18, [6, 5, 3, 2, 0, 0]))) == [1, 1, 1, pytest.approx(18), 0]
    assert figures(stood(matchup, seated(0, [8, 7, 6, 5, 4, 4]))) == [0, 0, 0, pytest.approx(0), 1]


def test_in_a_rotated_match_of_equals_everybody_has_a_seventh(matchup):
    sample = Sample(GAME, (matchup,))
    owned = sum(matchup.episodes[0].signals["centers"][-1]) * 34
    assert METRICS["centres"].measure(sample).mean == pytest.approx(owned / 7, abs=1.0)
    assert METRICS["payoff"].measure(sample).mean == pytest.approx(1 / 7, abs=0.05)


def test_null_of_the_square_share_is_exactly_one_over_the_seats(matchup):
    """Shares sum to one, so whoever cannot be told from the others has a seventh, whatever the games were."""
    assert METRICS["payoff"].null(Sample(GAME, (matchup,))) == pytest.approx(1 / 7, abs=1e-12)
    assert METRICS["payoff"].null(Sample(GAME, (matchup, matchup))) == pytest.approx(1 / 7, abs=1e-12)
    three = make_game("diplomacy(until=1901, only=[FRANCE, GERMANY, ITALY], judged=False)")
    hold = make_player("hold", three)
    sample = Sample(three, (Evaluator(3, Key(0)).matchup(three, hold, hold, ("opponents",)),))
    assert METRICS["payoff"].null(sample) == METRICS["payoff"].measure(sample).mean == pytest.approx(1 / 3)


def test_null_is_the_mean_over_all_seats_of_the_same_games(matchup):
    rows = [[6, 6, 5, 4, 4, 4, 3], [18, 6, 5, 3, 2, 0, 0]]
    sample = stood(replace(matchup, episodes=matchup.episodes[:2]), *rows)
    nulls = [METRICS[name].null(sample) for name in NAMES]
    assert nulls == pytest.approx([3 / 14, 1 / 14, 1 / 14, 66 / 14, 2 / 14])
    mirror = Sample(GAME, (matchup,))
    assert METRICS["expansion"].null(mirror) == pytest.approx(METRICS["centres"].null(mirror) - 22 / 7)


@pytest.mark.parametrize(("text", "null"), [("kuhn", 0.0), ("ipd(rounds=2)", None)])
def test_null_of_pay_is_there_where_payoffs_have_a_fixed_sum(text, null):
    game = make_game(text)
    random = make_player("random", game)
    sample = Sample(game, (Evaluator(4, Key(0)).matchup(game, random, random, ("opponents",)),))
    assert METRICS["payoff"].null(sample) == (null if null is None else pytest.approx(null, abs=1e-12))
    assert METRICS["win rate"].null(sample) == 0.5


def test_every_null_says_whose_figure_it_is(matchup):
    sample = Sample(GAME, (matchup,))
    told = {name for name, metric in METRICS.items() if metric.null(sample) is not None}
    assert told == {"payoff", "win rate", "peace", "backstab", "expansion", *NAMES}
    elsewhere = {"memorisation_gap", "honesty", "kept"}
    elsewhere |= {"promise keeping", "promise lift", "requests met", "request lift"}
    assert all(bool(METRICS[name].null_case) == (name in told | elsewhere) for name in METRICS)


def test_by_seat_splits_the_games_by_the_heros_seat(matchup):
    rows = by_seat(GAME, [matchup], STANDING_METRICS)
    assert [row.seat for row in rows] == list(GAME.powers)
    assert [row.episodes for row in rows] == [1] * 7
    assert set(rows[0].metrics) == {"payoff", "first", "centres", "eliminated"}
    for seat, row in enumerate(rows):
        (episode,) = (e for e in matchup.episodes if e.seat_of(0) == seat)
        assert row.metrics["payoff"].mean == episode.payoffs[seat]
        assert row.metrics["centres"].mean == pytest.approx(episode.signals["centers"][-1][seat] * 34)


def test_by_seat_has_intervals_over_deals():
    random = make_player("random", GAME)
    matchup = Evaluator(21, Key(0)).matchup(GAME, random, random, ("opponents",))
    row = by_seat(GAME, [matchup], ("payoff", "first"))[2]
    paid = [episode.payoffs[2] for episode in matchup.episodes if episode.seat_of(0) == 2]
    spread = (sum((pay - sum(paid) / 3) ** 2 for pay in paid) / 2 / 3) ** 0.5
    assert row.episodes == 3
    assert row.metrics["payoff"].high - row.metrics["payoff"].mean == pytest.approx(4.3027 * spread, rel=1e-4)
    assert 0.0 <= row.metrics["first"].low <= row.metrics["first"].mean <= row.metrics["first"].high


def test_centres_against_opponents_of_different_strength_have_the_error_of_each(matchup):
    """Two opponents against whom every game ends alike: the mean is between them, and nothing of it is chance."""
    strong, weak = (
        stood(matchup, *[[own if seat == e.seat_of(0) else 3 for seat in range(7)] for e in matchup.episodes]).matchups[
            0
        ]
        for own in (4, 16)
    )
    found = METRICS["centres"].measure(Sample(GAME, (_twice(strong), _twice(weak))))
    assert (found.mean, found.se) == pytest.approx((10.0, 0.0))


def _twice(matchup):
    """The matchup with every deal played once more as another deal."""
    again = tuple(replace(episode, group=f"{episode.group}+", key=episode.key + 1) for episode in matchup.episodes)
    return replace(matchup, episodes=(*matchup.episodes, *again))


def test_by_seat_keeps_opponents_apart(matchup):
    rows = by_seat(GAME, [matchup, replace(matchup, opponent="other")], ("payoff",))
    assert [row.opponent for row in rows] == [matchup.opponent] * 7 + ["other"] * 7
    assert rows[0].metrics == rows[7].metrics


def test_other_games_have_no_such_figures():
    game = make_game("kuhn")
    random = make_player("random", game)
    sample = Sample(game, (Evaluator(2, Key(0)).matchup(game, random, random, ("opponents",)),))
    assert [METRICS[name].measure(sample) for name in NAMES] == [None] * 5


def test_suites_of_diplomacy_print_them():
    assert find_suite("diplomacy").metrics == STANDING_METRICS
    assert find_suite("diplomacy(until=1903)").metrics == STANDING_METRICS
    assert find_suite("diplomacy", ("hold",)).metrics == STANDING_METRICS
