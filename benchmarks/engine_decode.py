"""Decoding at several batch sizes: our engine against transformers' own layers in a loop over their own cache."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from engine_orders import strings
from engine_replies import alike, fresh, ours
from engine_timing import Figure, Timing, count
from transformers import DynamicCache

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load

TOKENS, LENGTH = 100, 33
ASKED = {("fp32", 1): 1.3, ("fp32", 8): 1.5, ("fp32", 32): 1.3, ("bf16", 1): 1.7, ("bf16", 8): 1.7, ("bf16", 32): 1.7}
"""Required ratio by format and batch size."""


def measure(repeats: int) -> Iterator[Figure]:
    """Each format and batch size; a reply of one token has read the prompts on both sides before the time begins."""
    for dtype in ("fp32", "bf16"):
        lm = load(f"smollm2+dtype={dtype}")
        engine = fresh(lm)
        text = lm.encode("Orders:\n" + "\n".join(strings()))
        for batch in (1, 8, 32):
            prompts = [tuple(text[7 * row : 7 * row + TOKENS]) for row in range(batch)]
            seconds, same = list[tuple[float, float]](), list[float]()
            for _ in range(repeats):
                engine.reset_cache()
                ours(engine, prompts, 1)
                start = time.perf_counter()
                mine = ours(engine, prompts, LENGTH)
                spent = time.perf_counter() - start
                theirs, loop = _loop(lm, prompts)
                seconds.append((spent, loop))
                same.append(alike(mine, theirs))
            name = f"{dtype}, batch of {batch}"
            one, other = (Timing(tuple(side)) for side in zip(*seconds, strict=True))
            yield one.figure(f"{name}: a step, ours", "ms", 1e3 / (LENGTH - 1))
            yield other.figure(f"{name}: a step, transformers' loop", "ms", 1e3 / (LENGTH - 1))
            yield one.times(other, f"{name}: times as fast as transformers", f"at least {ASKED[dtype, batch]}")
            yield count(f"{name}: replies that are the same", 100 * min(same), "%")


def _loop(lm: LanguageModel, prompts: Sequence[Ids]) -> tuple[list[Ids], float]:
    """Greedy replies by transformers' layers and cache, and the seconds after the first token."""
    with torch.inference_mode():
        cache: Any = DynamicCache(config=lm.model.config)
        said = [_likeliest(lm, torch.tensor(prompts), cache)]
        start = time.perf_counter()
        for _ in range(LENGTH - 1):
            said.append(_likeliest(lm, said[-1], cache))
        spent = time.perf_counter() - start
    return [tuple(row) for row in torch.cat(said, dim=1).tolist()], spent


def _likeliest(lm: LanguageModel, ids: torch.Tensor, cache: Any) -> torch.Tensor:
    output = lm.model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
    tokens: torch.Tensor = output.logits[:, -1].argmax(-1, keepdim=True)
    return tokens
