"""What an iteration of play teaches, and how that of several games becomes one batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from stratagem.learning.example import Example
from stratagem.learning.gradient_signal import TERM
from stratagem.play.records import Episode


@dataclass(frozen=True)
class Collected:
    """What an iteration teaches, and what was seen while it was collected."""

    examples: list[Example]
    figures: dict[str, float]
    episodes: list[Episode]
    counts: dict[str, int]
    """Of groups, as the advantage estimators counted them."""
    terms: frozenset[str]
    """Of the reward, those that brought nothing included."""
    uncharged: frozenset[str] = frozenset()
    """Those that were not asked for anything, since nobody gained by what they charge for."""


class Collects(Protocol):
    """An algorithm in one game."""

    def collect(self, iteration: int) -> Collected:
        """What one iteration plays and teaches."""
        ...

    def state(self) -> dict[str, Any]:
        """What a later iteration depends on."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        ...


def joined(parts: Sequence[Collected]) -> Collected:
    """The iteration of several games as one: every example knows all terms, and the number of steps in all."""
    examples = [example for part in parts for example in part.examples]
    terms = frozenset[str]().union(*(part.terms for part in parts))
    divisor = float(max(1, len(examples)))
    whole = [replace(_with_terms(example, terms), row={**example.row, "divisor": divisor}) for example in examples]
    counts = sum((Counter(part.counts) for part in parts), start=Counter[str]())
    figures = {name: value for part in parts for name, value in part.figures.items()}
    charged = frozenset[str]().union(*(part.terms - part.uncharged for part in parts))
    episodes = [episode for part in parts for episode in part.episodes]
    return Collected(whole, figures, episodes, dict(counts), terms, terms - charged)


def _with_terms(example: Example, terms: Iterable[str]) -> Example:
    """The example with nothing for the terms that it does not know."""
    missing = sorted(name for name in terms if TERM + name not in example.columns)
    return example.with_columns(**{TERM + name: (0.0,) * len(example.taught) for name in missing})
