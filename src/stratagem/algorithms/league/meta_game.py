"""Empirical game over the members of a population: analysis of a cross-play matrix.

`pay[i, j]` is the payoff of i against j, with chance level 0 and `pay = -pay.T`, as win rates less one half are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadParameter

Floats = NDArray[np.float64]
_ALIKE = 1e-9
"""Gain below which two count as equals, where the formula of fixation is 0 / 0; its limit is 1 / crowd."""


def skew(rates: Floats) -> Floats:
    """Turn win rates into a symmetric zero-sum game: the advantage of each over each."""
    table = np.asarray(rates, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not len(table):
        raise BadParameter(f"A cross-play matrix is a square of numbers, not of shape {table.shape}.")
    pay: Floats = (table - table.T) / 2.0
    return pay


def nash_mixture(pay: Floats) -> Floats:
    """Return a mixture against which no member wins on average (linear programme; of several the solver's choice)."""
    from scipy.optimize import linprog

    size = len(pay)
    cost = np.array([*np.zeros(size), -1.0])  # as much as can be had whatever the other does
    bounds = np.hstack([-pay.T, np.ones((size, 1))])
    whole = np.array([[*np.ones(size), 0.0]])
    share = linprog(cost, bounds, np.zeros(size), whole, [1.0], [(0, None)] * size + [(None, None)])
    mixture = np.maximum(share.x[:size], 0.0)
    evened: Floats = mixture / mixture.sum()
    return evened


def alpha_rank(pay: Floats, alpha: float = 100.0, crowd: int = 50) -> Floats:
    """Compute the stationary share of each member by alpha-Rank (Omidshafiei et al. 2019) for one population.

    The chain goes from i to j with rho / (n - 1), where rho is the probability that one j takes over a crowd of i;
    between equals that is 1 / crowd. `alpha` is the intensity of selection.
    """
    size = len(pay)
    if size == 1:
        return np.ones(1)
    gain = alpha * (pay.T - pay)  # of an invader j over those who are there, i
    takes = np.full((size, size), 1.0 / crowd)
    for one, other in ((i, j) for i in range(size) for j in range(size) if i != j):
        takes[one, other] = _fixation(gain[one, other], crowd)
    chain = takes / (size - 1)
    np.fill_diagonal(chain, 0.0)
    np.fill_diagonal(chain, 1.0 - chain.sum(axis=1))
    return _stationary(chain)


def _fixation(gain: float, crowd: int) -> float:
    """Return the probability that one invader takes over, by its gain."""
    if abs(gain) < _ALIKE:
        return 1.0 / crowd
    with np.errstate(over="ignore"):
        return float(np.expm1(-gain) / np.expm1(-crowd * gain)) if gain > 0 else _rare(-gain, crowd)


def _rare(loss: float, crowd: int) -> float:
    """Return the same for an invader that loses, without overflow: nearly e^-(crowd - 1) loss."""
    return float(np.exp(-(crowd - 1) * loss) * np.expm1(-loss) / np.expm1(-crowd * loss))


def _stationary(chain: Floats) -> Floats:
    """Return the stationary distribution of a Markov chain."""
    size = len(chain)
    equations = np.vstack([chain.T - np.eye(size), np.ones(size)])
    shares, *_ = np.linalg.lstsq(equations, np.array([*np.zeros(size), 1.0]), rcond=None)
    shares = np.maximum(shares, 0.0)  # least squares may leave rounding below 0
    share: Floats = shares / shares.sum()
    return share


def cycles(pay: Floats, names: Sequence[str], least: float = 0.0) -> Iterator[tuple[str, str, str]]:
    """Triples of which each beats the next by more than `least`: rock, scissors, paper, each named once."""
    beats = pay > least
    for a, b, c in combinations(range(len(names)), 3):
        if beats[a, b] and beats[b, c] and beats[c, a]:
            yield names[a], names[b], names[c]
        elif beats[a, c] and beats[c, b] and beats[b, a]:
            yield names[a], names[c], names[b]


def find_forgotten_wins(
    pay: Floats, names: Sequence[str], lines: Sequence[Sequence[str]], least: float = 0.0
) -> Iterator[tuple[str, str, str]]:
    """Losses to members that an earlier checkpoint of the same line beat: (later, earlier, whom).

    `lines` are the checkpoints of each learner in their order.
    """
    index = {name: number for number, name in enumerate(names)}
    for line in lines:
        for earlier, later in combinations([name for name in line if name in index], 2):
            for other in names:
                if other in (earlier, later):
                    continue
                if pay[index[earlier], index[other]] > least and pay[index[later], index[other]] < -least:
                    yield later, earlier, other
