"""Words behind a decision: the prompt as messages, and the reply token by token with its probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from stratagem.engines.base import Call
from stratagem.engines.kept_set import KeptSet, TokenSet
from stratagem.errors import StratagemError, UnknownName
from stratagem.games.base import Json
from stratagem.models.load import folder_of
from stratagem.models.reference import BUILT_IN, parse_model
from stratagem.play.records import Episode
from stratagem.reports.replies import Decode, decoder, read_decoder
from stratagem.runs.folder import RunFolder

_ALLOWED = 24
"""Largest allowed set whose tokens are told one by one."""


def words_of(episode: Episode, turn: int, seat: int, attempt: int, run: RunFolder | None) -> list[Json]:
    """Return the calls behind a decision."""
    for decision in episode.decisions:
        if (decision.turn, decision.seat, decision.attempt) == (turn, seat, attempt):
            return [_call(call, _decode(call.policy.base, run.path if run else None)) for call in decision.calls]
    raise UnknownName("decision", f"turn {turn}, seat {seat}, attempt {attempt}", ())


def _call(call: Call, decode: Decode | None) -> Json:
    texts = token_texts(call.tokens, call.text, decode)
    return {
        "base": call.policy.base,
        "adapter": call.policy.adapter,
        "version": call.policy.version,
        "messages": [{"role": role, "content": content} for role, content in call.prompt.messages],
        "text": call.text,
        "reasoning": call.reasoning,
        "finish": call.finish,
        "temperature": call.sampling.temperature,
        "top_k": call.sampling.top_k,
        "top_p": call.sampling.top_p,
        "num_prompt": call.num_prompt,
        "num_reply": call.num_reply,
        "ms": call.ms,
        "tokens": _tokens(call, texts, decode),
    }


def _tokens(call: Call, texts: Sequence[str | None], decode: Decode | None) -> list[Json]:
    """Return each token with its origin, its probability, and the set that it was sampled from."""
    kinds = [span.kind for span in call.spans for _ in range(span.start, span.end)]
    return [
        {
            "id": token,
            "text": text,
            "kind": kind,
            "p": None if kind == "forced" else _probability(logprob),
            "allowed": None if some is None else len(some),
            "outside": kind == "sampled" and some is not None and token not in some,
            "others": _others(some, token, decode),
        }
        for token, text, kind, logprob, some in zip(
            call.tokens, texts, kinds, call.sampler_logprobs, call.allowed, strict=False
        )
    ]


def _probability(logprob: float) -> float | None:
    return math.exp(min(0.0, logprob)) if math.isfinite(logprob) or logprob < 0 else None


def _others(some: TokenSet | None, token: int, decode: Decode | None) -> list[str]:
    """Return the other tokens of a small allowed set."""
    if some is None or isinstance(some, KeptSet) or decode is None or len(some) > _ALLOWED:
        return []
    return [decode([other]) for other in some if other != token]


def token_texts(tokens: Sequence[int], text: str, decode: Decode | None) -> list[str | None]:
    """Split a reply into the texts of its tokens.

    A character may need several tokens: it stands at the last of them, and the others are empty. None for each token
    where the tokenizer is not here, or does not give the text of the reply.
    """
    if decode is None:
        return [None] * len(tokens)
    texts, start, told = list[str](), 0, 0
    for end in range(1, len(tokens) + 1):
        before, now = decode(tokens[start:told]), decode(tokens[start:end])
        whole = len(now) > len(before) and (end == len(tokens) or not now.endswith("\ufffd"))
        texts.append(now[len(before) :] if whole else "")
        start, told = (told, end) if whole else (start, told)
    return [*texts] if "".join(texts).strip() == text.strip() else [None] * len(tokens)


@lru_cache(maxsize=8)
def _decode(base: str, run: Path | None) -> Decode | None:
    """Return the tokenizer of a model that is on this machine; a name in a record fetches nothing and opens no path."""
    own = decoder(run) if run else None
    path = None if own else _tokenizer(base)
    return own if path is None else read_decoder(path)


def _tokenizer(base: str) -> Path | None:
    """Find the file of the tokenizer of a model that comes with the package, or is in the cache of the Hub."""
    try:
        model = parse_model(base)
        if model.kind in (*BUILT_IN, "smollm2"):
            return folder_of(model) / "tokenizer.json"
        if model.kind == "hf":
            return _cached(model.where, model.revision)
    except (StratagemError, ImportError):
        return None
    return None


def _cached(name: str, revision: str | None) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "tokenizer.json", revision=revision)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None
