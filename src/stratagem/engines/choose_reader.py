"""Choice of a model's reader: the sharing one if a probe shows that it reads exactly as the model itself does."""

from __future__ import annotations

import warnings

import torch

from stratagem.engines.plain_reader import PlainReader
from stratagem.engines.reader import Reader, SharingReader, Text
from stratagem.engines.rows import Uneven
from stratagem.models.attention import attention_of
from stratagem.models.language_model import LanguageModel

_REFUSALS = (Uneven, RuntimeError, TypeError, ValueError, LookupError, AttributeError)
"""Errors of an architecture that wants another mask or cache.

The reader says so when it falls back, since a defect of ours would raise the same.
"""
_TOLERANCE = {"fp32": 1e-3}
"""Tolerance between two computations of the same logits, in units of their spread; larger in low precision."""


def reader_for(lm: LanguageModel, budget: int) -> Reader:
    """Return the sharing reader if its logits agree with the plain one's on a probe, else the plain one."""
    attention = attention_of(lm.model.config)
    if attention is None:
        return PlainReader(lm)
    reader = SharingReader(lm, attention, budget)
    with torch.inference_mode(), reader.weights.under([""]):
        try:
            agrees = _agree(lm, reader)
        except _REFUSALS as error:
            warnings.warn(f"{lm.name} is read without sharing: {type(error).__name__}: {error}", stacklevel=2)
            agrees = False
    return SharingReader(lm, attention, budget) if agrees else PlainReader(lm)


def _agree(lm: LanguageModel, reader: Reader) -> bool:
    """Return whether both readers agree on three texts that share a beginning, and on extensions of two of them."""
    size = lm.model.get_input_embeddings().num_embeddings
    tokens = [(7 * index * index + 3 * index + 1) % size for index in range(120)]
    texts = [
        Text("", (*tokens[:60], *tokens[start : start + length])) for start, length in ((60, 9), (70, 20), (80, 1))
    ]
    tails = [tokens[:1], tokens[5:11]]
    shared = [*reader.read(texts)]
    reader.open(texts[:2])
    shared += [*reader.go_on(tails)]
    whole = [*texts, *(Text("", (*text.tokens, *tail)) for text, tail in zip(texts, tails, strict=False))]
    plain = [_plain(lm, text) for text in whole]
    limit = _TOLERANCE.get(lm.dtype, 0.1)
    return all(
        bool(((ours - theirs).abs().max() / theirs.std()).item() <= limit)
        for ours, theirs in zip((row.float() for row in shared), plain, strict=True)
    )


def _plain(lm: LanguageModel, text: Text) -> torch.Tensor:
    ids = torch.tensor([text.tokens], device=lm.model.device)
    logits: torch.Tensor = lm.model(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1]
    return logits.float()
