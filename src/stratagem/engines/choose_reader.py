"""Choice of a model's reader: the sharing one if a probe shows that it reads as the model itself does."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch

from stratagem.engines.plain_reader import PlainReader
from stratagem.engines.reader import Reader, SharingReader, Text
from stratagem.engines.rows import Uneven
from stratagem.models.agreement import Agreement, agreement, deviation
from stratagem.models.attention import attention_of
from stratagem.models.language_model import LanguageModel

ROLLOUTS = "rollouts"
"""Name of the component in `LanguageModel.reading`."""
_REFUSALS = (Uneven, RuntimeError, TypeError, ValueError, LookupError, AttributeError)
"""Errors of an architecture that wants another mask or cache.

The reader says so when it falls back, since a defect of ours would raise the same.
"""
_NUM_POSITIONS = 32
"""Number of last tokens of each text over which the model's own noise is measured."""


def reader_for(lm: LanguageModel, budget: int) -> Reader:
    """Return the sharing reader if its logits agree with the model's own on a probe, else the plain one."""
    attention = attention_of(lm.model.config)
    if attention is None:
        lm.reading[ROLLOUTS] = "each text by itself: the architecture takes no mask of tokens"
        return PlainReader(lm)
    reader = SharingReader(lm, attention, budget)
    with torch.inference_mode(), reader.weights.under([""]):
        try:
            result = _agreement(lm, reader)
        except _REFUSALS as error:
            lm.reading[ROLLOUTS] = f"each text by itself: {type(error).__name__}: {error}"
            warnings.warn(f"{lm.name} is read without sharing: {type(error).__name__}: {error}", stacklevel=2)
            return PlainReader(lm)
    lm.reading[ROLLOUTS] = f"{'with shared prefixes' if result.agrees else 'each text by itself'}: {result}"
    if not result.agrees:
        warnings.warn(f"{lm.name} is read without sharing: {result}", stacklevel=2)
    return SharingReader(lm, attention, budget) if result.agrees else PlainReader(lm)


def _agreement(lm: LanguageModel, reader: Reader) -> Agreement:
    """Compare three texts that share a beginning, and extensions of two of them."""
    size = lm.model.get_input_embeddings().num_embeddings
    tokens = [(7 * index * index + 3 * index + 1) % size for index in range(120)]
    texts = [
        Text("", (*tokens[:60], *tokens[start : start + length])) for start, length in ((60, 9), (70, 20), (80, 1))
    ]
    tails = [tokens[:1], tokens[5:11]]
    shared = [*reader.read(texts)]
    reader.open(texts[:2])
    shared += [*reader.go_on(tails)]
    extended = (Text("", (*text.tokens, *tail)) for text, tail in zip(texts, tails, strict=False))
    whole = [*texts, *extended]
    alone = [rows for text in whole for rows in _own_logits(lm, [text])]
    return agreement(lm, shared, [rows[-1] for rows in alone], noise=deviation(_own_logits(lm, whole), alone))


def _own_logits(lm: LanguageModel, texts: Sequence[Text]) -> list[torch.Tensor]:
    """Return the logits after the last tokens of each text, by transformers' own pass, padded on the left."""
    width = max(len(text.tokens) for text in texts)
    pads = [width - len(text.tokens) for text in texts]
    ids = torch.tensor([[0] * pad + list(text.tokens) for pad, text in zip(pads, texts, strict=True)])
    mask = torch.tensor([[0] * pad + [1] * (width - pad) for pad in pads])
    options = {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp(min=0)} if any(pads) else {}
    given = {name: value.to(lm.model.device) for name, value in {"input_ids": ids, **options}.items()}
    return [*lm.model(**given, use_cache=False, logits_to_keep=_NUM_POSITIONS).logits]
