"""A language model as the learner sees it: hidden states of packed examples, and what it says about their tokens.

Whether a model reads a packed tree exactly as it reads its texts one by one is probed once; a model that does not, or
whose layers take no mask of ours (linear attention), reads each example by itself, padded on the right.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from stratagem.learning.activation_checkpointing import checkpointed_activations
from stratagem.learning.example import Example
from stratagem.learning.head import TOLERANCE, decoder_of, head_of, logit_scale_of
from stratagem.learning.logprobs import TokenOutputs, TokenQueries, token_outputs
from stratagem.learning.packing import Pack, Path, pack_examples, splits
from stratagem.learning.prefix_batch import prefix_batch, read_prefix_batch, tree_batch_cost
from stratagem.learning.tree_batch import TreeBatch, tree_batch
from stratagem.models.attention import Attention, attention_of
from stratagem.models.language_model import LanguageModel


class Policy:
    """The model at work under whatever adapter is active."""

    def __init__(
        self,
        lm: LanguageModel,
        *,
        max_tokens_per_microbatch: int = 4096,
        chunk: int | None = None,
        share: bool | None = None,
        gradient_checkpointing: bool = False,
    ) -> None:
        """A pass reads at most `max_tokens_per_microbatch`; the head, `chunk` of them (None: what its size allows).

        `share` None packs trees where a probe shows that this is exact. `gradient_checkpointing` keeps no activations
        inside layers and computes them again on the way back: less memory, about a third more time.
        """
        self.lm = lm
        self.max_tokens_per_microbatch = max_tokens_per_microbatch
        self.chunk = chunk
        self.gradient_checkpointing = gradient_checkpointing
        self.scale = logit_scale_of(lm)
        self.attention = attention_of(lm.model.config)
        self.share_prefixes = _agrees(lm, self.attention, _probed_tree) if share is None else share
        self.prefix_batches = (
            self.share_prefixes and not gradient_checkpointing and _agrees(lm, self.attention, _probed_bush)
        )

    def packs(self, examples: Sequence[Example]) -> list[Pack]:
        """The examples in packs of the budget, cut where the trees of several games are cheaper to read one by one."""
        packs = pack_examples(examples, self.max_tokens_per_microbatch, share=self.share_prefixes)
        return [part for pack in packs for part in self._parts(pack, examples)] if self.share_prefixes else packs

    def _parts(self, pack: Pack, examples: Sequence[Example]) -> list[Pack]:
        """The pack itself, or what it is cut into where little is in common, whichever is cheapest to read."""
        return min(([pack], *splits(pack, examples)), key=lambda parts: sum(map(self._cost, parts)))

    def _cost(self, pack: Pack) -> int:
        grown = prefix_batch(pack) if self.prefix_batches else None
        plain = tree_batch_cost(tree_batch(pack))
        return plain if grown is None else min(plain, grown.cost)

    def outputs(
        self, pack: Pack, examples: Sequence[Example], value_head: torch.nn.Module | None = None
    ) -> TokenOutputs:
        """What the model says about every taught token of a pack, example after example; equal questions asked once."""
        states = self.hidden(pack)
        questions: dict[tuple[Any, ...], int] = {}
        places = list[int]()
        for path, number in zip(pack.paths, pack.examples, strict=True):
            some = _asked(examples[number], pack, path)
            places += [questions.setdefault(question, len(questions)) for question in some]
        nodes_, tokens, temperatures, allowed, targets, sets = zip(*questions, strict=True)
        aims = [None if target is None else dict(target) for target in targets]
        wanted = TokenQueries(tokens, temperatures, allowed, aims, sets)
        asked = states[list(nodes_)]
        found = token_outputs(head_of(self.lm, self.scale), asked, wanted, self.chunk)
        if value_head is not None:
            found = found._replace(values=value_head(asked.float())[:, 0])
        index = torch.tensor(places, device=states.device)
        return TokenOutputs(*(column[index] for column in found))

    def hidden(self, pack: Pack) -> torch.Tensor:
        """The last hidden states of a pack's tokens, [L, H]."""
        decoder = decoder_of(self.lm)
        keeps_less = (
            checkpointed_activations(decoder)
            if self.gradient_checkpointing and torch.is_grad_enabled()
            else contextlib.nullcontext()
        )
        with keeps_less:
            if not self.share_prefixes or self.attention is None:
                return _one_by_one(decoder, pack, self.lm.model.device)
            rows, grown = tree_batch(pack), prefix_batch(pack) if self.prefix_batches else None
            if grown is not None and grown.cost < tree_batch_cost(rows):
                return read_prefix_batch(decoder, self.attention, grown, self.lm.model)
            return _as_tree(decoder, self.attention, pack, rows, self.lm.model)


