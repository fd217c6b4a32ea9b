"""Positions of a request: a state that the caller sends, or the position that its prompt shows."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from stratagem.endpoint.refusal import Refused
from stratagem.errors import StratagemError
from stratagem.games.base import Game, Json, Seat, State, View
from stratagem.games.key import Key

Found = Literal["state", "prompt"]
_PARAM = "stratagem"


class Place(NamedTuple):
    """Position of a seat that is to act."""

    view: View[Any]
    state: State[Any]
    """State with this view; where something is hidden and only a prompt was sent, one of several."""
    found: Found


def sent(game: Game[Any], data: Json, seat: Seat) -> Place:
    """Return the position that a caller sends: a state as `State.dump` returns it, and the seat that is to act."""
    try:
        state = game.load(data, Key(0))
        acts = seat in state.to_act
        if acts:
            view = state.view(seat)
            _ = view.choices.count, view.state_key, view.situation
    except StratagemError as error:
        raise Refused(str(error), param=_PARAM) from None
    except Exception as error:  # noqa: BLE001 - a state that fits no game breaks its rules in any way
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise Refused(
            f"This is no state of {game.spec.name} ({said}): send what State.dump returns.", param=_PARAM
        ) from None
    if not acts:
        seats = ", ".join(map(str, state.to_act)) or "none, for the game is over"
        raise Refused(f"Seat {seat} is not to act in this state; to act: {seats}.", param=_PARAM)
    return Place(view, state, "state")
