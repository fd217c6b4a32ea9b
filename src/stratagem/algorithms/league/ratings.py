"""Elo ratings by maximum likelihood from all games at once, with intervals.

They are for people to read; of all rules of matchmaking only `rating_near` uses them. The model is Bradley and Terry's
(1952): A beats B with probability 1 / (1 + 10^((R_B - R_A) / 400)). A draw counts as half a win of each. Half a virtual
draw of everybody with the mean keeps ratings finite for a member that won all games. Games of one deal are one
observation, with the mean of their points: they are not independent, and a mean of numbers between 0 and 1 varies at
most as much as one game, so no interval is too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MEAN = 1500.0
"""Mean rating of a population, which the model leaves free."""
_SCALE = 400.0 / np.log(10.0)
"""Rating points for a unit of log-odds."""
_PRIOR = 0.5
"""Number of virtual draws of each member with the mean."""
_Z = 1.959964
"""Quantile of the normal distribution at .975, for 95 % intervals."""
_STEPS, _CLOSE = 100, 1e-10
"""Limits of Newton's method: steps, and the log-odds of a step that counts as none."""
_LARGEST_STEP = 2.0
"""Log-odds of one step at most: the slope is flat for a member that won all games, and a whole step would overshoot."""


@dataclass(frozen=True)
class Score:
    """Result of a pair: the points of the first (1, 0.5 or 0), or their sum over so many games."""

    first: str
    second: str
    points: float
    games: float = 1.0
    deal: str = ""
    """Deal, of which all scores of the pair are one observation; empty where each game is one of its own."""


@dataclass(frozen=True)
class Rating:
    """A rating with its 95 % interval."""

    name: str
    elo: float
    low: float
    high: float
    games: float
    """Independent observations: games, those of one deal counted once."""


def elo(scores: Iterable[Score]) -> list[Rating]:
    """Rate all members, the best first; the mean is 1500.

    Members that no chain of games links are linked by the virtual draws alone, and their intervals are as wide.
    """
    names, games, points = _tables(scores)
    if not names:
        return []
    strength = _fit_strengths(games, points)
    wide = _Z * _SCALE * _spread(games, strength)
    rows = zip(names, _points_of(strength), wide.tolist(), games.sum(axis=1).tolist(), strict=True)
    return sorted((Rating(n, v, v - w, v + w, g) for n, v, w, g in rows), key=lambda rating: -rating.elo)


def elo_by_name(scores: Iterable[Score]) -> dict[str, float]:
    """Rate all members without intervals, which is faster for many."""
    names, games, points = _tables(scores)
    return dict(zip(names, _points_of(_fit_strengths(games, points)), strict=True)) if names else {}


def elo_among(points: Floats, games: Floats, others: Floats) -> float:
    """Rate one member by maximum likelihood from its own games, with the ratings of the others fixed.

    Its cost grows with the number of opponents, so a learner can be rated often.
    """
    theirs = np.append((others - MEAN) / _SCALE, 0.0)  # the virtual draw is with one more, the mean
    points, games = np.append(points, _PRIOR / 2.0), np.append(games, _PRIOR)
    own = 0.0
    for _ in range(_STEPS):
        won = _logistic(own - theirs)
        step = float((points - games * won).sum() / (games * won * (1.0 - won)).sum())
        own += min(_LARGEST_STEP, max(-_LARGEST_STEP, step))
        if abs(step) < _CLOSE:
            break
    return MEAN + float(_SCALE) * own


def by_deal(scores: Iterable[Score]) -> Iterator[Score]:
    """Yield one score for all that a pair played of a deal, the mean as of a single game; the others as they are."""
    deals: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores:
        if not score.deal:
            yield score
        else:
            result = score if score.first <= score.second else _swap_players(score)
            deals.setdefault((result.first, result.second, result.deal), []).append(result)
    for (first, second, deal), some in deals.items():
        if games := sum(score.games for score in some):
            yield Score(first, second, sum(score.points for score in some) / games, 1.0, deal)


def _swap_players(score: Score) -> Score:
    """Return the same result from the other side."""
    return Score(score.second, score.first, score.games - score.points, score.games, score.deal)


def _tables(scores: Iterable[Score]) -> tuple[list[str], Floats, Floats]:
    """Tabulate scores: names in order; games and points by pair, one view for each side."""
    listed = [score for score in by_deal(scores) if score.games > 0.0 and score.first != score.second]
    names = sorted({name for score in listed for name in (score.first, score.second)})
    index = {name: number for number, name in enumerate(names)}
    sides = np.array([(index[score.first], index[score.second]) for score in listed], np.int64).reshape(-1, 2)
    counts = np.array([(score.games, score.points) for score in listed]).reshape(-1, 2)
    rows, columns = sides.ravel(), sides[:, ::-1].ravel()
    games, points = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    np.add.at(games, (rows, columns), np.repeat(counts[:, 0], 2))
    np.add.at(points, (rows, columns), np.stack([counts[:, 1], counts[:, 0] - counts[:, 1]], axis=1).ravel())
    return names, games, points


def _points_of(strength: Floats) -> list[float]:
    values: list[float] = (MEAN + _SCALE * (strength - strength.mean())).tolist()
    return values


def _fit_strengths(games: Floats, points: Floats) -> Floats:
    """Fit log-strengths by Newton's method."""
    strength = np.zeros(len(games))
    for _ in range(_STEPS):
        won = _logistic(strength[:, None] - strength[None, :])
        own = _logistic(strength)
        slope = (points - games * won).sum(axis=1) + _PRIOR * (0.5 - own)
        step = np.linalg.solve(_information(games, won, own), slope)
        strength = strength + np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
        if np.abs(step).max() < _CLOSE:
            break
    return strength


def _spread(games: Floats, strength: Floats) -> Floats:
    """Return the standard errors of log-strengths about their mean."""
    won, own = _logistic(strength[:, None] - strength[None, :]), _logistic(strength)
    covariance = np.linalg.inv(_information(games, won, own))
    spread: Floats = np.sqrt(np.diag(covariance) - 2.0 * covariance.mean(axis=1) + covariance.mean())
    return spread


def _information(games: Floats, won: Floats, own: Floats) -> Floats:
    """Return the Fisher information of the log-strengths."""
    weight = games * won * (1.0 - won)
    information: Floats = np.diag(weight.sum(axis=1) + _PRIOR * own * (1.0 - own)) - weight
    return information


def _logistic(x: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-x))
