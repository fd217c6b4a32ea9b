"""Exploitability over games: limits that count a game as a sample, from replies that all games share.

Of each game there are two gains, in shares of its payoff range: that of an exploiter on replies by which it was not
chosen, which no bias raises, and that of the best response to all replies, which is biased upwards (`limits`). Both are
added over the games and divided by the same sum of random play. The lower limit resamples the games with the first gain
and the upper one with the second (bootstrap of Efron 1979, percentiles widened for few games as by Hesterberg 2015,
What teachers should know about the bootstrap, section 3.2). The gains of the games have the noise of their replies, so
the limits are over games and over replies.

Fixed games, such as the known ones, are no sample: their limits are over replies alone. The difference of two ratios
has its limits by the variances that each limit implies (MOVER: Zou and Donner 2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from stratagem.games.key import Key
from stratagem.games.tree import TERMINAL
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import (
    PILOT,
    Asked,
    ExploitabilityLimits,
    Z,
    apportion_by_use,
    limits_of_stages,
    point,
    usefulness,
)
from stratagem.measure.sampled.questions import Floats
from stratagem.measure.sampled.tally import frequencies
from stratagem.measure.tree_policy import Oracle

FEWEST = 5
"""Smallest number of games over which a bootstrap says anything."""
_RESAMPLES = 4_000
_LEVEL = 0.95


class AskedGame(NamedTuple):
    """Game in which a player is asked, with its gains as shares of the payoff range."""

    gain: ResponseGain
    ask: Asked
    random: float
    """Exploitability of random play."""
    weight: float
    """Share of its gain in the sum of which it is a part."""


@dataclass(frozen=True, eq=False)
class GameShare:
    """Exploitability of a player in one game, as a share of the payoff range."""

    limits: ExploitabilityLimits
    random: float
    value: float
    """Estimate, of which the limits are those of one game alone."""


class RatioLimits(NamedTuple):
    """Sum of exploitabilities over that of random play, with one-sided limits of 95 % each."""

    value: float
    lower: float
    upper: float


def scale_gain(gain: ResponseGain) -> ResponseGain:
    """Return a gain in shares of each seat's payoff range, of the whole game or of one of its independent rounds."""
    tree = gain.tree
    paid = tree.returns[tree.mover == TERMINAL]
    ranges = paid.max(axis=0) - paid.min(axis=0)
    shares = tree.returns / np.where(ranges > 0.0, ranges, 1.0)
    scaled = replace(tree, returns=shares, rounds=np.ones_like(tree.rounds))  # no gain a round: a game is one sample
    return ResponseGain(Oracle(scaled), replace(gain.questions, tree=scaled))


def measure_games(games: Sequence[AskedGame], replies: int, key: Key) -> list[GameShare]:
    """Ask a player in all games in two stages; the second has its replies by what the first says of their use."""
    sizes = [len(one.gain.questions) for one in games]
    each = max(1, round(PILOT * replies / sum(sizes)))
    pilots = [one.ask(np.full(size, each, dtype=np.int64)) for one, size in zip(games, sizes, strict=True)]
    exploiters = [
        one.gain.best_responses(frequencies(one.gain.questions, pilot.counts))
        for one, pilot in zip(games, pilots, strict=True)
    ]
    useful = [
        one.weight * usefulness(one.gain, pilot, key.at(number))
        for number, (one, pilot) in enumerate(zip(games, pilots, strict=True))
    ]
    left = max(0, replies - each * sum(sizes) - sum(sizes))  # beside one reply to each question
    numbers = 1 + apportion_by_use(np.concatenate(useful), left, least=0)
    by_game = np.split(numbers, np.cumsum(sizes)[:-1])
    found = []
    for one, pilot, exploiter, counts in zip(games, pilots, exploiters, by_game, strict=True):
        second = one.ask(counts)
        total = int(pilot.counts.sum() + second.counts.sum())
        limits = limits_of_stages(one.gain, pilot, second, total, exploiter)
        found.append(share_of(limits, one.random, point(one.gain, limits.tally)))
    return found


