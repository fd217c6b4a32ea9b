"""Protocol of agents outside: questions and answers in JSON, the same by a pipe, by POST and to a function.

Whatever an agent answers, the result is a reply or a `Failure`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from stratagem.language.engines.remote.replies import LONGEST, ServerReply, quote_start, sound, tokens_of
from stratagem.language.engines.remote.retries import Failure

PROTOCOL = 1
"""Version of the protocol."""
MOST_BYTES = 1 << 20
"""Largest number of bytes of an answer."""
HELLO = {"type": "hello", "protocol": PROTOCOL}
"""First line that a process reads."""


def line_of(message: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message).encode("ascii") + b"\n"


def read_answer(answer: object, hide: Callable[[str], str] = str) -> ServerReply:
    """Read an answer: the action, or the reason why there is none."""
    if not isinstance(answer, dict):
        raise malformed_answer(f"gave an answer that is no JSON object: {quote_start(hide(_type_in_words(answer)))}")
    action = answer.get("action")
    if action is None and isinstance(error := answer.get("error"), str):
        raise Failure(f"reported an error: {quote_start(hide(error))}")
    if isinstance(action, list) and all(isinstance(line, str) for line in action):
        action = "\n".join(action)
    if not isinstance(action, str):
        raise malformed_answer(
            f"gave an answer without an `action` as a text: {quote_start(hide(_type_in_words(answer)))}"
        )
    text, usage = hide(sound(action)), answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return ServerReply(
        text=text[:LONGEST],
        finish="length" if len(text) > LONGEST else "done",
        num_prompt=tokens_of(usage.get("prompt_tokens")),
        num_reply=tokens_of(usage.get("completion_tokens")),
    )


def malformed_answer(why: str) -> Failure:
    """Return the failure of an answer that cannot be read."""
    return Failure(why, kind="malformed")


def _type_in_words(answer: object) -> str:
    try:
        return json.dumps(answer, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"a {type(answer).__name__}"
