"""A skill rises with games won, is known better with more of them, and is drawn by its key."""

import math

import pytest

from stratagem.algorithms.league.crossplay import Placing, skills
from stratagem.games.key import Key


def test_one_game_moves_it_as_openskill_prints():
    """Weng and Lin's Algorithm 4 for two newcomers: c^2 = 2 (sigma^2 + beta^2), and the mean moves sigma^2 / 2c.

    Before a game openskill adds tau^2 to what is not known, with tau = 25/300.
    """
    best, other = skills([Placing(("a", "b"), (1.0, 0.0))], Key(0))
    sigma, beta = math.hypot(25 / 3, 25 / 300), 25 / 6
    moved = sigma**2 / (2 * math.sqrt(2 * (sigma**2 + beta**2)))
    assert (best.name, other.name) == ("a", "b")
    assert (best.mu, other.mu) == (pytest.approx(25 + moved), pytest.approx(25 - moved))
    assert best.sigma == other.sigma == pytest.approx(8.0659, abs=1e-4)


def test_who_wins_more_stands_higher_and_is_better_known():
    games = [Placing(("a", "b"), (float(n % 4 > 0), float(n % 4 == 0))) for n in range(80)]
    games += [Placing(("b", "c"), (1.0, 0.0)), Placing(("c", "c"), (3.0, 1.0))]
    found = skills(games, Key(1))
    assert [skill.name for skill in found] == ["a", "b", "c"]
    assert {skill.name: skill.sigma for skill in found}["c"] > found[0].sigma
    assert found == skills(games, Key(1)) != skills(games, Key(2))


def test_ties_leave_newcomers_alike():
    first, second = skills([Placing(("a", "b"), (0.5, 0.5))], Key(0))
    assert first.mu == pytest.approx(second.mu)
