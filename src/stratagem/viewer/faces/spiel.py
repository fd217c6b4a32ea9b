"""States of OpenSpiel's games as the engine writes them, all hidden cards included."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Node, State
from stratagem.games.spiel.state import SpielState


def node_of(state: State[Any]) -> Node:
    """Return the engine's state."""
    assert isinstance(state, SpielState)
    return state.node


def text_of(state: State[Any]) -> str:
    """Return the engine's text of a state."""
    return str(node_of(state))
