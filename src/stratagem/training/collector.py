"""Collectors of rollouts: each plays one game, and returns a batch of examples with advantages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stratagem.learn.example import Example
from stratagem.learn.gradient_signal import TERM
from stratagem.playing.records import Episode


@dataclass(frozen=True)
class RolloutBatch:
    """Training examples of an iteration, with their episodes and metrics."""

    examples: list[Example]
    metrics: dict[str, float]
    episodes: list[Episode]
    counts: dict[str, int]
    """Counts of groups and advantages, from the advantage estimators."""
    terms: frozenset[str]
    """Reward terms, those with value 0 included."""
    inactive: frozenset[str] = frozenset()
    """Penalty terms that are inactive in this batch."""


class Collector(Protocol):
    """Collector of an algorithm's rollouts in one game."""

    def collect(self, iteration: int) -> RolloutBatch:
        """Play an iteration, and estimate the advantages."""
        ...

    def state(self) -> dict[str, Any]:
        """All that a later iteration depends on."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        ...


class SeatedCollector(Protocol):
    """Collector of the rollouts of several policies in one game, which play each other."""

    def collect_each(self, iteration: int) -> dict[str, RolloutBatch]:
        """Play an iteration, and return the batch of each policy; every episode is in one of them."""
        ...

    def state(self) -> dict[str, Any]:
        """All that a later iteration depends on."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        ...


def merge(parts: Sequence[RolloutBatch]) -> RolloutBatch:
    """Merge the batches of several games; every example gets all reward terms, and the total number as divisor."""
    examples = [example for part in parts for example in part.examples]
    terms = frozenset[str]().union(*(part.terms for part in parts))
    divisor = float(max(1, len(examples)))
    whole = [_with_terms(example, terms).with_row(divisor=divisor) for example in examples]
    counts = Counter[str]()
    for part in parts:
        counts.update(part.counts)  # a sum of counters would lose the zeros
    metrics = {name: value for part in parts for name, value in part.metrics.items()}
    active = frozenset[str]().union(*(part.terms - part.inactive for part in parts))
    episodes = [episode for part in parts for episode in part.episodes]
    return RolloutBatch(whole, metrics, episodes, dict(counts), terms, terms - active)


def _with_terms(example: Example, terms: Iterable[str]) -> Example:
    """Return the example with 0 for the reward terms that it lacks."""
    missing = sorted(name for name in terms if TERM + name not in example.columns)
    if not missing:
        return example
    return example.with_columns(**{TERM + name: (0.0,) * len(example.loss_positions) for name in missing})
