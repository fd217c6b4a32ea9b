"""DumbBot, by the rules of David Norman's original (2003): values spread over the map, a random pick among the best.

It never convoys. Ports differ so much from it and from each other that their win rates do not compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stratagem.games.choices import Sheet
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.board import WAIVE
from stratagem.games.diplomacy.graph import Node, province
from stratagem.games.diplomacy.state import DiplomacyFacts
from stratagem.players.diplomacy.appraisal import Appraisal
from stratagem.players.diplomacy.base import Commander, Dice, offered

_ALTERNATIVE, _STEEPNESS = 50, 500
"""In hundred: how often the next best is looked at, and how fast that fades with its distance."""


Pick = Callable[[Sequence[Node], Mapping[Node, int], Dice], Node]
"""Chooses one of the candidates, which are given the best first."""


def picked(candidates: Sequence[Node], values: Mapping[Node, int], dice: Dice) -> Node:
    """From the best on to the next while the dice say so: with 0.5 max(0, 1 - 5 relative gap)."""
    place = 0
    while place + 1 < len(candidates):
        here, after = values[candidates[place]], values[candidates[place + 1]]
        if dice.below(100) >= _ALTERNATIVE:
            break
        if dice.below(100) * here < _STEEPNESS * (here - after):
            break
        place += 1
    return candidates[place]


def best(candidates: Sequence[Node], values: Mapping[Node, int], dice: Dice) -> Node:
    """The best, always."""
    return candidates[0]


def ranked(nodes: Iterable[Node], values: Mapping[Node, int]) -> list[Node]:
    """The best first; of equals in alphabetical order."""
    return sorted(nodes, key=lambda node: (-values[node], node))


@dataclass(frozen=True)
class DumbBot(Commander):
    """Goes where the sum of what is near is worth most, supports what it would run into, and strays at random.

    Reference: David Norman, DumbBot 2003, as its rules were told.
    """

    called = "dumbbot"
    pick = staticmethod(picked)

    def lines(self, facts: DiplomacyFacts, game: Diplomacy, dice: Dice) -> Iterable[str]:
        eyes = Appraisal(game.map, game.centers, facts.board, facts.power)
        values, sheet = eyes.values(), facts.board.sheet(facts.power)
        assert sheet is not None
        match facts.board.kind:
            case "M":
                return Campaign(eyes, values, sheet, dice, self.pick).orders()
            case "R":
                return self._retreats(facts, values, dice)
        if facts.board.due(facts.power) < 0:
            return self._removals(facts, values, sheet.fill, dice)
        return self._builds(sheet, values, dice)

    def _retreats(self, facts: DiplomacyFacts, values: Mapping[Node, int], dice: Dice) -> Iterable[str]:
        """Never two to one province; who finds no place disbands."""
        taken: set[str] = set()
        for unit, places in facts.board.dislodged(facts.power).items():
            free = ranked((f"{unit[0]} {place}" for place in places if place[:3] not in taken), values)
            if not free:
                yield f"{unit} D"
                continue
            chosen = self.pick(free, values, dice)
            taken.add(province(chosen))
            yield f"{unit} R {chosen[2:]}"

    def _removals(self, facts: DiplomacyFacts, values: Mapping[Node, int], count: int, dice: Dice) -> Iterable[str]:
        """From the unit that stands worst, each passed over with one half."""
        left = ranked(facts.board.units(facts.power), values)[::-1]
        for _ in range(count):
            place = 0
            while place + 1 < len(left) and self.pick is picked and dice.below(100) < _ALTERNATIVE:
                place += 1
            yield f"{left.pop(place)} D"

    def _builds(self, sheet: Sheet, values: Mapping[Node, int], dice: Dice) -> Iterable[str]:
        """One a province, where a unit would be worth most; what cannot be built is waived."""
        open_nodes = {o[:-2] for slot in sheet.slots for o in slot.options if o != WAIVE}
        for _ in range(sheet.fill):
            candidates = ranked(open_nodes, values)
            if not candidates:
                yield WAIVE
                continue
            chosen = self.pick(candidates, values, dice)
            open_nodes = {node for node in open_nodes if province(node) != province(chosen)}
            yield f"{chosen} B"


class DumbBotGreedy(DumbBot):
    """DumbBot without its dice: always the best, in a random order of units. Not the original; a stiffer relative."""

    called = "dumbbot-greedy"
    pick = staticmethod(best)


class Campaign:
    """The orders of one movement phase, unit by unit."""

    def __init__(self, eyes: Appraisal, values: Mapping[Node, int], sheet: Sheet, dice: Dice, pick: Pick) -> None:
        self.eyes = eyes
        self.values = values
        self.sheet = sheet
        self.dice = dice
        self._pick = pick
        self._units = {province(unit): unit for unit in eyes.board.units(eyes.power)}
        self._goes: dict[str, Node] = {}
        """By province of a unit that has been decided on: the node where it will be; its own where it stays."""
        self._entered: dict[str, str] = {}
        """By province that one's own unit moves into: that unit."""
        self._orders: dict[str, str] = {}

    def orders(self) -> list[str]:
        """Every unit's order."""
        queue = self.dice.shuffled(sorted(self._units))
        patience = 4 * len(queue)
        while queue:
            patience -= 1
            place = queue.pop(0)
            waits_for = self._decide(place, can_wait=patience > 0)
            if waits_for is not None:
                queue.insert(queue.index(waits_for) + 1, place)
        self._stay_useful()
        return [self._orders[place] for place in self._units]

    def _decide(self, place: str, *, can_wait: bool) -> str | None:
        """Give an order to the unit there, or name the unit whose order it waits for."""
        unit = self._units[place]
        worth = {**self.values, unit: self.values[unit] + 1}
        candidates = ranked((*self.eyes.near.graph.next_to[unit], unit), worth)
        while candidates:
            node = self._pick(candidates, worth, self.dice)
            target = province(node)
            if target == place:
                break
            if target in self._units and target not in self._goes:
                if can_wait:
                    return target
                candidates.remove(node)
            elif self._try(unit, node, target):
                return None
            else:
                candidates.remove(node)
        self._goes[place], self._orders[place] = unit, f"{unit} H"
        return None

    def _try(self, unit: Node, node: Node, target: str) -> bool:
        """Move there, or support who is or will be there if somebody else may come; False if neither makes sense."""
        place, rivals = province(unit), self.eyes.competition[target]
        if target in self._units and province(self._goes[target]) == target:
            return rivals > 1 and self._support(place, f"{unit} S {self._units[target]}")
        if target in self._entered:
            mover = self._entered[target]
            return rivals > 0 and self._support(place, *self._supports_of(unit, mover))
        self._goes[place], self._entered[target] = node, place
        self._orders[place] = f"{unit} - {node[2:]}"
        return True

    def _supports_of(self, unit: Node, mover: str) -> tuple[str, ...]:
        where = self._goes[mover][2:]
        return tuple(f"{unit} S {self._units[mover]} - {name}" for name in dict.fromkeys((where, where[:3])))

    def _support(self, place: str, *wanted: str) -> bool:
        order = offered(self.sheet, *wanted)
        if order is None:
            return False
        self._goes[place], self._orders[place] = self._units[place], order
        return True

    def _stay_useful(self) -> None:
        """A unit left holding supports the best place beside it where one's own moves in, or stays, under threat."""
        for place, order in list(self._orders.items()):
            if order.endswith(" H"):
                unit = self._units[place]
                for node in ranked(self.eyes.near.graph.next_to[unit], self.values):
                    if self._helps(unit, place, province(node)):
                        break

    def _helps(self, unit: Node, place: str, target: str) -> bool:
        rivals = self.eyes.competition[target]
        if target in self._entered:
            return rivals > 0 and self._support(place, *self._supports_of(unit, self._entered[target]))
        stays = target in self._units and province(self._goes[target]) == target
        return stays and rivals > 1 and self._support(place, f"{unit} S {self._units[target]}")
