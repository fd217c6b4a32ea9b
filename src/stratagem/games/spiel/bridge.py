"""Any OpenSpiel game as one of ours (Lanctot et al. 2019, arXiv:1908.09453): rules from the engine, words from a face.

Turns or simultaneous moves, any number of seats, chance drawn by key; one episode is one round, paid at its end or,
where the engine pays on the way, as it goes. A seat that says nothing legal ends the game and gets its least payoff.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.games.base import Branch, Json, Node, Place, Seat, SetOptions, State, View
from stratagem.games.enumeration import Tape
from stratagem.games.key import Chance
from stratagem.games.positions import join_branches
from stratagem.games.spiel.engine import CHANCE, TERMINAL, TOGETHER
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.history import after_joint
from stratagem.games.spiel.rules import SpielRules
from stratagem.games.spiel.state import SpielState


class NodePositions:
    """Nodes of a game that OpenSpiel plays; draws that follow each other are one."""

    def __init__(self, game: SpielRules) -> None:
        self.game = game
        self.engine = game.engine
        self._says = self.engine.says_information and not self.engine.simultaneous
        self._alone, self._pays = game.alone, self.engine.pays_on_the_way

    def start(self) -> Place:
        """Return the nodes at which the first seat is to act."""
        return self._settle(self.engine.root, self.game.nothing)

    def key(self, at: Node, seat: Seat) -> str:
        """Return the engine's information state, as the view has it."""
        if self._says:
            return at.information_state_string(seat)  # type: ignore[no-any-return]
        return self.game.info_key(SpielFacts(self.game, at, seat))

    def options(self, at: Node, seat: Seat) -> SetOptions:
        """Return the actions of the menu and their numbers."""
        menu = self.game.menu(at, seat)
        return SetOptions(tuple(menu.choices), tuple(menu.ids[action] for action in menu.choices))

    def children(self, place: Place, moves: Sequence[int]) -> list[Place]:
        """Return the nodes after each move, or after each joint one."""
        node, to_act, chosen, returns, _ = place
        if not self.engine.simultaneous or node.current_player() != TOGETHER:
            return [self._settle(node.child(move), returns) for move in moves]
        joint = [0] * self.engine.seats
        children = []
        for move in moves:
            for seat, number in zip(to_act or (), (*chosen, move), strict=True):
                joint[seat] = number
            children.append(self._settle(after_joint(node, joint), returns))
        return children

    def state(self, at: Node) -> SpielState:
        """Return the state of a node, as play that came there has it."""
        state = SpielState(self.game, Tape({}))
        state.arrive(at)
        state.draws = sum(move.player == CHANCE for move in at.full_history())
        if self.engine.pays_on_the_way:
            state.paid = tuple(at.returns())
        return state

    def _settle(self, node: Node, returns: tuple[float, ...]) -> Place:
        """Return the place of a node, or of the draw that begins there."""
        mover = node.current_player()
        if mover >= 0:
            return node, self._alone[mover], (), tuple(node.returns()) if self._pays else returns, 0
        if mover == TERMINAL:
            return node, (), (), tuple(node.returns()), 1
        if mover == CHANCE:
            return join_branches(self._draw(node, returns), returns, 0)
        to_act = tuple(seat for seat in range(self.engine.seats) if node.legal_actions(seat))
        return node, to_act, (), tuple(node.returns()) if self._pays else returns, 0

    def _draw(self, node: Node, returns: tuple[float, ...]) -> list[Branch]:
        """Return the outcomes of draws that follow each other, in their order."""
        settled: list[Branch] = []
        pending = [(1.0, node)]
        while pending:
            chance, drawn = pending.pop()
            if drawn.current_player() != CHANCE:
                settled.append((chance, self._settle(drawn, returns)))
                continue
            outcomes = drawn.chance_outcomes()
            if all(one == outcomes[0][1] for _, one in outcomes):  # an even draw, as play takes it
                outcomes = [(outcome, 1.0 / len(outcomes)) for outcome, _ in outcomes]
            total = sum(weight for _, weight in outcomes)
            likely = [(chance * (weight / total), drawn.child(one)) for one, weight in outcomes if weight > 0.0]
            pending += reversed(likely)
        return settled


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
