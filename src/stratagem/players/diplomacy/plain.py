"""Simple commanders of our own, as exploitable opponents: hold, spread, guard, strike together."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from stratagem.games.choices import Sheet
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.board import WAIVE, Board
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.graph import Node, distances, graph_of, province
from stratagem.players.base import Traits
from stratagem.players.diplomacy.base import Commander, Dice, first_offered


@dataclass(frozen=True)
class Hold(Commander):
    """Holds everywhere, disbands dislodged units, builds nothing, like a power in civil disorder."""

    called = "hold"
    traits = Traits(exact=False)

    def lines(self, facts: DiplomacyFacts, game: Diplomacy, dice: Dice) -> Iterable[str]:
        return game.default_action(facts).split("\n")


@dataclass(frozen=True)
class Territorial(Commander):
    """Sends every unit to the nearest centre that is not its power's own, never two to one province; no supports.

    Builds wherever it can, armies and fleets by lot; retreats by lot; removes by lot.
    """

    called = "territorial"

    def lines(self, facts: DiplomacyFacts, game: Diplomacy, dice: Dice) -> Iterable[str]:
        sheet = facts.board.sheet(facts.power)
        assert sheet is not None
        if facts.board.kind != "M":
            return draw_lines(sheet, dice)
        march, wanted = March(facts, game, sheet, dice), self.wanted_provinces(facts, game)
        self.begin(march, wanted)
        return march.orders(wanted)

    def begin(self, march: March, wanted: frozenset[str]) -> None:
        """Decide before the units move; nothing by default."""

    def wanted_provinces(self, facts: DiplomacyFacts, game: Diplomacy) -> frozenset[str]:
        """Return the destination that a unit wants."""
        return frozenset(place for place in game.centers if facts.board.owners.get(place) != facts.power)


@dataclass(frozen=True)
class Defensive(Territorial):
    """Stays on its centres that somebody could enter, or goes to the nearest of them; others support those who stay."""

    called = "defensive"

    def wanted_provinces(self, facts: DiplomacyFacts, game: Diplomacy) -> frozenset[str]:
        board, reach = facts.board, graph_of(game.map).reach
        foes = {
            place for other in board.powers if other != facts.power for u in board.units(other) for place in reach[u]
        }
        return frozenset(place for place in board.centers(facts.power) if place in foes)


@dataclass(frozen=True)
class Coordinated(Territorial):
    """Strikes at the foreign centre that most of its units can enter: one moves, the others support it.

    The rest march as Territorial's do.
    """

    called = "coordinated"

    def begin(self, march: March, wanted: frozenset[str]) -> None:
        march.strike(wanted)


def draw_lines(sheet: Sheet, dice: Dice) -> list[str]:
    """Draw a line for as many slots as are due; nothing is waived or disbanded that need not be."""
    order = dice.shuffle_items(str(number) for number in range(len(sheet.slots)))
    result: list[str] = []
    taken: set[str] = set()
    for number in order[: sheet.fill]:
        options = [o for o in sheet.slots[int(number)].options if o != WAIVE and o.split()[-1] not in taken]
        useful = [option for option in options if not option.endswith(" D")] or options
        result.append(useful[dice.below(len(useful))] if useful else WAIVE)
        taken.add(result[-1].split()[-1] if " R " in result[-1] else "")
    return result


class March:
    """Orders of one movement phase: moves and supports."""

    def __init__(self, facts: DiplomacyFacts, game: Diplomacy, sheet: Sheet, dice: Dice) -> None:
        self.graph = graph_of(game.map)
        self.board: Board = facts.board
        self.sheet = sheet
        self.dice = dice
        self.units = {province(unit): unit for unit in facts.board.units(facts.power)}
        self.taken: set[str] = set()
        """Provinces that own units will be in."""
        self._orders: dict[str, str] = {}

    def strike(self, targets: Collection[str]) -> None:
        """Attack the target that most units can enter: one moves, the others support; nothing where only one can."""
        able = {
            target: [place for place, unit in self.units.items() if target in self.graph.reach[unit]]
            for target in sorted(targets)
            if target not in self.units
        }
        target = max(able, key=lambda place: len(able[place]), default="")
        if not target or len(able[target]) < 2:
            return
        leader, *helpers = self.dice.shuffle_items(able[target])
        node = next(n for n in self.graph.next_to[self.units[leader]] if province(n) == target)
        self._move(leader, node)
        for place in helpers:
            wanted = (f"{self.units[place]} S {self.units[leader]} - {name}" for name in (node[2:], target))
            if order := first_offered(self.sheet, *wanted):
                self._orders[place] = order
                self.taken.add(place)

    def orders(self, wanted: Collection[str]) -> list[str]:
        """Everybody's orders: on towards what is wanted, or a helping stay."""
        far = distances(self.graph, wanted)
        for place in self.dice.shuffle_items(sorted(self.units)):
            if place not in self._orders:
                self._go(place, far, wanted)
        return [self._orders[place] for place in self.units]

    def _go(self, place: str, far: dict[Node, int], wanted: Collection[str]) -> None:
        unit = self.units[place]
        here = far.get(unit, len(far))
        closer = [
            node
            for node in self.graph.next_to[unit]
            if far.get(node, here) < here and province(node) not in self.taken and province(node) not in self.units
        ]
        if closer:
            least = min(far[node] for node in closer)
            near = [node for node in closer if far[node] == least]
            self._move(place, near[self.dice.below(len(near))])
        else:
            self._stay(place, wanted)

    def _move(self, place: str, node: Node) -> None:
        self._orders[place] = f"{self.units[place]} - {node[2:]}"
        self.taken.add(province(node))

    def _stay(self, place: str, wanted: Collection[str]) -> None:
        """Support an own unit that stays where it is wanted, or hold."""
        unit = self.units[place]
        self.taken.add(place)
        beside = [
            f"{unit} S {self.units[other]}"
            for other in sorted(self.graph.reach[unit])
            if other in self.units and other in wanted and " - " not in self._orders.get(other, "")
        ]
        self._orders[place] = first_offered(self.sheet, *beside) or f"{unit} H"
