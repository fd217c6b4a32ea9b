"""Positions of an OpenSpiel game for a walk of its tree: nodes of the engine, and no view but the first of a set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stratagem.games.base import Node, Seat
from stratagem.games.enumeration import Tape
from stratagem.games.positions import Branch, Place, SetOptions
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

    def starts(self) -> list[Branch]:
        """Return the nodes at which the first seat is to act."""
        return self._settle_chance(self.engine.root, self.game.nothing)

    def key(self, at: Node, seat: Seat) -> str:
        """Return the engine's information state, as the view has it."""
        if self._says:
            return at.information_state_string(seat)  # type: ignore[no-any-return]
        return self.game.info_key(SpielFacts(self.game, at, seat))

    def options(self, at: Node, seat: Seat) -> SetOptions:
        """Return the actions of the menu and their numbers."""
        menu = self.game.menu(at, seat)
        return SetOptions(tuple(menu.choices), tuple(menu.ids[action] for action in menu.choices))

    def after(self, place: Place, moves: tuple[int, ...]) -> list[Branch]:
        """Return the nodes after a move, or after a joint one."""
        node = place.at
        if not self.engine.simultaneous or node.current_player() != TOGETHER:
            return self._settle_chance(node.child(moves[0]), place.returns)
        joint = [0] * self.engine.seats
        for seat, number in zip(place.to_act or (), moves, strict=True):
            joint[seat] = number
        return self._settle_chance(after_joint(node, joint), place.returns)

    def state(self, at: Node) -> SpielState:
        """Return the state of a node, as play that came there has it."""
        state = SpielState(self.game, Tape({}))
        state.arrive(at)
        state.draws = sum(move.player == CHANCE for move in at.full_history())
        if self.engine.pays_on_the_way:
            state.paid = tuple(at.returns())
        return state

    def _settle_chance(self, node: Node, returns: tuple[float, ...]) -> list[Branch]:
        if node.current_player() != CHANCE:
            return [(1.0, self._place(node, returns))]
        settled: list[Branch] = []
        pending = [(1.0, node)]
        while pending:
            chance, drawn = pending.pop()
            if drawn.current_player() != CHANCE:
                settled.append((chance, self._place(drawn, returns)))
                continue
            outcomes = drawn.chance_outcomes()
            if all(one == outcomes[0][1] for _, one in outcomes):  # an even draw, as play takes it
                outcomes = [(outcome, 1.0 / len(outcomes)) for outcome, _ in outcomes]
            total = sum(weight for _, weight in outcomes)
            likely = [(chance * (weight / total), drawn.child(one)) for one, weight in outcomes if weight > 0.0]
            pending += reversed(likely)
        return settled

    def _place(self, node: Node, returns: tuple[float, ...]) -> Place:
        mover = node.current_player()
        if mover >= 0:
            to_act = self.game.alone[mover]
        elif mover == TERMINAL:
            return Place(node, (), (), tuple(node.returns()), 1)
        else:
            to_act = tuple(seat for seat in range(self.engine.seats) if node.legal_actions(seat))
        return Place(node, to_act, (), tuple(node.returns()) if self.engine.pays_on_the_way else returns, 0)
