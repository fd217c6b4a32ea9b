"""Families of comparisons: what is tested together is declared before the data, and corrected together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stratagem.errors import StratagemError
from stratagem.evaluation.statistics import holm


@dataclass(frozen=True)
class Family:
    """Family of comparisons whose chance of any false discovery is at most the level of one test."""

    name: str
    comparisons: tuple[str, ...]
    """Every comparison by name, declared before any of them is made."""

    def __post_init__(self) -> None:
        if len(set(self.comparisons)) != len(self.comparisons):
            raise StratagemError(f"The family {self.name} names a comparison twice: {', '.join(self.comparisons)}.")

    def __len__(self) -> int:
        return len(self.comparisons)

    def holm(self, p_values: Mapping[str, float | None]) -> dict[str, float]:
        """Holm's adjusted p by comparison. A comparison without a p (None, or not there) counts and is left out."""
        if unknown := [name for name in p_values if name not in self.comparisons]:
            raise StratagemError(
                f"The family {self.name} was declared without {', '.join(unknown)}; its comparisons are "
                f"{', '.join(self.comparisons)}."
            )
        given = {name: p for name in self.comparisons if (p := p_values.get(name)) is not None}
        missing = [1.0] * (len(self) - len(given))  # what was not run could have been anything
        return dict(zip(given, holm([*given.values(), *missing]), strict=False))
