"""A short prompt of Diplomacy for small models: each own unit and what lies within a move of it, without the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import View
from stratagem.games.choices import Slot
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.graph import Graph, Node, able, distances, graph_of, province
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.language.prompting.past import NOTHING, Past


@dataclass(frozen=True)
class Surroundings(Style):
    """Tells of each own unit the provinces within a move, for a model that learns Diplomacy from games.

    `BEL of nobody unit GERMANY 1:2:0` is a province, the owner of its centre, the power of its unit, and three numbers:
    how many own units could be there after a move, how many of the strongest other power, and how many moves it is from
    there to the next centre that is not one's own.
    """

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        facts = view.facts  # refused under a disguise, whatever the game
        if not isinstance(view.game, Diplomacy):
            raise BadParameter(f"The style diplomacy-surroundings tells of diplomacy, not of {view.game.spec.name}.")
        season, *_, seat = view.situation.split("\n")
        told = _SurroundingsText(view.game, facts)
        return [ChatMessage("user", "\n".join([f"{season} {seat}", told.counts(), *told.lines()]))]


class _SurroundingsText:
    """Surroundings of a power, in text."""

    def __init__(self, game: Diplomacy, facts: DiplomacyFacts) -> None:
        self.board: Board = facts.board
        self.power = facts.power
        self.graph: Graph = graph_of(game.map)
        self.free = {place for place in game.centers if place not in self.board.owners}
        goals = {place for place in game.centers if self.board.owners.get(place) != self.power}
        self.far = distances(self.graph, goals)
        reached = {power: able(self.graph, self.board.units(power)) for power in self.board.powers}
        self.own = reached.pop(self.power)
        self.others: Counter[str] = Counter()
        for counted in reached.values():
            self.others |= counted

    def counts(self) -> str:
        """Write the number of centres of each power."""
        counts = [f"{power} {len(self.board.centers(power))}" for power in self.board.powers]
        return f"Centres: {', '.join([*counts, f'nobody {len(self.free)}'])}."

    def lines(self) -> Iterator[str]:
        """Write a line for each place that has an order."""
        sheet = self.board.sheet(self.power)
        for slot in sheet.slots if sheet else ():
            yield f"{slot.name}: {', '.join(self._place(nodes) for nodes in self._near(slot)) or 'nowhere'}."

    def _near(self, slot: Slot) -> list[list[Node]]:
        """Return the provinces of interest of a slot, each as its nodes: its own, and those within a move."""
        units = sorted({" ".join(option.split(" ")[:2]) for option in slot.options} & self.graph.next_to.keys())
        nodes = list(units)
        if self.board.kind == "R":
            nodes = sorted(f"{units[0][0]} {option.rpartition(' R ')[2]}" for option in slot.options if " R " in option)
        elif self.board.kind == "M":
            nodes += sorted(other for unit in units for other in self.graph.next_to[unit])
        places: dict[str, list[Node]] = {}
        for node in nodes:
            places.setdefault(province(node), []).append(node)
        return list(places.values())

    def _place(self, nodes: list[Node]) -> str:
        place = province(nodes[0])
        words = [place]
        if place in self.free or place in self.board.owners:
            words += ["of", self.board.owners.get(place, "nobody")]
        if place in self.board.occupants:
            words += ["unit", self.board.occupants[place][0]]
        far = min((self.far[node] for node in nodes if node in self.far), default="none")
        return " ".join([*words, f"{self.own[place]}:{self.others[place]}:{far}"])
