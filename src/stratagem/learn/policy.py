"""Policy: a language model that computes log-probabilities, entropies and values of packed examples.

A probe tests once that the model reads a packed tree exactly as it reads its texts one by one. A model that does not,
or whose layers take no custom mask (linear attention), reads each example by itself, padded on the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import torch

from stratagem.language.models.adapters import active_weights
from stratagem.language.models.agreement import Agreement, agreement, deviation
from stratagem.language.models.attention import Attention, attention_of
from stratagem.language.models.decoder_structure import OtherStructure
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.onednn_linear import use_onednn
from stratagem.learn.branch_attention import BranchMask
from stratagem.learn.decoder_pass import DecoderPass, FusedPass, ModulePass, TokenRows
from stratagem.learn.example import Example
from stratagem.learn.frozen_states import FrozenStates
from stratagem.learn.head import head_of, logit_scale_of
from stratagem.learn.logprobs import TokenOutputs, TokenQueries, chunk_size, token_outputs
from stratagem.learn.packing import Pack, Path, pack_examples
from stratagem.learn.pass_sizes import (
    MICROBATCH,
    AttentionKind,
    cheaper_prefixes,
    is_wide,
    may_be_wide,
    planned_packs,
    sparse_kinds,
)
from stratagem.learn.prefix_batch import pad_rows, prefix_batch, read_prefix_batch
from stratagem.learn.tree_batch import TreeBatch, tree_batch

if TYPE_CHECKING:
    from stratagem.learn.flex_mask import FlexMask

TRAINING = "training"
"""Name of the component in `LanguageModel.reading`."""


class Policy:
    """Language model under the active adapter."""

    is_sharded = False
    """True if the weights that are trained are those of shards on several ranks, of which `lm` is a whole copy."""

    def __init__(
        self,
        lm: LanguageModel,
        *,
        max_tokens_per_microbatch: int = 0,
        chunk: int | None = None,
        logits_chunk_mib: int = 0,
        share: bool | None = None,
        gradient_checkpointing: bool = False,
        fp32_head: bool = False,
        attention: AttentionKind | None = None,
    ) -> None:
        """A pass reads at most `max_tokens_per_microbatch` (0: 4,096); the head, `chunk` of them or some MiB of logits.

        With neither the head reads what the device allows. `share` None shares prefixes where a probe shows that this
        is exact. `gradient_checkpointing` recomputes the activations inside layers in the backward pass: less memory,
        about a third more time. `fp32_head` computes the logits of a model in a short format in fp32. `attention` None
        is dense for small packs, and by a sparse mask for wide ones, where a probe shows that this is exact.
        """
        self.lm = lm
        self.max_tokens_per_microbatch = max_tokens_per_microbatch or MICROBATCH
        vocabulary = int(lm.model.get_output_embeddings().weight.shape[0])
        self.chunk = chunk or (chunk_size(vocabulary, logits_chunk_mib) if logits_chunk_mib else None)
        self.gradient_checkpointing = gradient_checkpointing
        self.fp32_head = fp32_head
        use_onednn(lm.model)
        self.scale = logit_scale_of(lm)
        self.attention = attention_of(lm.model.config)
        self.decoder_pass = _decoder_pass(lm, self.attention, checkpointing=gradient_checkpointing)
        probe = PackProbe(lm, self.attention)
        tree: Agreement | str = "chosen by the caller"
        if share is None:
            tree = probe.compare(_as_tree, self.decoder_pass)
            if not _agrees(tree) and isinstance(self.decoder_pass, FusedPass):
                self.decoder_pass = ModulePass(lm, self.attention, checkpointing=gradient_checkpointing)
                tree = probe.compare(_as_tree, self.decoder_pass)
        self.share_prefixes = _agrees(tree) if share is None else share
        self.frozen_states = FrozenStates()
        """States of packs that weights without training have read."""
        self._packed: tuple[list[Any], list[Pack]] | None = None
        self.prefix_batches = (
            self.share_prefixes
            and not gradient_checkpointing
            and _agrees(probe.compare(_as_prefix_batch, self.decoder_pass))
        )
        self.attends_by = attention
        """Kind of attention over all packs; None where wide ones have a kind of their own."""
        self.wide: AttentionKind = attention or "dense"
        """Kind of attention over wide packs."""
        sentence = ""
        if attention is None and self.share_prefixes:
            self.wide, sentence = self._choose_wide(probe)
        how = "with shared prefixes" if self.share_prefixes else "each text by itself"
        lm.reading[TRAINING] = f"{how}: {tree}{sentence}"

    def _choose_wide(self, probe: PackProbe) -> tuple[AttentionKind, str]:
        """Return the first kind of sparse attention that agrees with the model; a sentence where it may be used."""
        device = self.lm.model.device.type
        expected = may_be_wide(self.max_tokens_per_microbatch, device)
        kinds = sparse_kinds(device) if expected else sparse_kinds(device)[-1:]  # FlexAttention takes long to compile
        found, wide = list[str](), _DENSE
        for kind in kinds:
            result = probe.compare(_READS[kind], self.decoder_pass)
            found.append(f"by {_NAMES[kind]}: {result}")
            if _agrees(result):
                wide = kind
                break
        return wide, f"; wide packs {'; '.join(found)}" if expected else ""

    def packs(self, examples: Sequence[Example]) -> list[Pack]:
        """Pack examples as is cheapest to read; the packs of the last batch are known, also if its columns changed."""
        batch = [(example.tokens, example.loss_positions[-1], example.pair) for example in examples]
        if self._packed is None or self._packed[0] != batch:
            self._packed = batch, self._pack(examples)
        return list(self._packed[1])

    def _pack(self, examples: Sequence[Example]) -> list[Pack]:
        budget, share = self.max_tokens_per_microbatch, self.share_prefixes
        return planned_packs(examples, budget, share=share, prefix_batches=self.prefix_batches)

    def outputs(
        self,
        pack: Pack,
        examples: Sequence[Example],
        value_head: torch.nn.Module | None = None,
        *,
        is_frozen: bool = False,
    ) -> TokenOutputs:
        """Compute the outputs of every loss token of a pack, example after example; equal queries are computed once.

        With `is_frozen` no gradient is asked for, and the states of a pack that was read before are those from then,
        unless the weights have changed in between.
        """
        queries: dict[tuple[Any, ...], int] = {}
        of_example: dict[tuple[Any, ...], list[int]] = {}
        indices = list[int]()
        for path, number in zip(pack.paths, pack.examples, strict=True):
            example = examples[number]
            kind = _kind(example, path[-1])
            if kind not in of_example:
                of_example[kind] = [queries.setdefault(query, len(queries)) for query in _queries(example, pack, path)]
            indices += of_example[kind]
        nodes_, tokens, temperatures, allowed, targets, sets = zip(*queries, strict=True)
        target_list = [None if target is None else dict(target) for target in targets]
        unique = TokenQueries(tokens, temperatures, allowed, target_list, sets)
        read = sorted(set(nodes_))
        if is_frozen:
            weights = active_weights(self.lm)
            states = self.frozen_states.find(pack, read, weights, partial(self.hidden_states, pack, read))
        else:
            states = self.hidden_states(pack, read)
        row = {node: number for number, node in enumerate(read)}
        hidden = states[[row[node] for node in nodes_]]
        outputs = token_outputs(head_of(self.lm, self.scale, fp32=self.fp32_head), hidden, unique, self.chunk)
        if value_head is not None:
            outputs = outputs._replace(values=value_head(hidden.float())[:, 0])
        return outputs.at(torch.tensor(indices, device=hidden.device))

    def outputs_of(
        self,
        packs: Sequence[Pack],
        examples: Sequence[Example],
        value_head: torch.nn.Module | None = None,
        *,
        is_frozen: bool = False,
    ) -> list[TokenOutputs]:
        """Compute the outputs of several packs of a batch."""
        return [self.outputs(pack, examples, value_head, is_frozen=is_frozen) for pack in packs]

    def gather_weights(self) -> None:
        """Bring the weights of `lm` up to date, where shards of them are trained."""

    def hidden_states(self, pack: Pack, nodes: Iterable[int] | None = None) -> torch.Tensor:
        """Compute the last hidden states of a pack's tokens, or of some of them, [N, H]."""
        own = torch.arange(len(pack.tokens)) if nodes is None else torch.tensor(list(nodes))
        if not self.share_prefixes or self.attention is None:
            return _one_by_one(self.decoder_pass, self.attention, pack, own, self.lm.model)
        kind = self.attends_by or (self.wide if self._is_wide(pack) else _DENSE)
        if kind != _DENSE:
            return _READS[kind](self.decoder_pass, self.attention, pack, own, self.lm.model)
        if self.prefix_batches and (shared := cheaper_prefixes(pack)):
            return read_prefix_batch(self.decoder_pass, self.attention, shared, own, self.lm.model)
        return _as_tree(self.decoder_pass, self.attention, pack, own, self.lm.model)

    def _is_wide(self, pack: Pack) -> bool:
        return is_wide(pack, self.lm.model.device.type, prefix_batches=self.prefix_batches)


