"""Log-probabilities that a server tells with a reply: of each token, and of the likeliest others in its place.

Chat completions list them in `logprobs.content`; servers that keep to the form of plain completions, in parallel lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stratagem.language.engines.base import Alternative

_MOST_TOKENS = 1 << 12
_MOST_ALTERNATIVES = 1 << 10
"""Largest numbers of tokens, and of others in the place of one, that are read: a server is not trusted to stop."""
_ROUNDING = 1e-3
"""Tolerance of a log-probability above 0."""
_LEAST = -1e300
"""Log-probability below which a token has none; JSON has integers that are no floating-point number."""


def read_alternatives(choice: Mapping[str, Any], hide: Callable[[str], str]) -> tuple[tuple[Alternative, ...], ...]:
    """Return for each token of a reply its alternatives, the token itself first; empty where the server tells none.

    Empty also where they repeat a secret, in one token or from one token to the next.
    """
    told = choice.get("logprobs")
    if not isinstance(told, dict):
        return ()
    positions = _of_chat(told["content"]) if isinstance(told.get("content"), list) else _of_lists(told)
    found = tuple(tuple(_unique(position)) for position in positions)
    written = (b"".join(row[0].token for row in found if row), *(one.token for row in found for one in row))
    text = b"\0".join(written).decode("utf-8", "replace")
    return found if hide(text) == text else ()


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
    logprob = min(0.0, float(logprob)) if logprob > _LEAST else -math.inf
    if isinstance(raw, list) and all(type(byte) is int and 0 <= byte < 256 for byte in raw):
        return Alternative(bytes(raw), logprob)
    return Alternative(token.encode("utf-8", "replace"), logprob)


def _unique(position: list[Alternative | None]) -> Iterator[Alternative]:
    """Yield each token once."""
    seen = set[bytes]()
    for one in position[: _MOST_ALTERNATIVES + 1]:
        if one is not None and one.token not in seen:
            seen.add(one.token)
            yield one
