"""The comparisons of an evaluation: each further player less the first, in every game, as one family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stratagem.evaluation.evaluate import CHANCE, GameResult, Row
from stratagem.evaluation.family import Family
from stratagem.evaluation.statistics import Difference

NAME = "each further player less the first, in every game"


def both_exact(result: GameResult, row: Row) -> bool:
    """Return whether both payoffs, of a player and of the first, are exact, so that there is nothing to test."""
    payoffs = (row.metrics.get("pay"), result.rows[0].metrics.get("pay"))
    return all(payoff is not None and payoff.exact for payoff in payoffs)


def tested(results: Sequence[GameResult]) -> Iterator[tuple[str, str, Difference]]:
    """Yield the game, the player and the difference of every comparison that needs a test; the chance level is none."""
    for result in results:
        for row in result.rows[1:]:
            if row.player != CHANCE and not both_exact(result, row):
                yield result.text, row.player, result.differences[row.player]


def family(results: Sequence[GameResult]) -> Family:
    """Return the family of all tested comparisons of an evaluation, known as soon as its players are named."""
    return Family(NAME, tuple(_name(game, player) for game, player, _ in tested(results)))


def holm_p(results: Sequence[GameResult]) -> dict[tuple[str, str], float]:
    """Holm's adjusted p by game and player."""
    raw = {_name(game, player): difference.p_value for game, player, difference in tested(results)}
    adjusted = family(results).holm(raw)
    return {(game, player): adjusted[_name(game, player)] for game, player, _ in tested(results)}


def _name(game: str, player: str) -> str:
    return f"{game}: {player}"
