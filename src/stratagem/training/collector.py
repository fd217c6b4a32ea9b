"""Collectors of rollouts: each plays one game, and returns a batch of examples with advantages."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.drawn.distribution import GameStream
from stratagem.games.key import Key
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


class StreamCollector:
    """Collector of a stream: in each iteration the rollouts of fresh games, which nothing later depends on."""

    def __init__(
        self, stream: GameStream, make: Callable[[Game[Any], Key], Collector], key: Key, apart: frozenset[str]
    ) -> None:
        self.stream = stream
        self._make, self._key, self._apart = make, key, apart

    def collect(self, iteration: int) -> RolloutBatch:
        """Play the games of an iteration; their metrics are means under the name of the stream."""
        names = self.stream.games_of(iteration).games(apart=self._apart)
        games = [make_bounded_game(one.name) for one in names]
        parts = [self._make(game, self._key.at("stream", iteration)).collect(iteration) for game in games]
        return replace(merge(parts), metrics=self._mean_metrics(games, parts))

    def _mean_metrics(self, games: Sequence[Game[Any]], parts: Sequence[RolloutBatch]) -> dict[str, float]:
        values = defaultdict[str, list[float]](list)
        for game, part in zip(games, parts, strict=True):
            for name, value in part.metrics.items():
                first = name.removeprefix(f"{game.figure_name}/")
                values[name if first == name else f"{self.stream.figure_name}/{first}"].append(value)
        return {name: math.fsum(some) / len(some) for name, some in values.items()}

    def state(self) -> dict[str, Any]:
        """Nothing: an iteration begins with no memory of earlier ones."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue, as from the start."""


def merge(parts: Sequence[RolloutBatch]) -> RolloutBatch:
    """Merge the batches of several games; every example gets all reward terms, and the total number as divisor."""
    examples = [example for part in parts for example in part.examples]
    terms = frozenset[str]().union(*(part.terms for part in parts))
    divisor = float(max(1, len(examples)))
    columns = sorted(TERM + name for name in terms)
    whole = [_with_columns(example, columns).with_row(divisor=divisor) for example in examples]
    counts = Counter[str]()
    for part in parts:
        counts.update(part.counts)  # a sum of counters would lose the zeros
    metrics = {name: value for part in parts for name, value in part.metrics.items()}
    active = frozenset[str]().union(*(part.terms - part.inactive for part in parts))
    episodes = [episode for part in parts for episode in part.episodes]
    return RolloutBatch(whole, metrics, episodes, dict(counts), terms, terms - active)


def _with_columns(example: Example, columns: Sequence[str]) -> Example:
    """Return the example with 0 in the columns that it lacks."""
    missing = [name for name in columns if name not in example.columns]
    if not missing:
        return example
    return example.with_columns(**dict.fromkeys(missing, (0.0,) * len(example.loss_positions)))
