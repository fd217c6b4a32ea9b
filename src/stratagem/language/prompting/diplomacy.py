"""The five prompts of league-trained no-press Diplomacy by name, in words of our own: rules, then board, then power.

All seven powers share the rules and the board, so these come first and are computed once. The five differ in what they
tell of the orders that are possible: all of them at length (`verbose`), all of them in short (`compact`), none
(`minimal`), the surroundings of each unit (`windows`), or how many orders each unit has (`counts`). With talk a message
is asked for between the same tags, and its sentences are told likewise.

Difference from the source: its minimal prompt has no board, and its prompt with counts has the surroundings, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stratagem.base.errors import BadParameter
from stratagem.games.base import View
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.graph import Graph, graph_of, province
from stratagem.games.open_text import OpenText
from stratagem.games.talk import MOVE, SILENT, Talk, talk_in
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.language.prompting.past import NOTHING, Past

Shows = Literal["verbose", "compact", "minimal", "windows", "counts"]
OPEN, CLOSE = "<orders>\n", "</orders>"
_SYSTEM = "You command one power in a game of Diplomacy{}. You want as many supply centres as you can get."
_SAID = f"Write one message, or {SILENT}, on one line between <orders> and </orders>."
_ASKED = {
    "M": "Write one order for each of your units, each on a line of its own, between <orders> and </orders>.",
    "R": "Write one order for each dislodged unit, each on a line of its own, between <orders> and </orders>.",
    "A": "Write {fill} of the possible lines, each for another place, between <orders> and </orders>.",
}


@dataclass(frozen=True, kw_only=True)
class OrderSheets(Style):
    """Asks for a sheet of orders, or with talk for a message, between two tags; before them a model may reason."""

    shows: Shows
    mark = OPEN
    close = CLOSE

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        facts = view.facts  # refused under a disguise, whatever the game
        talk = talk_in(view.game)
        inner = view if talk is None else talk.inner_view(facts)
        if not isinstance(inner.game, Diplomacy):
            raise BadParameter(f"The style diplomacy-{self.shows} tells of diplomacy, not of {view.game.spec.name}.")
        if talk is None or facts.exchange == MOVE:
            own, asked = self._own(inner.facts, inner.game), _ask_orders(inner.facts)
        else:
            own, asked = self._sentences(talk, inner), _SAID
        told = "\n".join(own)
        parts = (view.rules, view.situation, *((told,) if told else ()), asked)
        system = _SYSTEM.format("" if talk else " without talk")
        return [ChatMessage("system", system), ChatMessage("user", "\n\n".join(parts))]

    def _sentences(self, talk: Talk, inner: View[Any]) -> Iterator[str]:
        """Write the part of the prompt about possible messages."""
        sentences = [*(intent.text for intent in talk.sayable(inner)), *talk.further]
        if self.shows == "verbose" and sentences:
            yield "What may be said:"
            yield from (f"  {sentence}" for sentence in sentences)
        elif self.shows in ("compact", "windows") and sentences:
            yield f"What may be said: {' | '.join(sentences)}"
        elif self.shows == "counts":
            yield f"{len(sentences)} sentences are possible."
        choices = talk.lines(inner)
        if isinstance(choices, OpenText):
            forms = [form.summary() for form in choices.patterns] or [f"any line of at most {choices.limit} characters"]
            yield f"You may say {', or '.join(forms)}."
        if heads := talk.heads(inner.seat):
            yield f"A message begins with its reader: {', '.join(head.strip() for head in heads)}"

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


def _ask_orders(facts: DiplomacyFacts) -> str:
    """Return what is asked of a seat that gives orders."""
    return _ASKED[facts.board.kind].format(fill=getattr(facts.board.sheet(facts.power), "fill", 0))


def _in_short(name: str, options: Sequence[str]) -> str:
    """Shorten the orders of a place: if all are for one unit, name that unit once; otherwise list them as they are."""
    units = {" ".join(option.split(" ")[:2]) for option in options if option.count(" ") > 1}
    if len(units) != 1 or not all(option.count(" ") > 1 for option in options):
        return f"{name}: {' | '.join(options)}"
    return f"{units.pop()}: {' | '.join(option.split(' ', 2)[2] for option in options)}"


def _ways_out(board: Board, options: Sequence[str]) -> str:
    """Write a dislodged unit and its possible retreats, or `nowhere` if it can only disband."""
    unit = " ".join(options[0].split(" ")[:2])
    ways = [option.rpartition(" R ")[2] for option in options if " R " in option]
    return f"{unit} -> " + (", ".join(_describe_neighbour(board, way) for way in ways) or "nowhere")


def window(board: Board, graph: Graph, place: str) -> str:
    """Write a province and its neighbours, each with its owner and its unit."""
    occupant = board.occupants.get(place)
    units = [occupant[1]] if occupant else [node for node in graph.nodes if province(node) == place]
    beside = sorted({other for unit in units for other in graph.reach.get(unit, ())})
    return f"{place} -> " + ", ".join(_describe_neighbour(board, other) for other in beside)


def _describe_neighbour(board: Board, place: str) -> str:
    """Write a neighbour: the owner of its centre, and its unit."""
    words = [f"of {board.owners[place]}"] if place in board.owners else []
    if place in board.occupants:
        power, unit = board.occupants[place]
        words.append(f"{unit[0]} of {power}")
    return f"{place} ({', '.join(words)})" if words else place
