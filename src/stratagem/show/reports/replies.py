"""Pieces of a reply by kind: sampled, forced, and most likely among the legal tokens.

A record holds the tokens of a reply by kind and its text as a whole. Where the kinds differ, the run's own tokenizer
tells where one ends; where there is none, the reply is shown as mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from stratagem.language.engines.base import Call

Decode = Callable[[Sequence[int]], str]
KINDS = {
    "sampled": "sampled by the model",
    "forced": "the only legal token",
    "argmax": "recovered: the most likely legal action, after an illegal reply",
    "mixed": "partly sampled, partly forced",
}
"""Descriptions of the kinds of text."""


class ReplyStretch(NamedTuple):
    """Stretch of a reply."""

    kind: str
    text: str


def pieces(call: Call, decode: Decode | None) -> list[ReplyStretch]:
    """Split the reply where the kind of its tokens changes."""
    kinds = list(dict.fromkeys(span.kind for span in call.spans))
    if len(kinds) < 2:
        return [ReplyStretch(kinds[0] if kinds else "sampled", call.text)]
    return (_cut(call, decode) if decode else None) or [ReplyStretch("mixed", call.text)]


def _cut(call: Call, decode: Decode) -> list[ReplyStretch] | None:
    """Split by decoding the tokens so far; None where that does not give the text."""
    ends = [decode(call.tokens[: span.end]) for span in call.spans]
    starts = ["", *ends[:-1]]
    if ends[-1] != call.text or not all(end.startswith(start) for start, end in zip(starts, ends, strict=True)):
        return None
    cut = zip(call.spans, starts, ends, strict=True)
    return [ReplyStretch(span.kind, end[len(start) :]) for span, start, end in cut if end != start]


def decoder(folder: Path) -> Decode | None:
    """Load the decoder of the tokenizer that a run saved; None where there is none, or none can be read."""
    return read_decoder(folder / "base" / "model" / "tokenizer.json")


@cache
def read_decoder(path: Path) -> Decode | None:
    """Load the decoder of a tokenizer's file; None where there is none, or none can be read."""
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(path))
    except Exception:  # noqa: BLE001 - the library raises nothing more special
        return None
    return lambda tokens: str(tokenizer.decode(list(tokens), skip_special_tokens=True))
