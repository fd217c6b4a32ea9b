"""Diplomacy's scoring set: first, sole first, solo, centres and eliminations, from how each power stands at the end."""

from dataclasses import replace

import pytest

from stratagem.evaluation.bouts import Table
from stratagem.evaluation.metrics import METRICS, Sample
from stratagem.evaluation.suites import STANDING_METRICS, find_suite
from stratagem.games import Key, make_game
from stratagem.players.catalogue import make_player

GAME = make_game("diplomacy(until=1901, judged=False)")
NAMES = ("first", "sole first", "solo", "centres", "eliminated")


@pytest.fixture(scope="module")
def bout():
    random = make_player("random", GAME)
    return Table(7, Key(0)).bout(GAME, random, random, ("opponents",))


def stood(bout, *rows):
    """The bout with these centres by seat, solos and survivors, in its first episodes."""
    episodes = tuple(
        replace(
            episode,
            signals={
                "centers": [tuple(count / 34 for count in centers)],
                "alive": [tuple(float(count > 0) for count in centers)],
                "solo": [tuple(float(count >= 18) for count in centers)],
            },
        )
        for episode, centers in zip(bout.episodes, rows, strict=False)
    )
    return Sample(GAME, (replace(bout, episodes=episodes),))


def figures(sample):
    return [METRICS[name].measure(sample).mean for name in NAMES]


def test_each_figure_follows_from_the_centres(bout):
    hero = bout.episodes[0].seat_of(0)

    def seated(own, others):
        return [own if seat == hero else others.pop(0) for seat in range(7)]

    assert figures(stood(bout, seated(6, [6, 5, 4, 4, 4, 3]))) == [1, 0, 0, pytest.approx(6), 0]
    assert figures(stood(bout, seated(18, [6, 5, 3, 2, 0, 0]))) == [1, 1, 1, pytest.approx(18), 0]
    assert figures(stood(bout, seated(0, [8, 7, 6, 5, 4, 4]))) == [0, 0, 0, pytest.approx(0), 1]


def test_in_a_rotated_match_of_equals_everybody_has_a_seventh(bout):
    sample = Sample(GAME, (bout,))
    owned = sum(bout.episodes[0].signals["centers"][-1]) * 34
    assert METRICS["centres"].measure(sample).mean == pytest.approx(owned / 7, abs=1.0)
    assert METRICS["pay"].measure(sample).mean == pytest.approx(1 / 7, abs=0.05)


def test_other_games_have_no_such_figures():
    game = make_game("kuhn")
    random = make_player("random", game)
    sample = Sample(game, (Table(2, Key(0)).bout(game, random, random, ("opponents",)),))
    assert [METRICS[name].measure(sample) for name in NAMES] == [None] * 5


def test_suites_of_diplomacy_print_them():
    assert find_suite("diplomacy").metrics == STANDING_METRICS
    assert find_suite("diplomacy(until=1903)").metrics == STANDING_METRICS
    assert find_suite("diplomacy", ("hold",)).metrics == STANDING_METRICS
