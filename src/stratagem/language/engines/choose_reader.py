"""Choice of a model's reader: the fastest one of which a probe shows that it reads as the model itself does."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.branches import NONE, Branches
from stratagem.language.engines.plain_reader import PlainReader
from stratagem.language.engines.reader import AdapterText, PrefixReader, SharingReader
from stratagem.language.engines.row_store import Uneven
from stratagem.language.engines.transformers_settings import TransformersSettings
from stratagem.language.models.agreement import Agreement, agreement, deviation
from stratagem.language.models.attention import Attention, attention_of
from stratagem.language.models.decoder_structure import OtherStructure
from stratagem.language.models.language_model import LanguageModel

ROLLOUTS = "rollouts"
"""Name of the component in `LanguageModel.reading`."""
_REFUSALS = (Uneven, RuntimeError, TypeError, ValueError, LookupError, AttributeError)
"""Errors of an architecture that wants another mask or cache.

The reader says so when it falls back, since a defect of ours would raise the same.
"""
_PACKED_MIB = TransformersSettings().packed_weights_mib
_SHARED, _ALONE = "with shared prefixes", "each text by itself"
_NUM_POSITIONS = 32
"""Number of last tokens of each text over which the model's own noise is measured."""


def reader_for(lm: LanguageModel, budget: int, packed_mib: int = _PACKED_MIB, *, graphs: bool = True) -> PrefixReader:
    """Return the fastest reader whose logits agree with the model's own on a probe."""
    attention = attention_of(lm.model.config)
    if attention is None:
        lm.reading[ROLLOUTS] = f"{_ALONE}: the architecture takes no mask of tokens"
        return PlainReader(lm)
    own = "the setting packed_weights_mib is 0"
    if packed_mib:
        try:
            reader, result = probe_reader(lm, attention, budget, packed_mib, graphs=graphs)
        except OtherStructure as error:
            own = str(error)
        except _REFUSALS as error:
            own = f"{type(error).__name__}: {error}"
            warnings.warn(f"{lm.name} is read by its own layers: {own}", stacklevel=2)
        else:
            if result.agrees:
                how = "packed weights" if lm.model.device.type == "cpu" else "a fused pass"
                lm.reading[ROLLOUTS] = f"{_SHARED}: {result}; by {how}{_graphs(reader)}"
                return reader
            own = str(result)
            warnings.warn(f"{lm.name} is read by its own layers: {own}", stacklevel=2)
    return _by_own_layers(lm, attention, budget, own, graphs=graphs)


def _by_own_layers(lm: LanguageModel, attention: Attention, budget: int, reason: str, *, graphs: bool) -> PrefixReader:
    """Return the sharing reader that runs the model's own layers if it agrees, else the plain one."""
    try:
        reader, result = probe_reader(lm, attention, budget, 0, graphs=graphs)
    except _REFUSALS as error:
        lm.reading[ROLLOUTS] = f"{_ALONE}: {type(error).__name__}: {error}"
        warnings.warn(f"{lm.name} is read without sharing: {type(error).__name__}: {error}", stacklevel=3)
        return PlainReader(lm)
    if not result.agrees:
        lm.reading[ROLLOUTS] = f"{_ALONE}: {result}"
        warnings.warn(f"{lm.name} is read without sharing: {result}", stacklevel=3)
        return PlainReader(lm)
    lm.reading[ROLLOUTS] = f"{_SHARED}: {result}; by the model's own layers{_graphs(reader)}, since {reason}"
    return reader


def _graphs(reader: SharingReader) -> str:
    return " and CUDA graphs" if reader.by_graphs else ""


def probe_reader(
    lm: LanguageModel, attention: Attention, budget: int, packed_mib: int, *, graphs: bool
) -> tuple[SharingReader, Agreement]:
    """Return a reader without any computation, and its agreement with the model."""
    reader = SharingReader(lm, attention, budget, packed_mib, graphs=graphs)
    with torch.inference_mode(), reader.weights.under([""]):
        result = _agreement(lm, reader)
    if reader.by_graphs and not result.agrees:
        warnings.warn(f"passes of {lm.name} are no CUDA graphs, and slower: {result}", stacklevel=4)
        return probe_reader(lm, attention, budget, packed_mib, graphs=False)
    reader.clear()
    reader.settle()
    reader.reset()
    reader.num_passes = reader.num_tokens = 0
    return reader, result


def _agreement(lm: LanguageModel, reader: SharingReader) -> Agreement:
    """Compare three texts that share a beginning, extensions of two of them, and branches of these."""
    size = lm.model.get_input_embeddings().num_embeddings
    tokens = [(7 * index * index + 3 * index + 1) % size for index in range(120)]
    texts = [
        AdapterText("", (*tokens[:60], *tokens[start : start + length]))
        for start, length in ((60, 9), (70, 20), (80, 1))
    ]
    tails = [tokens[:1], tokens[5:11]]
    branches = Branches()
    other = branches.add(branches.add(-1, tokens[:2]), tokens[20:21])
    taken = branches.add(branches.add(-1, tokens[30:33]), tokens[40:41])
    shared = [*reader.read(texts)]
    reader.open(texts[:2])
    rows = reader.go_on(tails, [NONE, branches])
    reader.take([[], branches.path(taken)])
    shared += [*rows[:2], rows[3], rows[5], *reader.go_on([[], tokens[50:52]])[1:]]
    singles = tokens[90 : 90 + reader.num_single_passes]
    shared += [row for token in singles for row in reader.go_on([[token], [token]])]
    first, second = ((*text.tokens, *tail) for text, tail in zip(texts, tails, strict=False))
    besides, aheads = ([branches.tokens[index] for index in branches.path(end)] for end in (other, taken))
    longer = [(*second, *more) for more in (besides, aheads, [*aheads, *tokens[50:52]])]
    ends = [singles[:count] for count in range(1, len(singles) + 1)]
    grown = [(*begun, *end) for end in ends for begun in (first, longer[-1])]
    asked = [*(text.tokens for text in texts), first, second, *longer, *grown]
    whole = [tokens for tokens in asked if not any(_begins(tokens, other) for other in asked)]
    alone = [rows for tokens in whole for rows in _own_logits(lm, [tokens])]
    expected = [_row(tokens, whole, alone) for tokens in asked]
    return agreement(lm, shared, expected, noise=deviation(_own_logits(lm, whole), alone))


def _begins(tokens: Ids, other: Ids) -> bool:
    return len(tokens) < len(other) and other[: len(tokens)] == tokens


def _row(tokens: Ids, whole: Sequence[Ids], alone: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the logits after some tokens from those of a whole text that they begin or are."""
    number = next(n for n, text in enumerate(whole) if tokens == text or _begins(tokens, text))
    return alone[number][len(tokens) - len(whole[number]) - 1]


def _own_logits(lm: LanguageModel, texts: Sequence[Ids]) -> list[torch.Tensor]:
    """Return the logits after the last tokens of each text, by transformers' own pass, padded on the left."""
    width = max(len(text) for text in texts)
    pads = [width - len(text) for text in texts]
    ids = torch.tensor([[0] * pad + list(text) for pad, text in zip(pads, texts, strict=True)])
    mask = torch.tensor([[0] * pad + [1] * (width - pad) for pad in pads])
    options = {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp(min=0)} if any(pads) else {}
    given = {name: value.to(lm.model.device) for name, value in {"input_ids": ids, **options}.items()}
    return [*lm.model(**given, use_cache=False, logits_to_keep=_NUM_POSITIONS).logits]
