"""Replies of a table to an agent: the same as a text, for a model, and as data, for a program.

Both are made from the question of the seat alone, so neither can mention what the seat does not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from stratagem.games.base import Json

_LISTED = 100
"""Number of legal actions, and of options of a slot, that a text lists; the data lists all."""
_LEFT_OUT = ("type", "episode", "seed", "rules", "memory")
"""Parts of a question that a table does not show: the handle names the episode, and a tool tells the rules."""


class TableReply(NamedTuple):
    """Reply of a tool."""

    text: str
    data: Json
    is_error: bool = False
    """True of a call that changed nothing; the text says why, in one sentence."""


def question_reply(handle: str, number: str, question: Json, told: Sequence[str], **more: Any) -> TableReply:
    """Return a question as a reply; `told` are texts before it, and `more` is further data."""
    shown = {name: value for name, value in question.items() if name not in _LEFT_OUT}
    if question["memory"]["rounds"]:
        shown["memory"] = question["memory"]
    head = f"Table {handle}, question {number}, seat {question['seat']} of {question['seats']}."
    parts = [head, *told, question["situation"], choices_text(question["choices"])]
    data = {"table": handle, "state": "to act", "question": number, **shown, **more}
    return TableReply("\n\n".join(filter(None, parts)), data)


def plain_reply(handle: str, state: str, told: Sequence[str], **more: Any) -> TableReply:
    """Return a reply without a question."""
    head = f"Table {handle}." if handle else ""
    return TableReply("\n\n".join(filter(None, [head, *told])), {"table": handle or None, "state": state, **more})


def refusal(sentence: str) -> TableReply:
    """Return the reply to a call that changes nothing."""
    return TableReply(sentence, {"error": sentence}, is_error=True)


def choices_text(choices: Json) -> str:
    """Write the legal actions, from their form in a question."""
    if choices["kind"] == "sheet":
        slots = [f"- {slot['name']}: {_list(slot['options'])}" for slot in choices["slots"]]
        return "\n".join([f"Fill {choices['fill']} of these slots, one line each:", *slots])
    return f"You may play: {_list(choices['actions']) if choices['kind'] == 'set' else choices['summary']}."


def attempt_text(attempt: int) -> str:
    """Say that a seat is asked again; empty at its first attempt."""
    return f"The last reply named no legal action. This is attempt {attempt + 1}." if attempt else ""


def _list(options: Sequence[str]) -> str:
    more = f" and {len(options) - _LISTED} more, which the data lists" if len(options) > _LISTED else ""
    return f"{', '.join(options[:_LISTED])}{more}"
