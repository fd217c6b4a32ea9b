"""Parts of reasoning: a sequence of statements, each with several wordings, of which a key draws one.

The wordings are in `base/sentences/reasons.toml`. One contains nothing that its seat does not observe, and never a
legal action as such ("cooperation", not "COOPERATE"): a reply that is cut short names no action, and a rule that stops
at the first one does not stop early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stratagem.base.sentences.reading import SentenceFile, Wordings, read_sentences
from stratagem.games.base import View
from stratagem.games.key import Key

Reasons = tuple[Wordings, ...]
"""Statements of one reasoning, in order."""
Reasoner = Callable[[View[Any], str], Reasons]
"""Function from a view and an action to the reasons of a demonstrator."""
Reasoners = Mapping[str, Reasoner]
"""Reasoners by demonstrator."""


def draw_wording(reasons: Reasons, key: Key) -> str:
    """Join one drawn wording of each statement."""
    return " ".join(ways[key.at(index).integer(len(ways))] for index, ways in enumerate(reasons))


def reason_file() -> SentenceFile:
    """Return the wordings of all reasons."""
    return read_sentences("reasons")


def state(key: str, **words: object) -> Wordings:
    """Return the wordings of a statement, with words in their fields."""
    return reason_file().wordings(key, **words)


def word(key: str, **words: object) -> str:
    """Return a text that wordings have in a field."""
    return reason_file().sentence(key, **words)


def by_chance(outcome: str) -> Reasons:
    """Give reasons for a random action."""
    return state("chance.no_plan"), state("chance.draw", outcome=outcome)


def counted_rounds(number: int) -> str:
    """`1 round`, `2 rounds`."""
    return word("count.round" if number == 1 else "count.rounds", number=number)
