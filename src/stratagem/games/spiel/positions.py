"""Positions of an OpenSpiel game for a walk of its tree: nodes of the engine, and no view but the first of a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stratagem.games.base import Branch, Node, Place, Seat, SetOptions
from stratagem.games.enumeration import Tape
from stratagem.games.positions import join_branches
from stratagem.games.spiel.engine import CHANCE, TERMINAL, TOGETHER
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.history import after_joint
from stratagem.games.spiel.state import SpielState

if TYPE_CHECKING:
    from stratagem.games.spiel.rules import SpielRules


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
