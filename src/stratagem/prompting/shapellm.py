"""ShapeLLM's three prompts for repeated matrix games: base, state and occurrence (section 4; the words are ours).

Base has the rules only. State adds the last joint action. Occurrence adds how often each joint action has been played
over the trial, the last one left out, since it is shown beside them. Payoffs may be sentences or a table, and the two
actions may be named in switched order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, cast

from stratagem.errors import BadParameter
from stratagem.games.base import View
from stratagem.games.matrix import MatrixFacts, MatrixGame, joint
from stratagem.prompting.base import NOTHING, Message, Past, Style


@dataclass(frozen=True)
class ShapeLLM(Style):
    """`shows` is what the seat is told beside the rules: base, state or occurrence."""

    shows: Literal["base", "state", "occurrence"] = "state"
    payoffs: Literal["sentences", "table"] = "sentences"
    switched: bool = False

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("shows", self.shows, ("base", "state", "occurrence")),
            ("payoffs", self.payoffs, ("sentences", "table")),
        ):
            if value not in allowed:
                raise BadParameter(f"The style shapellm has {name}={' or '.join(allowed)}, not {value!r}.")

    @property
    def memory(self) -> int | None:
        return {"base": 0, "state": 1}.get(self.shows)

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[Message]:
        game, facts = _matrix(view)
        parts = [self._rules(game, facts)]
        if self.shows == "occurrence" and (counts := _counts(facts, past)):
            told = ", ".join(f"{joint} {count}" for joint, count in counts.items())
            parts.append(f"How often each pair was played before the last round, yours first: {told}.")
        if self.shows != "base" and facts.mine:
            last = f"you played {facts.labels[facts.mine[-1]]}, they played {facts.their_labels[facts.theirs[-1]]}"
            parts.append(f"Last round {last}.")
        parts.append(f"Reply with {' or '.join(self._order(facts.labels))} only.")
        return [Message("user", "\n".join(parts))]

    def _order(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return labels[::-1] if self.switched else labels

    def _rules(self, game: MatrixGame, facts: MatrixFacts) -> str:
        pairs = list(product(self._order(facts.labels), self._order(facts.their_labels)))
        pays = [game.pay(facts.seat, mine, theirs) for mine, theirs in pairs]
        rows = [(*pair, *pay) for pair, pay in zip(pairs, pays, strict=True)]
        own, other = (" or ".join(self._order(labels)) for labels in (facts.labels, facts.their_labels))
        both = f"both choose {own}" if own == other else f"you choose {own} and they choose {other}"
        opening = f"{game.story} Each round {both}."
        if self.payoffs == "table":
            head = "| you | they | your points | their points |\n|---|---|---|---|"
            return "\n".join([opening, head, *(f"| {a} | {b} | {x:g} | {y:g} |" for a, b, x, y in rows)])
        told = (f"If you play {a} and they play {b}, you get {x:g} and they get {y:g}." for a, b, x, y in rows)
        return "\n".join([opening, *told])


def _matrix(view: View[Any]) -> tuple[MatrixGame, MatrixFacts]:
    if not isinstance(view.game, MatrixGame):
        raise BadParameter(f"The style shapellm is for repeated matrix games, not {view.game.spec.name}.")
    return view.game, cast("MatrixFacts", view.facts)


def _counts(facts: MatrixFacts, past: Past) -> dict[str, int]:
    """Every joint action with its count over the trial, the last round's left out; empty before the second round."""
    every = list(product(range(len(facts.labels)), range(len(facts.their_labels))))
    played = Counter(zip(facts.mine[:-1], facts.theirs[:-1], strict=True))
    names = {pair: joint(facts, *pair) for pair in every}
    total = {name: past.counts.get(name, 0) + played[pair] for pair, name in names.items()}
    return total if any(total.values()) else {}
