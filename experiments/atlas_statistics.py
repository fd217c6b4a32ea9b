"""Statistics of the atlas over clusters: policies in runs from one SFT model, and these in games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from drawn_agents_table import quantiles
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Clusters = Mapping[str, Mapping[str, Sequence[float]]]
"""Values by game and by SFT model."""
ROUNDS, PERMUTATIONS = 2_000, 10_000
"""Samples of a bootstrap, and permutations."""


def clustered_figure(found: Clusters) -> float:
    """Return the mean over games of the mean over SFT models of the mean of their values."""
    return float(np.mean([np.mean([np.mean(values) for values in own.values()]) for own in found.values()]))


def bootstrap_interval(found: Clusters, *, over_games: bool, rounds: int = ROUNDS) -> list[float]:
    """Return the 95 % interval of the figure: SFT models are drawn again in each game; before them games, if asked.

    All values of an SFT model stay together, so that runs which start from one are no independent observations.
    """
    generator = np.random.default_rng(0)
    means = [[float(np.mean(values)) for values in own.values()] for own in found.values()]
    sizes = np.array([len(own) for own in means])
    table = np.array([own + [0.0] * (max(sizes) - len(own)) for own in means])
    every = np.tile(np.arange(len(means)), (rounds, 1))
    games = generator.integers(len(means), size=every.shape) if over_games else every
    families = (generator.random((*games.shape, table.shape[1])) * sizes[games][..., None]).astype(np.int64)
    drawn = np.arange(table.shape[1]) < sizes[games][..., None]  # as many as the game has
    sums = (table[games[..., None], families] * drawn).sum(axis=2)
    return quantiles((sums / sizes[games]).mean(axis=1).tolist())


def low_quantile(found: Clusters, share: float) -> float:
    """Return the largest value below which at most this share lies, where games and their SFT models weigh equally."""
    pairs = sorted(
        (value, 1.0 / (len(found) * len(own) * len(values)))
        for own in found.values()
        for values in own.values()
        for value in values
    )
    below = np.cumsum([weight for _, weight in pairs]) - [weight for _, weight in pairs]
    return pairs[int(np.flatnonzero(below <= share + 1e-9)[-1])][0]


def rank_correlations(seen: Floats, exact: Floats, groups: Sequence[str]) -> dict[str, Any]:
    """Return Kendall's tau-b and Spearman's rho of figures by draw with the exact ones, the means over the draws.

    The p of tau is two-sided, by permutations of the exact figures within each group, so that differences between
    groups prove nothing. The intervals are of a bootstrap over the groups. Draws without two values have none.
    """
    generator = np.random.default_rng(0)
    members = [np.flatnonzero(np.array(groups) == group) for group in dict.fromkeys(groups)]
    value = _mean_tau(seen, exact)
    slopes = _mean_signs(seen)
    signs = np.sign(exact[:, None] - exact[None, :])
    length = np.sqrt((signs != 0).sum())
    larger = 0
    for _ in range(PERMUTATIONS):
        order = np.arange(len(exact))
        for own in members:
            order[own] = generator.permutation(own)
        larger += abs((slopes * signs[np.ix_(order, order)]).sum() / length) >= abs(value) - 1e-12 if length else 1
    samples = []
    for _ in range(ROUNDS):
        chosen = np.concatenate([members[number] for number in generator.integers(len(members), size=len(members))])
        samples.append((_mean_tau(seen[:, chosen], exact[chosen]), _mean_rho(seen[:, chosen], exact[chosen])))
    taus, rhos = zip(*samples, strict=True)
    return {
        "Kendall": value,
        "Kendall interval": quantiles(taus),
        "Spearman": _mean_rho(seen, exact),
        "Spearman interval": quantiles(rhos),
        "p": (1 + larger) / (1 + PERMUTATIONS),
    }


def _mean_signs(seen: Floats) -> Floats:
    """Return the signs of the differences of all pairs over their number's root, the mean over the draws."""
    signs = np.sign(seen[:, :, None] - seen[:, None, :])
    lengths = np.sqrt((signs != 0).sum(axis=(1, 2)))
    result: Floats = (signs / np.maximum(lengths, 1.0)[:, None, None]).mean(axis=0)
    return result


def _mean_tau(seen: Floats, exact: Floats) -> float:
    """Return tau-b, the mean over the draws; one whose figures are all equal orders nothing and counts as 0."""
    signs = np.sign(exact[:, None] - exact[None, :])
    return float((_mean_signs(seen) * signs).sum() / max(np.sqrt((signs != 0).sum()), 1.0))


def _mean_rho(seen: Floats, exact: Floats) -> float:
    return float(np.mean([_standard(row) for row in seen], axis=0) @ _standard(exact) / len(exact))


def _standard(values: Floats) -> Floats:
    """Return ranks with mean 0 and variance 1; zeros where all values are equal."""
    ranks = rankdata(values)
    spread = ranks.std()
    result: Floats = (ranks - ranks.mean()) / spread if spread else np.zeros(len(ranks))
    return result
