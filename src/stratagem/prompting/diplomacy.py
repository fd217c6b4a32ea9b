"""The five prompts of league-trained no-press Diplomacy by name, in words of our own: rules, then board, then power.

All seven powers share the rules and the board, so these come first and are computed once. The five differ in what they
tell of the orders that are possible: all of them at length (`verbose`), all of them in short (`compact`), none
(`minimal`), the surroundings of each unit (`windows`), or how many orders each unit has (`counts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stratagem.errors import BadParameter
from stratagem.games.base import View
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.graph import Graph, graph_of, province
from stratagem.prompting.base import Message, Style
from stratagem.prompting.past import NOTHING, Past

Shows = Literal["verbose", "compact", "minimal", "windows", "counts"]
OPEN, CLOSE = "<orders>\n", "</orders>"
_SYSTEM = "You command one power in a game of Diplomacy without talk. You want as many supply centres as you can get."
_ASKED = {
    "M": "Write one order for each of your units, each on a line of its own, between <orders> and </orders>.",
    "R": "Write one order for each dislodged unit, each on a line of its own, between <orders> and </orders>.",
    "A": "Write {fill} of the possible lines, each for another place, between <orders> and </orders>.",
}


@dataclass(frozen=True, kw_only=True)
class OrderSheets(Style):
    """Asks for a sheet of orders between two tags; before them a model may reason."""

    shows: Shows
    mark = OPEN
    close = CLOSE

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[Message]:
        facts: DiplomacyFacts = view.facts  # refused under a disguise, whatever the game
        if not isinstance(view.game, Diplomacy):
            raise BadParameter(f"The style diplomacy-{self.shows} tells of diplomacy, not of {view.game.spec.name}.")
        sheet = view.game.choices(facts)
        asked = _ASKED[facts.board.kind].format(fill=getattr(sheet, "fill", 0))
        own = "\n".join(self._own(facts, view.game))
        parts = (view.rules, view.situation, *((own,) if own else ()), asked)
        return [Message("system", _SYSTEM), Message("user", "\n\n".join(parts))]

    def _own(self, facts: DiplomacyFacts, game: Diplomacy) -> Iterator[str]:
        """Write the part of the prompt about possible orders."""
        sheet = facts.board.sheet(facts.power)
        for slot in sheet.slots if sheet else ():
            name, options = slot.name, slot.options
            match self.shows:
                case "verbose":
                    yield f"What may be ordered at {name}:"
                    yield from (f"  {option}" for option in options)
                case "compact":
                    yield _in_short(name, options)
                case "counts":
                    yield f"{name}: {len(options)} orders are possible."
                case "windows" if facts.board.kind == "R":
                    yield _ways_out(facts.board, options)
                case "windows":
                    yield window(facts.board, graph_of(game.map), name)


def _in_short(name: str, options: Sequence[str]) -> str:
    """Shorten the orders of a place: if all are for one unit, name that unit once; otherwise list them as they are."""
    units = {" ".join(option.split(" ")[:2]) for option in options if option.count(" ") > 1}
    if len(units) != 1 or not all(option.count(" ") > 1 for option in options):
        return f"{name}: {' | '.join(options)}"
    return f"{units.pop()}: {' | '.join(option.split(' ', 2)[2] for option in options)}"


def _ways_out(board: Board, options: Sequence[str]) -> str:
    """Write a dislodged unit and its possible retreats; nowhere, if it can only disband."""
    unit = " ".join(options[0].split(" ")[:2])
    ways = [option.rpartition(" R ")[2] for option in options if " R " in option]
    return f"{unit} -> " + (", ".join(_told(board, way) for way in ways) or "nowhere")


def window(board: Board, graph: Graph, place: str) -> str:
    """Write a province and its neighbours, each with its owner and its unit."""
    occupant = board.occupants.get(place)
    units = [occupant[1]] if occupant else [node for node in graph.nodes if province(node) == place]
    beside = sorted({other for unit in units for other in graph.reach.get(unit, ())})
    return f"{place} -> " + ", ".join(_told(board, other) for other in beside)


def _told(board: Board, place: str) -> str:
    """Write a neighbour: the owner of its centre, and its unit."""
    words = [f"of {board.owners[place]}"] if place in board.owners else []
    if place in board.occupants:
        power, unit = board.occupants[place]
        words.append(f"{unit[0]} of {power}")
    return f"{place} ({', '.join(words)})" if words else place