def share_of(limits: ExploitabilityLimits, random: float, value: float) -> GameShare:
    """Return the share of a game, whose estimate is between its limits."""
    return GameShare(limits, random, min(max(value, limits.lower), limits.upper))


def ratio_over_games(shares: Sequence[GameShare], key: Key, *, by_random: bool = True) -> RatioLimits:
    """Return the ratio over drawn games, with limits over games and replies; without `by_random` the mean share."""
    judged, best, value, random = _columns(shares, by_random=by_random)
    number = len(shares)
    drawn = np.random.default_rng(key.value).integers(number, size=(_RESAMPLES, number))
    sums = random[drawn].sum(axis=1)
    tail = _widened_tail(number)
    lower = float(np.quantile(judged[drawn].sum(axis=1) / sums, tail))
    upper = float(np.quantile(best[drawn].sum(axis=1) / sums, 1.0 - tail))
    return _order_limits(float(value.sum() / random.sum()), lower, upper)


def ratio_in_games(shares: Sequence[GameShare]) -> RatioLimits:
    """Return the ratio in fixed games, with limits over replies alone."""
    judged, best, value, random = _columns(shares, by_random=True)
    low, high = (
        math.sqrt(sum((one.se or 0.0) ** 2 for one in estimates))
        for estimates in ([s.limits.judged for s in shares], [s.limits.gain for s in shares])
    )
    total = float(random.sum())
    lower, upper = (float(judged.sum()) - Z * low) / total, (float(best.sum()) + Z * high) / total
    return _order_limits(float(value.sum()) / total, lower, upper)


def difference(one: RatioLimits, other: RatioLimits) -> RatioLimits:
    """Return one ratio less another, with limits by the variance that each of their limits implies."""
    value = one.value - other.value
    below = math.hypot(one.value - one.lower, other.upper - other.value)
    above = math.hypot(one.upper - one.value, other.value - other.lower)
    return RatioLimits(value, value - below, value + above)


def p_of_known(drawn: Sequence[GameShare], known: Sequence[GameShare]) -> float:
    """Return how often as many games of all have a ratio as low as the known ones: they are one of the choices."""
    values = np.array([one.value for one in (*known, *drawn)])
    random = np.array([one.random for one in (*known, *drawn)])
    chosen = np.array(list(combinations(range(len(values)), len(known))))
    ratios = values[chosen].sum(axis=1) / random[chosen].sum(axis=1)
    return float(np.mean(ratios <= ratios[0] + 1e-12))


def worst_game(shares: Sequence[GameShare]) -> tuple[int, float]:
    """Return the number of the most exploitable game, and a lower limit that holds though it was chosen."""
    from scipy.special import ndtri  # `scipy.stats` takes ten times as long to import

    z = float(ndtri(1.0 - (1.0 - _LEVEL) / len(shares)))
    lowest = [one.limits.judged.mean - z * (one.limits.judged.se or 0.0) for one in shares]
    worst = max(range(len(shares)), key=lambda number: (lowest[number], shares[number].value))
    return worst, max(0.0, lowest[worst])


def _columns(shares: Sequence[GameShare], *, by_random: bool) -> tuple[Floats, Floats, Floats, Floats]:
    """Return by game: the gain on fresh replies, that of the best response to all, the estimate, and random play's."""
    rows = [
        (one.limits.judged.mean, one.limits.gain.mean, one.value, one.random if by_random else 1.0) for one in shares
    ]
    judged, best, value, random = np.array(rows).T
    return judged, best, value, random


def _widened_tail(number: int) -> float:
    """Return the tail of a percentile that has the width of Student's interval of so many games."""
    from scipy.special import ndtr, stdtrit

    return float(ndtr(-math.sqrt(number / (number - 1)) * stdtrit(number - 1, _LEVEL)))


def _order_limits(value: float, lower: float, upper: float) -> RatioLimits:
    lower = max(0.0, lower)
    upper = max(lower, upper)
    return RatioLimits(min(max(value, lower), upper), lower, upper)