def _decoder_pass(lm: LanguageModel, attention: Attention | None, *, checkpointing: bool) -> DecoderPass:
    """Return the faster pass over a model's decoder, where its structure allows it."""
    if attention is not None:
        try:
            return FusedPass(lm, attention, checkpointing=checkpointing)
        except OtherStructure:
            pass
    return ModulePass(lm, attention, checkpointing=checkpointing)


def _kind(example: Example, leaf: tuple[int, int]) -> tuple[Any, ...]:
    """Return the key of an example's queries, which depend on nothing else; its text ends at a leaf of the pack."""
    targets = tuple(tuple(sorted(target.items())) for target in example.targets)
    positions, sets = example.loss_positions, (example.allowed, example.entropy_over)
    return leaf, example.tokens[positions[-1]], positions, example.temperature, sets, targets


def _queries(example: Example, pack: Pack, path: Path) -> list[tuple[Any, ...]]:
    """Return the query of each loss token: node, token, temperature, allowed set, target, and set of the entropy."""
    nothing, temperature = (None,) * len(example.loss_positions), example.temperature
    columns = (example.allowed or nothing, example.targets or nothing, example.entropy_over or nothing)
    return [
        (pack.node(path, at - 1), example.tokens[at], temperature, some, aim and tuple(sorted(aim.items())), few)
        for at, some, aim, few in zip(example.loss_positions, *columns, strict=True)
    ]


