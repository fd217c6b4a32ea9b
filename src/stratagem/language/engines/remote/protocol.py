"""Body of a chat request, and its adaptation when the server refuses a parameter."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.files import parse_json
from stratagem.language.engines.base import Request
from stratagem.language.engines.remote.replies import sound
from stratagem.language.engines.remote.retries import Failure

Adjustments = frozenset[str]
"""Parameters of requests that a server needs otherwise."""
RENAMED = "max_completion_tokens"
"""Newer name of `max_tokens`: reasoning models accept only this one."""
NO_SEED = "no seed"
"""Servers that refuse a seed, where others only ignore it."""
OWN = frozenset({"model", "messages", "stream", "n", "temperature", "max_tokens", "max_completion_tokens"})
"""Fields of a body that follow from the player and its options."""
FEWER = "fewer top_logprobs"
"""Servers that tell fewer likeliest tokens than others."""
_FEW = 5
"""Number that OpenAI's older interface, of completions, tells at most."""
_SEED_BITS = 0x7FFF_FFFF
"""A seed has 31 bits, so that it is positive also where a server stores it as a signed number of 32 bits."""


def check(request: Request) -> None:
    """Refuse sampling options that the protocol lacks."""
    if request.sampling.top_k:
        raise BadParameter(
            "A server takes no top_k: leave it at 0, and set top_p where unlikely words are to be cut off."
        )
    if request.sampling.min_p:
        raise BadParameter(
            "A server takes no min_p: leave it at 0, and set top_p where unlikely words are to be cut off."
        )
    if request.sampling.explores:
        raise BadParameter(
            f"A server draws its tokens itself, without the sampler {request.sampling.sampler}: leave it out, or take "
            "the engine transformers."
        )
    if request.adapter:
        raise BadParameter(
            f"A server takes no adapters: leave {request.adapter!r} out, and say api:MODEL@URL "
            "with the name that the server gives the adapted model."
        )


def check_extra(extra: object) -> str:
    """Return further fields of a body as JSON; refused where they are none, or replace what the player itself says."""
    try:
        fields = parse_json(extra) if isinstance(extra, str) else extra
        text = json.dumps(fields, sort_keys=True)
    except (TypeError, ValueError):
        fields = text = None
    if not isinstance(fields, Mapping) or text is None:
        raise BadParameter(
            f"`extra_body` is a JSON object such as {{'reasoning_effort': 'low'}}, not {str(extra)[:100]!r}."
        )
    if own := sorted(OWN & fields.keys()):
        raise BadParameter(f"`extra_body` cannot set {own[0]}, which the player itself sets: leave it out.")
    return text if fields else ""


def chat_body(model: str, request: Request, adjustments: Adjustments) -> dict[str, Any]:
    """Return the request as a JSON body; the seed follows from its key."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": role, "content": sound(text)} for role, text in request.prompt.messages],
        "temperature": request.sampling.temperature,
        RENAMED if RENAMED in adjustments else "max_tokens": request.max_new_tokens,
    }
    if request.sampling.top_p < 1.0:
        body["top_p"] = request.sampling.top_p
    if NO_SEED not in adjustments:
        body["seed"] = request.key.value & _SEED_BITS
    if request.alternatives:
        body["logprobs"] = True
        body["top_logprobs"] = min(request.alternatives, _FEW if FEWER in adjustments else request.alternatives)
    return body | (json.loads(request.extra_body) if request.extra_body else {})


def adjustment(failure: Failure) -> str | None:
    """Return the change of parameters that a refusal asks for; None where it is about something else."""
    if failure.status not in (400, 422):
        return None
    if RENAMED in failure.full:
        return RENAMED
    if "top_logprobs" in failure.full:
        return FEWER
    return NO_SEED if re.search(r"\bseed\b", failure.full) else None