def _asked(example: Example, pack: Pack, path: Path) -> list[tuple[Any, ...]]:
    """Where in the row, which token, at which temperature, from which set, towards which target, entropy over which."""
    nothing, warmth = (None,) * len(example.loss_positions), example.temperature
    columns = (example.allowed or nothing, example.targets or nothing, example.entropy_over or nothing)
    return [
        (pack.node(path, at - 1), example.tokens[at], warmth, some, aim and tuple(sorted(aim.items())), few)
        for at, some, aim, few in zip(example.loss_positions, *columns, strict=True)
    ]


def _as_tree(decoder: Any, attention: Attention, pack: Pack, rows: TreeBatch, model: Any) -> torch.Tensor:
    """The trees of a pack in rows; rows that hold one text each are read as the model reads any text."""
    device, options = model.device, {}
    if not rows.plain:
        depths, seen = rows.depths.to(device), rows.seen.to(device)
        options = {"position_ids": depths, "attention_mask": attention.tree_mask(seen, depths, model.dtype)}
    output = decoder(input_ids=rows.tokens(pack).to(device), use_cache=False, **options)
    states: torch.Tensor = output.last_hidden_state.flatten(0, 1)
    return states[rows.places.to(device)]


def _one_by_one(decoder: Any, pack: Pack, device: torch.device) -> torch.Tensor:
    """The branches of an unshared pack as rows, padded on the right."""
    rows = [pack.tokens[branch.start : branch.end] for branch in pack.branches]
    width = max(map(len, rows))
    ids = torch.tensor([(*row, *(0,) * (width - len(row))) for row in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
    states = decoder(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
    return torch.cat([states[number, : len(row)] for number, row in enumerate(rows)])


Probed = tuple[Pack, torch.Tensor]
Reads = Callable[[Any, Attention, Sequence[Example], LanguageModel], Probed]
_ALIKE = 3
"""So many of the texts that are probed begin alike."""


def _probed_tree(decoder: Any, attention: Attention, examples: Sequence[Example], lm: LanguageModel) -> Probed:
    """Trees side by side in rows."""
    pack = pack_examples(examples, 1000)[0]
    return pack, _as_tree(decoder, attention, pack, tree_batch(pack), lm.model)


def _probed_bush(decoder: Any, attention: Attention, examples: Sequence[Example], lm: LanguageModel) -> Probed:
    """A trunk and its rows."""
    pack = pack_examples(examples[:_ALIKE], 1000)[0]
    grown = prefix_batch(pack)
    assert grown is not None
    return pack, read_prefix_batch(decoder, attention, grown, lm.model)


def _agrees(lm: LanguageModel, attention: Attention | None, reads: Reads) -> bool:
    """Whether some small texts are read so as they are one by one."""
    if attention is None:
        return False
    size = lm.model.get_input_embeddings().num_embeddings
    tokens = tuple((5 * place * place + 2 * place + 1) % size for place in range(110))
    texts = [(*tokens[:50], *tokens[start : start + length]) for start, length in ((50, 40), (60, 7), (52, 30))]
    examples = [Example(tokens=text, loss_positions=(len(text) - 1,)) for text in (*texts, tokens[1:30], tokens[2:20])]
    with torch.no_grad():
        decoder = decoder_of(lm)
        try:
            pack, found = reads(decoder, attention, examples, lm)
        except (RuntimeError, TypeError, ValueError, KeyError, AttributeError, IndexError):
            return False
        apart = pack_examples([examples[number] for number in pack.examples], 1000, share=False)[0]
        plain = _one_by_one(decoder, apart, lm.model.device).float()
    limit, shared = TOLERANCE.get(lm.dtype, 0.1) * plain.std().item(), found.float()
    nodes = dict(zip(pack.examples, pack.nodes, strict=True))
    return all(
        (shared[list(nodes[pack.examples[number]])] - plain[list(other)]).abs().max().item() <= limit
        for number, other in zip(apart.examples, apart.nodes, strict=True)
    )
