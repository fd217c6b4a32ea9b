"""Game within a talk: its rules and its state without the messages, for figures that are about the moves."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Game, State
from stratagem.games.talk.game import Talk
from stratagem.games.talk.message import MOVE
from stratagem.games.talk.state import TalkState


def talk_in(game: Game[Any]) -> Talk | None:
    """Return a game as the talk that it is; None of a game without talk."""
    return game if isinstance(game, Talk) else None


def talk_state_of(state: State[Any]) -> TalkState | None:
    """Return a state as that of a game with talk; None of a game without talk."""
    return state if isinstance(state, TalkState) else None


def without_talk(game: Game[Any]) -> Game[Any]:
    """Return the game without talk; a game that has none is returned as it is."""
    return game.game if isinstance(game, Talk) else game


def moving(state: State[Any]) -> State[Any] | None:
    """Return the state of the game without talk; None while the seats send messages."""
    if not isinstance(state, TalkState):
        return state
    return state.inner if state.exchange == MOVE else None
