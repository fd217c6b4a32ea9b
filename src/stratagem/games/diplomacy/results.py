"""Results and rewards of orders: each order of a phase is classified from the engine's results.

Weights are those of league-trained no-press Diplomacy. A support counts as critical if the attack that it helped would
have failed without it, which the engine is asked by playing the phase again with that unit holding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stratagem.games.base import ActionPart
from stratagem.games.diplomacy.board import WAIVE, Board
from stratagem.games.diplomacy.engine import Results, centers_of

Orders = Mapping[str, Sequence[str]]
"""By power."""
WORTH: Mapping[str, float] = {
    "move": 0.3,
    "move home": 0.0,
    "capture": 2.0,
    "hold": 0.1,
    "bounce": -0.3,
    "no convoy": -0.3,
    "critical support": 1.5,
    "support": 0.0,
    "cut support": 0.0,
    "void support": -1.5,
    "convoy": 0.5,
    "idle convoy": 0.0,
    "void convoy": -1.5,
    "retreat": 0.0,
    "disband": 0.0,
    "build": 0.0,
    "waive": 0.0,
    "remove": 0.0,
}
"""Reward of each kind of order."""
SUPPORTED = 0.5
"""Additional reward of an attack that a unit of the same power supported."""


class Order(NamedTuple):
    """The pieces of an order's text."""

    unit: str
    """Unit, such as A PAR."""
    verb: str
    """H, -, S, C, R, D or B; empty for WAIVE."""
    rest: tuple[str, ...]

    @property
    def target(self) -> str:
        """Province of the destination or of the supported action, without the coast."""
        places = [word for word in self.rest if len(word) >= 3 and word not in ("VIA",)]
        return places[-1][:3] if places else self.unit[2:5]

    @property
    def helped(self) -> str:
        """Province of the supported or convoyed unit."""
        return self.rest[1][:3] if self.verb in ("S", "C") else ""

    @property
    def to_move(self) -> bool:
        """True if the order supports or convoys a move."""
        return "-" in self.rest


def read_order(text: str) -> Order:
    """Return an order in the engine's words: `A PAR - BUR`, `F BRE S A PAR`, `WAIVE`."""
    if text == WAIVE:
        return Order("", "", ())
    kind, place, verb, *rest = text.split()
    return Order(f"{kind} {place}", verb, tuple(rest))


class Phase:
    """One played phase: the board before it, the orders and the results."""

    def __init__(self, map_name: str, board: Board, orders: Orders, results: Results) -> None:
        self.map_name = map_name
        self.board = board
        self.orders = orders
        self.results = results
        self._read = {power: [read_order(text) for text in lines] for power, lines in orders.items()}
        self._moves = {order.unit[2:5]: order for own in self._read.values() for order in own if order.verb == "-"}

    def parts(self, power: str) -> tuple[ActionPart, ...]:
        """Classify every order of a power, in the order of its sheet."""
        return tuple(
            ActionPart(order.unit or WAIVE, kind, WORTH[kind.removeprefix("supported ")] + self._extra(kind))
            for order in self._read[power]
            for kind in [self._kind(power, order)]
        )

    @staticmethod
    def _extra(kind: str) -> float:
        return SUPPORTED if kind.startswith("supported ") else 0.0

    def _kind(self, power: str, order: Order) -> str:
        codes = self.results.get(order.unit, ())
        match order.verb:
            case "-":
                return self._result_of_move(power, order, codes)
            case "S":
                return self._result_of_support(order, codes)
            case "C":
                return self._result_of_convoy(order, codes)
            case "H":
                return "hold"
            case "R":
                return "disband" if codes else "retreat"
            case "D":
                return "disband" if self.board.kind == "R" else "remove"
            case "B":
                return "build"
        return "waive"

    def _result_of_move(self, power: str, order: Order, codes: Sequence[str]) -> str:
        if "no convoy" in codes:
            return "no convoy"
        if not self._succeeds(order, self.results):
            return "bounce"
        kind = "move"
        if order.target in centers_of(self.map_name):
            kind = "move home" if self.board.owners.get(order.target) == power else "capture"
        return f"supported {kind}" if self._has_help(power, order) else kind

    def _has_help(self, power: str, order: Order) -> bool:
        """Return whether a unit of the same power supports the move and was neither cut nor void."""
        return any(
            other.verb == "S" and other.to_move and (other.helped, other.target) == (order.unit[2:5], order.target)
            for other in self._read[power]
            if not {"cut", "void", "dislodged"} & set(self.results.get(other.unit, ()))
        )

    def _result_of_support(self, order: Order, codes: Sequence[str]) -> str:
        if "void" in codes or not self._matches(order):
            return "void support"
        if "cut" in codes or "dislodged" in codes:
            return "cut support"
        helped = self._moves.get(order.helped) if order.to_move else None
        if helped is None or not self._succeeds(helped, self.results):
            return "support"
        return "support" if self._succeeds(helped, self._without(order)) else "critical support"

    def _matches(self, order: Order) -> bool:
        """Return whether the supported unit does what it is supported in."""
        move = self._moves.get(order.helped)
        if order.to_move:
            return move is not None and move.target == order.target
        return move is None

    def _result_of_convoy(self, order: Order, codes: Sequence[str]) -> str:
        move = self._moves.get(order.helped)
        if "void" in codes or move is None or move.target != order.target:
            return "void convoy"
        return "convoy" if self._succeeds(move, self.results) and not codes else "idle convoy"

    @staticmethod
    def _succeeds(move: Order, results: Results) -> bool:
        return not {"bounce", "void", "no convoy", "disrupted"} & set(results.get(move.unit, ()))

    def _without(self, order: Order) -> Results:
        """Return the results of the phase if this unit had held."""
        other = {
            power: [f"{order.unit} H" if line.startswith(f"{order.unit} ") else line for line in lines]
            for power, lines in self.orders.items()
        }
        return self.board.replay_orders(self.map_name, other)
