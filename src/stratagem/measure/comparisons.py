"""Families of comparisons: what is tested together is declared before the data, and corrected together.

The family of an evaluation is each further player less the first, in every game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stratagem.base.errors import StratagemError
from stratagem.measure.evaluate import CHANCE, EvaluationRow, GameResult
from stratagem.measure.statistics import Difference, holm


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


NAME = "each further player less the first, in every game"


def both_exact(result: GameResult, row: EvaluationRow) -> bool:
    """Return whether both payoffs, of a player and of the first, are exact, so that there is nothing to test."""
    payoffs = (row.metrics.get("payoff"), result.rows[0].metrics.get("payoff"))
    return all(payoff is not None and payoff.exact for payoff in payoffs)


def tested_differences(results: Sequence[GameResult]) -> Iterator[tuple[str, str, Difference]]:
    """Yield the game, the player and the difference of every comparison that needs a test; the chance level is none."""
    for result in results:
        for row in result.rows[1:]:
            if row.player != CHANCE and not both_exact(result, row):
                yield result.text, row.player, result.differences[row.player]


def family(results: Sequence[GameResult]) -> Family:
    """Return the family of all tested comparisons of an evaluation, known as soon as its players are named."""
    return Family(NAME, tuple(_name(game, player) for game, player, _ in tested_differences(results)))


def holm_p(results: Sequence[GameResult]) -> dict[tuple[str, str], float]:
    """Holm's adjusted p by game and player."""
    raw = {_name(game, player): difference.p_value for game, player, difference in tested_differences(results)}
    adjusted = family(results).holm(raw)
    return {(game, player): adjusted[_name(game, player)] for game, player, _ in tested_differences(results)}


def _name(game: str, player: str) -> str:
    return f"{game}: {player}"
