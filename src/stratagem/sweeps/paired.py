"""Paired tests of a declared family: differences by seed, their intervals, p-values and Holm's correction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stratagem.evaluation.family import Family
from stratagem.evaluation.statistics import Estimate, sign_flip_p, students_p, with_interval
from stratagem.games.key import Key

BySeed = Mapping[int, float]
PValue = Callable[[str, Sequence[float]], float | None]
"""Function from a comparison's name and its differences to a p-value; None where they are too few."""


@dataclass(frozen=True)
class PairedTest:
    """Test of one comparison over the seeds that both arms have."""

    name: str
    by_seed: BySeed
    """Difference of each seed."""
    p: float | None
    """P-value of this comparison alone; None where it was not tested."""
    holm_p: float | None
    """The same p, corrected for all comparisons of the family (Holm 1979)."""

    @property
    def estimate(self) -> Estimate:
        """Mean difference with a 95 % interval over seeds, by Student's t."""
        return with_interval([*self.by_seed.values()])


def by_seed(rows: Iterable[tuple[int, float | None]]) -> dict[int, float]:
    """Collect the values by seed; seeds without a value are left out."""
    return {seed: value for seed, value in rows if value is not None}


def paired(first: BySeed, second: BySeed) -> dict[int, float]:
    """Return `first` less `second` in every seed that both have."""
    return {seed: first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())}


def paired_tests(family: Family, differences: Mapping[str, BySeed], p_value: PValue) -> dict[str, PairedTest]:
    """Test every comparison that was run. The others of the family count as p = 1 in Holm's correction."""
    p = {name: p_value(name, [*own.values()]) for name, own in differences.items()}
    adjusted = family.holm(p)
    return {name: PairedTest(name, own, p[name], adjusted.get(name)) for name, own in differences.items()}


def students(name: str, differences: Sequence[float]) -> float | None:
    """Compute the two-sided p of Student's t-test over seeds."""
    return students_p(with_interval(differences))


def sign_flips(key: Key, min_seeds: int = 2, rounds: int = 10_000) -> PValue:
    """Return the two-sided sign-flip test over seeds: exact up to `rounds` patterns, and not made below `min_seeds`."""

    def p_value(name: str, differences: Sequence[float]) -> float | None:
        return sign_flip_p(differences, key.at(name), rounds) if len(differences) >= min_seeds else None

    return p_value
