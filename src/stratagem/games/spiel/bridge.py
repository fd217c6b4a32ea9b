"""Any OpenSpiel game as one of ours (Lanctot et al. 2019, arXiv:1908.09453): rules from the engine, words from a face.

Turns or simultaneous moves, any number of seats, chance drawn by key; one episode is one round, paid at its end or,
where the engine pays on the way, as it goes. A seat that says nothing legal ends the game and gets its least payoff.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.games.base import Json, Node, State, View
from stratagem.games.key import Chance
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.positions import NodePositions
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


@dataclass(frozen=True, kw_only=True)
class SpielGame(SpielRules):
    """A game that OpenSpiel plays."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parameters only; the engine is loaded again."""
        return partial(SpielGame, text=self.text, face=self.face, retries=self.retries), ()

    def start(self, chance: Chance) -> SpielState:
        state = SpielState(self, chance)
        state.arrive(self.engine.root)
        return state

    def load(self, data: Json, chance: Chance) -> SpielState:
        state = SpielState(self, chance)
        try:
            state.resume(data)
        except (KeyError, TypeError) as error:
            raise BadRecord(f"This is no state of {self.spec.name}: {error!r}.") from error
        return state

    def positions(self) -> NodePositions | None:
        return NodePositions(self) if type(self) is SpielGame else None  # a subclass may have states of its own

    def twin(self) -> SpielTwin:
        return self._twin

    @cached_property
    def _twin(self) -> SpielTwin:
        return SpielTwin(self)


def spiel(text: str) -> SpielGame:
    """Return any OpenSpiel game in the engine's own words: `spiel:hex(board_size=5)`."""
    return SpielGame(text=text)