def _as_tree(decoder: DecoderPass, attention: Attention, pack: Pack, nodes: torch.Tensor, model: Any) -> torch.Tensor:
    """Read the trees of a pack in rows; rows of one text each need no mask."""
    batch, device = tree_batch(pack), model.device
    rows = TokenRows(batch.tokens(pack).to(device))
    if not batch.plain:
        depths, mask = batch.depths.to(device), batch.mask.to(device)
        rows = TokenRows(rows.ids, depths, attention.tree_mask(mask, depths, model.dtype))
    return decoder(rows, batch.indices[nodes].to(device))


def _by_branches(
    decoder: DecoderPass, attention: Attention, pack: Pack, nodes: torch.Tensor, model: Any
) -> torch.Tensor:
    """Read the trees of a pack in rows, branch by branch."""
    batch = tree_batch(pack)
    return _by_mask(decoder, BranchMask(batch, model.device), batch, pack, nodes)


def _by_flex(decoder: DecoderPass, attention: Attention, pack: Pack, nodes: torch.Tensor, model: Any) -> torch.Tensor:
    """Read the trees of a pack in rows by FlexAttention."""
    from stratagem.learn.flex_mask import FlexMask  # imports a compiler

    batch = tree_batch(pack)
    return _by_mask(decoder, FlexMask.of(batch, model.device), batch, pack, nodes)


