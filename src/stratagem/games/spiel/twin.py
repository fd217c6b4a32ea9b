"""The twin of an OpenSpiel game is the game itself; simultaneous moves are taken one after another, unseen."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.games.base import Node, State, View
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.rules import SpielRules
from stratagem.games.spiel.state import SpielState


class SpielTwin:
    """Translation between nodes and numbers and views and names."""

    def __init__(self, game: SpielRules) -> None:
        self.game = game

    @cached_property
    def spiel(self) -> Any:
        """The `pyspiel.Game`, in turns."""
        import pyspiel

        spiel = self.game.engine.spiel
        return pyspiel.convert_to_turn_based(spiel) if self.game.engine.simultaneous else spiel

    def view(self, node: Node) -> View[SpielFacts]:
        """Return the view of the seat to move at `node`."""
        seat = node.current_player()
        if seat < 0:
            raise CannotCompute(f"No seat of {self.game.spec.name} is to move at this node.")
        table = node.simultaneous_game_state() if self.game.engine.simultaneous else node
        return View(self.game, seat, SpielFacts(self.game, table.clone(), seat))

    def action(self, node: Node, spiel_action: int) -> str:
        """Return our name for an action of the seat to move."""
        return self.view(node).facts.menu.name(spiel_action)

    def node(self, state: State[Any]) -> Node:
        """Return the engine's state; the caller's to keep and to change."""
        if not isinstance(state, SpielState) or state.game != self.game:
            ours, theirs = self.game.spec.name, state.game.spec.name
            raise CannotCompute(f"This is the twin of {ours}, and the state is of {theirs}.")
        if not self.game.engine.simultaneous:
            return state.node.clone()
        node = self.spiel.new_initial_state()
        for action in state.node.history():
            node.apply_action(action)
        return node

    def seat(self, state: State[Any], player: int) -> int:
        """Return the engine's players are our seats."""
        return player
