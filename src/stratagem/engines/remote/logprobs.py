"""Log-probabilities that a server tells with a reply: of each token, and of the likeliest others in its place.

Chat completions list them in `logprobs.content`; servers that keep to the form of plain completions, in parallel lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stratagem.engines.base import Alternative

_MOST_TOKENS = 1 << 12
_MOST_ALTERNATIVES = 1 << 10
_ROUNDING = 1e-3
"""Tolerance of a log-probability above 0."""


def read_alternatives(choice: Mapping[str, Any]) -> tuple[tuple[Alternative, ...], ...]:
    """Return for each token of a reply its alternatives, the token itself first; empty where the server tells none."""
    told = choice.get("logprobs")
    if not isinstance(told, dict):
        return ()
    positions = _of_chat(told["content"]) if isinstance(told.get("content"), list) else _of_lists(told)
    return tuple(tuple(_unique(position)) for position in positions)


def _of_chat(content: list[Any]) -> Iterator[list[Alternative | None]]:
    for token in content[:_MOST_TOKENS]:
        row = token if isinstance(token, dict) else {}
        others = row.get("top_logprobs")
        yield [_alternative(one) for one in (row, *(others if isinstance(others, list) else ()))]


def _of_lists(told: Mapping[str, Any]) -> Iterator[list[Alternative | None]]:
    tokens, logprobs, tops = (told.get(name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if not isinstance(tokens, list) or not isinstance(logprobs, list):
        return
    others = tops if isinstance(tops, list) else [{}] * len(tokens)
    for token, logprob, top in list(zip(tokens, logprobs, others, strict=False))[:_MOST_TOKENS]:
        pairs = [(token, logprob), *(top.items() if isinstance(top, dict) else ())]
        yield [_alternative({"token": text, "logprob": value}) for text, value in pairs]


def _alternative(row: object) -> Alternative | None:
    """Return a token with its log-probability; None where it is none."""
    told = row if isinstance(row, dict) else {}
    token, logprob, raw = told.get("token"), told.get("logprob"), told.get("bytes")
    if not isinstance(token, str) or not isinstance(logprob, int | float) or not logprob <= _ROUNDING:
        return None
    if isinstance(raw, list) and all(type(byte) is int and 0 <= byte < 256 for byte in raw):
        return Alternative(bytes(raw), min(0.0, float(logprob)))
    return Alternative(token.encode("utf-8", "replace"), min(0.0, float(logprob)))


def _unique(position: list[Alternative | None]) -> Iterator[Alternative]:
    """Yield each token once."""
    seen = set[bytes]()
    for one in position[: _MOST_ALTERNATIVES + 1]:
        if one is not None and one.token not in seen:
            seen.add(one.token)
            yield one
