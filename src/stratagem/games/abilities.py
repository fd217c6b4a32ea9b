"""Abilities of some games: messages of their own, and positions that have a worth and a time before the end.

A game that has one subclasses the class of the ability; functions ask any game, and say what one without it has.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from typing import Any, TypeVar

from stratagem.games.base import Claim, Game, State, View

F = TypeVar("F")


class SpeakingGame(Game[F]):
    """Game in which some decisions are messages."""

    @abstractmethod
    def silence(self, facts: F) -> str | None:
        """Return the action that says nothing, where a seat sends a message; None where it moves."""

    def claim(self, facts: F, message: str) -> Claim | None:
        """Return the statement that a message of this seat makes; None where it makes none."""
        return None


class TimedState(State[F]):
    """State whose play can be cut before the end."""

    __slots__ = ()

    @abstractmethod
    def standing(self) -> tuple[float, ...] | None:
        """Return the payoff of each seat if the game ended here; None where that is not defined."""

    def clock(self, turn: int) -> int:
        """Return the game time after so many turns: by default their number.

        Games in which turns may fall out count those too, so that branches from one situation are cut at equal times.
        """
        return turn


def silence_at(view: View[Any]) -> str | None:
    """Return the action that says nothing; None where the seat of the view moves."""
    return view.game.silence(view.facts) if isinstance(view.game, SpeakingGame) else None


def claim_of(view: View[Any], message: str) -> Claim | None:
    """Return the statement that a message of the view's seat makes; None where it makes none."""
    return view.game.claim(view.facts, message) if isinstance(view.game, SpeakingGame) else None


def standing_of(state: State[Any]) -> tuple[float, ...] | None:
    """Return the payoff of each seat if the game ended here; None where the game does not define it."""
    return state.standing() if isinstance(state, TimedState) else None


def clock_of(state: State[Any], turn: int) -> int:
    """Return the game time of a state after so many turns."""
    return state.clock(turn) if _is_timed(type(state)) else turn  # type: ignore[attr-defined]


@lru_cache(maxsize=1024)
def _is_timed(kind: type[State[Any]]) -> bool:
    """Return whether states of a class have a clock; asking an abstract class takes four times as long."""
    return issubclass(kind, TimedState)
