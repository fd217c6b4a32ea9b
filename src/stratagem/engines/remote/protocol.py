"""What is sent to a server for a request, and what is learnt when it refuses a word of it."""

from __future__ import annotations

import re
from typing import Any

from stratagem.engines.base import Request
from stratagem.engines.remote.replies import sound
from stratagem.engines.remote.retries import Failure
from stratagem.errors import BadParameter

Lessons = frozenset[str]
"""What a server was found to want otherwise."""
RENAMED = "max_completion_tokens"
"""The newer name of `max_tokens`: models that think know only this one."""
NO_SEED = "no seed"
"""Some servers refuse a seed, where others only ignore it."""
_SEED_BITS = 0x7FFF_FFFF


def check(request: Request) -> None:
    """Refuse what the protocol has no word for."""
    if request.sampling.top_k:
        raise BadParameter(
            "A server takes no top_k: leave it at 0, and set top_p where unlikely words are to be cut off."
        )
    if request.adapter:
        raise BadParameter(
            f"A server takes no adapters: leave {request.adapter!r} out, and say api:MODEL@URL "
            "with the name that the server gives the adapted model."
        )


def chat_body(model: str, request: Request, lessons: Lessons) -> dict[str, Any]:
    """The request in the words of the protocol; the seed follows from its key."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": role, "content": sound(text)} for role, text in request.prompt.messages],
        "temperature": request.sampling.temperature,
        RENAMED if RENAMED in lessons else "max_tokens": request.max_new,
    }
    if request.sampling.top_p < 1.0:
        body["top_p"] = request.sampling.top_p
    if NO_SEED not in lessons:
        body["seed"] = request.key.value & _SEED_BITS
    return body


def lesson(failure: Failure) -> str | None:
    """What a refusal teaches; None where it is about something else."""
    if failure.status not in (400, 422):
        return None
    if RENAMED in failure.full:
        return RENAMED
    return NO_SEED if re.search(r"\bseed\b", failure.full) else None
