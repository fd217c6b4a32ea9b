"""Meta-game of a population: mixture of its members that none beats, cycles of three, and lines of descent.

The advantage of i over j is A_ij = (u_ij - u_ji) / 2, half the difference of their payoffs. Its standard error is taken
as half the sum of both standard errors. That is exact in a zero-sum game, and else an upper bound.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from stratagem.algorithms.league.meta_game import Floats, cycles, nash_mixture
from stratagem.games.base import Json
from stratagem.games.key import Key
from stratagem.measure.statistics import Estimate, holm, students_p

REDRAWN = 200
"""Number of matrices that are redrawn from their standard errors."""
_LEVEL = 0.05
_SHOWN = 30
"""Largest number of cycles that are listed, the surest ones."""
_CHECKPOINT = re.compile(r"(?P<line>run:.+)@(?P<step>\d+)@[^@]*|(?P<plain>run:[^@]+)@(?P<at>\d+)")
Cell = Mapping[str, Any] | None
"""Payoff of one player against another with its standard error; None where they did not meet."""


class LineageMember(NamedTuple):
    """Place of a player in its line of descent."""

    line: str
    """Learner or run of which it is a checkpoint; empty where it is of none."""
    step: int = 0
    role: str = ""


class Advantages(NamedTuple):
    """Advantages of everybody over everybody; NaN where two did not meet."""

    mean: Floats
    se: Floats
    """Standard errors; 0 where the figure is exact or all deals are equal, NaN where one deal was played."""
    n: np.ndarray[Any, np.dtype[np.int64]]
    exact: np.ndarray[Any, np.dtype[np.bool_]]

    def of(self, row: int, column: int) -> Estimate:
        """Return one advantage as an estimate."""
        place, se = (row, column), float(self.se[row, column])
        error, exact = None if np.isnan(se) else se, bool(self.exact[place])
        return Estimate(float(self.mean[place]), error, int(self.n[place]), exact=exact)


def advantages(pay: Sequence[Sequence[Cell]]) -> Advantages:
    """Return the advantages that follow from a matrix of payoffs."""
    size = len(pay)
    mean, se, n = np.full((size, size), np.nan), np.full((size, size), np.nan), np.zeros((size, size), dtype=np.int64)
    exact = np.eye(size, dtype=np.bool_)
    for row in range(size):
        mean[row, row] = se[row, row] = 0.0
        for column in range(size):
            own, other = pay[row][column], pay[column][row]
            if row != column and own and other and own["mean"] is not None and other["mean"] is not None:
                mean[row, column] = (own["mean"] - other["mean"]) / 2.0
                se[row, column] = (_error(own) + _error(other)) / 2.0
                n[row, column] = min(own["n"], other["n"])
                exact[row, column] = own["exact"] and other["exact"]
    return Advantages(mean, se, n, exact)


def _error(cell: Mapping[str, Any]) -> float:
    if cell["exact"]:
        return 0.0
    return np.nan if cell["se"] is None else float(cell["se"])


def meta_game(pay: Sequence[Sequence[Cell]], members: Sequence[LineageMember]) -> Json:
    """Return the Nash mixture, the cycles and the lines of descent of a population."""
    found = advantages(pay)
    return {"nash": _nash(found), **_cycles(found), "lines": _lines(found, members)}


def _nash(found: Advantages) -> list[Json | None]:
    """Return the share of each member with its interval; None for those who did not meet all others."""
    kept = complete(~np.isnan(found.mean))
    if len(kept) < 2:
        return [None] * len(found.mean)
    inner = np.ix_(kept, kept)
    shares = _mixture(found.mean[inner].tobytes(), np.nan_to_num(found.se[inner], nan=0.0).tobytes(), len(kept))
    return [shares[kept.index(place)] if place in kept else None for place in range(len(found.mean))]


def complete(met: np.ndarray[Any, np.dtype[np.bool_]]) -> list[int]:
    """Return members who all met each other, leaving out one after another who met the fewest."""
    kept = list(range(len(met)))
    while kept and not met[np.ix_(kept, kept)].all():
        missing = (~met[np.ix_(kept, kept)]).sum(axis=1)
        kept.pop(len(kept) - 1 - int(np.argmax(missing[::-1])))
    return kept


@lru_cache(maxsize=64)
def _mixture(mean: bytes, se: bytes, size: int) -> list[Json]:
    """Return the Nash mixture, and its 95 % interval over matrices redrawn from their standard errors."""
    pay, errors = (np.frombuffer(data).reshape(size, size) for data in (mean, se))
    share = nash_mixture(pay)
    if not errors.any():
        return [{"share": float(one), "low": None, "high": None} for one in share]
    generator = np.random.default_rng(Key(0).at("meta-game").value)
    upper = np.triu(np.ones((size, size)), 1)
    drawn = [pay * upper + errors * upper * generator.standard_normal((size, size)) for _ in range(REDRAWN)]
    low, high = np.quantile([nash_mixture(one - one.T) for one in drawn], [0.025, 0.975], axis=0)
    return [{"share": float(share[at]), "low": float(low[at]), "high": float(high[at])} for at in range(size)]


def _cycles(found: Advantages) -> Json:
    """Return triples of which each beats the next, with p of the least sure of the three, by Holm over all triples.

    A triple is a cycle if all three advantages are positive. So its p is the largest of the three one-sided p-values
    (intersection-union test, Berger 1982).
    """
    size = len(found.mean)
    triples = [tuple(map(int, one)) for one in cycles(np.nan_to_num(found.mean), [str(at) for at in range(size)])]
    tested = 2 * _whole(~np.isnan(found.mean))
    edges = [[found.of(one, other) for one, other in pairwise((*triple, triple[0]))] for triple in triples]
    p_values = [max(map(_one_sided, some)) for some in edges]
    adjusted = holm([*p_values, *[1.0] * (tested - len(p_values))])[: len(p_values)]
    order = sorted(range(len(triples)), key=lambda at: (adjusted[at], p_values[at]))
    return {
        "triples": tested // 2,
        "num_cycles": len(triples),
        "num_sure": sum(p <= _LEVEL for p in adjusted),
        "cycles": [
            {"players": triples[at], "margins": [_json(one) for one in edges[at]], "p": adjusted[at]}
            for at in order[:_SHOWN]
        ],
    }


def _whole(met: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    """Return the number of triples of which each met each."""
    links = (met & ~np.eye(len(met), dtype=bool)).astype(np.int64)
    return int(np.trace(links @ links @ links)) // 6


def _one_sided(advantage: Estimate) -> float:
    """Return p of the test that a positive advantage is not above 0."""
    if advantage.exact:
        return 0.0
    p = students_p(advantage)
    return 1.0 if p is None else p / 2.0


def _lines(found: Advantages, members: Sequence[LineageMember]) -> list[Json]:
    """Return the checkpoints of each learner in their order, each with its advantage over the one before."""
    names = dict.fromkeys(member.line for member in members if member.line)
    base = [place for place, member in enumerate(members) if member.role == "base"]
    lines = []
    for name in names:
        own = sorted((member.step, place) for place, member in enumerate(members) if member.line == name)
        order = [*base, *(place for _, place in own)]
        gains = [None, *(_gain(found, later, earlier) for earlier, later in pairwise(order))]
        role = next(member.role for member in members if member.line == name)
        lines.append({"name": name, "role": role.replace("_", " "), "places": order, "gains": gains})
    return [line for line in lines if len(line["places"]) > 1]


def _gain(found: Advantages, later: int, earlier: int) -> Json | None:
    gain = found.of(later, earlier)
    return None if np.isnan(gain.mean) else _json(gain)


def _json(estimate: Estimate) -> Json:
    return {"mean": estimate.mean, "se": estimate.se, "n": estimate.n, "exact": estimate.exact}


def member_of(name: str) -> LineageMember:
    """Read the checkpoint of a run from the name of a player, as in `run:runs/demo@40`."""
    found = _CHECKPOINT.fullmatch(name)
    return (
        LineageMember(found["line"] or found["plain"], int(found["step"] or found["at"]), "run")
        if found
        else LineageMember("")
    )
