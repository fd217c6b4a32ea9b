"""Requests to our engine and to transformers: greedy replies of a fixed length to raw tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import LIKELIEST, Call, Prompt, Request
from stratagem.language.engines.reader import SharingReader
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.language_model import LanguageModel


class Anything:
    """A guide that allows every token and never ends a reply."""

    done = False
    allowed: Ids | None = None
    forced: Sequence[int] = ()

    def advance(self, token: int) -> None:
        """Nothing follows from it."""


def fresh(lm: LanguageModel) -> TransformersEngine:
    """An engine that has computed nothing; one that had to give up sharing would be measured as something else."""
    engine = TransformersEngine(lm)
    if not isinstance(engine.reader, SharingReader):
        raise SystemExit("The engine's probe failed, so it reads without sharing: mend that before measuring.")
    return engine


def requests(engine: TransformersEngine, prompts: Sequence[Ids], length: int, adapters: Sequence[str]) -> list[Request]:
    """Greedy requests for exactly `length` tokens after each prompt."""
    return [
        Request(
            engine=engine,
            prompt=Prompt((), prompt),
            guide=Anything(),
            key=Key(0).at(row),
            adapter=adapter,
            sampling=LIKELIEST,
            max_new_tokens=length,
        )
        for row, (prompt, adapter) in enumerate(zip(prompts, adapters, strict=True))
    ]


def ours(engine: TransformersEngine, prompts: Sequence[Ids], length: int, adapters: Sequence[str] = ()) -> list[Ids]:
    """The tokens of our replies."""
    calls: list[Call] = engine.answer(requests(engine, prompts, length, adapters or [""] * len(prompts)))
    return [call.tokens for call in calls]


def theirs(lm: LanguageModel, prompts: Sequence[Ids], length: int, **options: Any) -> list[Ids]:
    """The tokens of `generate` on the whole batch, filled up on the left."""
    width = max(map(len, prompts))
    ids = [[lm.tokenizer.pad_token_id] * (width - len(prompt)) + list(prompt) for prompt in prompts]
    mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    settings = {"max_new_tokens": length, "do_sample": False, "eos_token_id": None, **options}
    with torch.inference_mode():
        found = lm.model.generate(
            input_ids=torch.tensor(ids, device=lm.device),
            attention_mask=torch.tensor(mask, device=lm.device),
            pad_token_id=lm.tokenizer.pad_token_id,
            **settings,
        )
    replies: list[Ids] = [tuple(row[width:].tolist()) for row in found]
    assert all(len(reply) == length for reply in replies)
    return replies


def alike(one: Sequence[Ids], other: Sequence[Ids]) -> float:
    """The share of replies that are the same on both sides; near-ties may fall differently."""
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