def _by_mask(
    decoder: DecoderPass, mask: BranchMask | FlexMask, batch: TreeBatch, pack: Pack, nodes: torch.Tensor
) -> torch.Tensor:
    device = mask.device
    rows = TokenRows(batch.tokens(pack).to(device), batch.depths.to(device), sparse=mask)
    return decoder(rows, batch.indices[nodes].to(device))


def _one_by_one(
    decoder: DecoderPass, attention: Attention | None, pack: Pack, nodes: torch.Tensor, model: Any
) -> torch.Tensor:
    """Read the branches of a pack without shared prefixes as rows, padded on the right, which no token attends to."""
    rows = [pack.tokens[branch.start : branch.end] for branch in pack.branches]
    width = max(map(len, rows))
    cells = torch.cat([torch.arange(len(row)) + number * width for number, row in enumerate(rows)])
    return decoder(TokenRows(pad_rows(rows).to(model.device)), cells[nodes].to(model.device))


def _as_prefix_batch(
    decoder: DecoderPass, attention: Attention, pack: Pack, nodes: torch.Tensor, model: Any
) -> torch.Tensor:
    """Read the trees of a pack as a shared-prefix batch."""
    shared = prefix_batch(pack)
    assert shared is not None
    return read_prefix_batch(decoder, attention, shared, nodes, model)


Reads = Callable[[DecoderPass, Attention, Pack, torch.Tensor, Any], torch.Tensor]
_READS: dict[AttentionKind, Reads] = {"dense": _as_tree, "branches": _by_branches, "flex": _by_flex}
_NAMES: dict[AttentionKind, str] = {"dense": "a dense mask", "branches": "branch", "flex": "FlexAttention"}
_DENSE: AttentionKind = "dense"


class PackProbe:
    """Some small texts in several trees, with which ways to read a pack are compared with the model's own."""

    def __init__(self, lm: LanguageModel, attention: Attention | None) -> None:
        self.lm, self.attention = lm, attention
        size = lm.model.get_input_embeddings().num_embeddings
        tokens = tuple((5 * index * index + 2 * index + 1) % size for index in range(110))
        texts = [(*tokens[:50], *tokens[start : start + length]) for start, length in ((50, 40), (60, 7), (52, 30))]
        others = (tokens[1:30], tokens[2:20], (*tokens[2:15], *tokens[40:49]))
        self.examples = [Example(tokens=text, loss_positions=(len(text) - 1,)) for text in (*texts, *others)]
        self.pack = pack_examples(self.examples, 1000)[0]

    @torch.no_grad()
    def compare(self, reads: Reads, decoder: DecoderPass) -> Agreement | str:
        """Compare the hidden states with the model's own; a sentence where they cannot be had."""
        if self.attention is None:
            return "the architecture takes no mask of tokens"
        try:
            nodes = torch.arange(len(self.pack.tokens))
            states = reads(decoder, self.attention, self.pack, nodes, self.lm.model)
        except (RuntimeError, TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            return f"{type(error).__name__}: {error}"
        alone, noise = self._own
        return agreement(self.lm, [states[list(nodes)] for nodes in self.pack.nodes], alone, noise=noise)

    @cached_property
    def _own(self) -> tuple[list[torch.Tensor], float]:
        """The model's own states of each text alone, and how they deviate from those in one batch."""
        read = [self.examples[number] for number in self.pack.examples]
        alone = [_own_states(self.lm, [example])[0] for example in read]
        return alone, deviation(_own_states(self.lm, read), alone)


def _own_states(lm: LanguageModel, examples: Sequence[Example]) -> list[torch.Tensor]:
    """Return the hidden states of each text by transformers' own pass, padded on the right."""
    pack = pack_examples(examples, len(examples) * 1000, share=False)[0]
    states = _one_by_one(ModulePass(lm), None, pack, torch.arange(len(pack.tokens)), lm.model)
    nodes = dict(zip(pack.examples, pack.nodes, strict=True))
    return [states[list(nodes[number])] for number in range(len(examples))]


def _agrees(result: Agreement | str) -> bool:
    return isinstance(result, Agreement) and result.agrees
