"""The same game in OpenSpiel: the source of best responses and searches, and what our rules are checked against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from stratagem.games.base import Game, State, View

Node = Any
"""A `pyspiel.State`; OpenSpiel has no type stubs."""


class Twin(Protocol):
    """A translation between one of our games and OpenSpiel's, in both directions."""

    @property
    def game(self) -> Game[Any]:
        """Our game, as it stands against OpenSpiel's (one hand of a match of many, say)."""
        ...

    @property
    def spiel(self) -> Any:
        """The `pyspiel.Game`."""
        ...

    def view(self, node: Node) -> View[Any]:
        """Return the view of our seat where the player to move at `node` stands."""
        ...

    def action(self, node: Node, spiel_action: int) -> str:
        """Return our name for an action of the player to move at `node`."""
        ...

    def node(self, state: State[Any]) -> Node:
        """OpenSpiel's state for ours, hidden cards included."""
        ...

    def seat(self, state: State[Any], player: int) -> int:
        """Which of our seats is OpenSpiel's `player` in the position that `node` gives for `state`."""
        ...
