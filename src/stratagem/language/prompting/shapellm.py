"""ShapeLLM's three prompts for repeated matrix games: base, state and occurrence (appendix A.11; the words are ours).

Base has the rules only. State adds the last joint action. Occurrence adds how often each joint action was played before
that one, in this episode and in those that the seat remembers; so at the first round of a later episode it goes on from
the last round of the one before. Until there is something to count it is the state prompt, and before anything was
played the base prompt.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Literal, NamedTuple, cast

from stratagem.base.errors import BadParameter
from stratagem.games.base import Seat, View
from stratagem.games.matrix import MatrixFacts, MatrixGame
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.language.prompting.past import NOTHING, Joint, Past

Pair = tuple[int, int]
"""A joint action as indices, one's own first."""


class Cell(NamedTuple):
    """One joint action and its payoffs, one's own first."""

    mine: str
    theirs: str
    pay: float
    their_pay: float


@dataclass(frozen=True)
class ShapeLLM(Style):
    """`shows` is what the seat is told beside the rules: base, state or occurrence."""

    shows: Literal["base", "state", "occurrence"] = "state"
    payoffs: Literal["sentences", "table", "matrix"] = "sentences"
    """Form of the payoffs.

    A sentence for each joint action, a line of a table for each, or a row for each own action.
    """
    switched: bool = False
    """True to name the actions and payoffs in switched order in the rules; the question never does (figure 7)."""
    own_labels: bool = False
    """True to call the other's actions by the seat's own labels, where the game has labels by seat."""
    system: bool = False
    """True to send the rules as a system message, as for Llama (figure 11)."""

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("shows", self.shows, ("base", "state", "occurrence")),
            ("payoffs", self.payoffs, ("sentences", "table", "matrix")),
            ("switched", self.switched, (True, False)),
            ("own_labels", self.own_labels, (True, False)),
            ("system", self.system, (True, False)),
        ):
            if value not in allowed:
                raise BadParameter(f"The style shapellm has {name}={' or '.join(map(str, allowed))}, not {value!r}.")

    @property
    def memory(self) -> int | None:
        return {"base": 0, "state": 1}.get(self.shows)

    @property
    def recalls(self) -> bool:
        return self.shows == "occurrence"

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        game, facts = _matrix(view)
        rules = _rules(self, game, facts.seat, *self._labels(facts))
        text = "\n".join([*self._history(facts, past), f"Reply with {' or '.join(facts.labels)} only."])
        if self.system:
            return [ChatMessage("system", rules), ChatMessage("user", text)]
        return [ChatMessage("user", f"{rules}\n{text}")]

    def _history(self, facts: MatrixFacts, past: Past) -> list[str]:
        remembered = past if self.recalls else NOTHING
        last = last_pair(facts, remembered)
        if self.shows == "base" or last is None:
            return []
        (own, other), lines = self._labels(facts), []
        if self.shows == "occurrence" and (counts := count_pairs(facts, remembered)).total():
            pairs = product(range(len(own)), range(len(other)))
            text = ", ".join(f"{own[i]}/{other[j]} {counts[i, j]}" for i, j in pairs)
            lines.append(f"How often each pair was played before the last round, yours first: {text}.")
        return [*lines, f"Last round you played {own[last[0]]}, they played {other[last[1]]}."]

    def _labels(self, facts: MatrixFacts) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the labels of the seat's and the other's actions, as this seat sees them."""
        if not self.own_labels:
            return facts.labels, facts.their_labels
        if len(facts.labels) != len(facts.their_labels):
            raise BadParameter(
                "The style shapellm has own_labels=True for games whose seats have as many actions each, and here they "
                f"have {len(facts.labels)} and {len(facts.their_labels)}."
            )
        return facts.labels, facts.labels


@lru_cache(maxsize=64)  # every decision of a match has the same rules
def _rules(style: ShapeLLM, game: MatrixGame, seat: Seat, own: tuple[str, ...], other: tuple[str, ...]) -> str:
    """Return the rules as a seat reads them, with its names of both seats' actions."""
    step = -1 if style.switched else 1
    own, other = own[::step], other[::step]
    pairs = product(game.seat_labels(seat)[::step], game.seat_labels(1 - seat)[::step])
    pays = (game.pay(seat, *pair) for pair in pairs)
    cells = [Cell(*names, *pay) for names, pay in zip(product(own, other), pays, strict=True)]
    mine, theirs = " or ".join(own), " or ".join(other)
    both = f"both choose {mine}" if mine == theirs else f"you choose {mine} and they choose {theirs}"
    return "\n".join([f"{game.story} Each round {both}.", *_WORDED[style.payoffs](cells)])


def _sentences(cells: list[Cell]) -> list[str]:
    return [f"If you play {a} and they play {b}, you get {x:g} and they get {y:g}." for a, b, x, y in cells]


def _table(cells: list[Cell]) -> list[str]:
    head = ["| you | they | your points | their points |", "|---|---|---|---|"]
    return [*head, *(f"| {a} | {b} | {x:g} | {y:g} |" for a, b, x, y in cells)]


def _square(cells: list[Cell]) -> list[str]:
    """Return a row for each own action, a column for each of the other's, and in a cell both payoffs (figure 5)."""
    rows = {cell.mine: [other for other in cells if other.mine == cell.mine] for cell in cells}
    columns = [cell.theirs for cell in next(iter(rows.values()))]
    head = ["Rows are your action, columns theirs; your points come first.", f"| | {' | '.join(columns)} |"]
    lines = (f"| {a} | {' | '.join(f'({c.pay:g}, {c.their_pay:g})' for c in row)} |" for a, row in rows.items())
    return [*head, "|---" * (1 + len(columns)) + "|", *lines]


_WORDED = {"sentences": _sentences, "table": _table, "matrix": _square}


def _matrix(view: View[Any]) -> tuple[MatrixGame, MatrixFacts]:
    facts = view.facts  # refused under a disguise, whatever the game
    if not isinstance(view.game, MatrixGame):
        raise BadParameter(f"The style shapellm is for repeated matrix games, not {view.game.spec.name}.")
    return view.game, cast("MatrixFacts", facts)


def last_pair(facts: MatrixFacts, past: Past) -> Pair | None:
    """Return the last pair of this episode, or of those before it; None where nothing was played."""
    if facts.mine:
        return facts.mine[-1], facts.theirs[-1]
    return None if past.last is None else _pair(facts, past.last)


def count_pairs(facts: MatrixFacts, past: Past) -> Counter[Pair]:
    """Count each pair played before the last one; earlier episodes and this one are one history."""
    counts = Counter(zip(facts.mine, facts.theirs, strict=True))
    for joint, count in past.counts.items():
        counts[_pair(facts, joint)] += count
    if (last := last_pair(facts, past)) is not None:
        counts[last] -= 1
    return counts


def _pair(facts: MatrixFacts, joint: Joint) -> Pair:
    try:
        mine, theirs = joint
        return facts.labels.index(mine), facts.their_labels.index(theirs)
    except ValueError:
        raise BadParameter(
            f"What the seat remembers, {'/'.join(joint)}, is no joint action of this game: its own are "
            f"{', '.join(facts.labels)}, the other's {', '.join(facts.their_labels)}."
        ) from None
