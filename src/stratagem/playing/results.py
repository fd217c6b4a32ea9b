"""Results of a game's turns: their payoffs add to those of the round, and wrong ones end play."""

from __future__ import annotations

from math import isfinite
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game, RoundResult
from stratagem.games.catalogue import describe

WRONG = (AttributeError, TypeError, ValueError, OverflowError)
"""Errors that wrong payoffs lead to; they are caught, since a check before every sum takes as long as the sum."""
LONGEST_ROUND = 100_000
"""Number of turns after which a round counts as endless; a game of chess can take a fifth of it."""


def add_payoffs(earned: tuple[float, ...], payoffs: tuple[float, ...]) -> tuple[float, ...]:
    """Add payoffs to those of the round so far; raises one of `WRONG` without one finite number for each seat."""
    total = tuple([before + payoff for before, payoff in zip(earned, payoffs, strict=True)])
    if not isfinite(sum(total)):
        raise ValueError("These payoffs are not finite.")
    return total


def wrong_result(game: Game[Any], result: object) -> BadParameter:
    """Return the error for a result of `play` that is none, or has wrong payoffs."""
    if not isinstance(result, RoundResult):
        return BadParameter(f"{describe(game)} returned {result!r} from play: it must return a RoundResult.")
    return wrong_payoffs(game, result.payoffs, "play")


def wrong_payoffs(game: Game[Any], payoffs: object, method: str) -> BadParameter:
    """Return the error for payoffs that are not one finite number for each seat."""
    return BadParameter(
        f"{describe(game)} returned the payoffs {payoffs!r} from {method}: they must be one finite number for each of "
        f"its {game.spec.seats} seats."
    )


def beyond_its_rounds(game: Game[Any]) -> BadParameter:
    """Return the error for a game that is not over after its last round."""
    return BadParameter(
        f"{describe(game)} goes beyond the rounds={game.spec.rounds} that its spec declares: end it by self.end(), or "
        "declare rounds=None, which is no bound."
    )


def endless_round(game: Game[Any]) -> BadParameter:
    """Return the error for a game that neither ends nor closes a round."""
    return BadParameter(
        f"{describe(game)} has taken {LONGEST_ROUND} turns and closed no round: end it by self.end(), or return "
        "RoundResult(..., closed=True) from play."
    )
