"""Log-probabilities and entropies of loss tokens, in chunks: the logits of all tokens never exist at once.

The log-probability of a token is that of the distribution it was drawn from: tempered, and renormalised over its
allowed or kept set where one applied. A token's log-probability depends on its own hidden state alone, so its
gradient is computed in the forward pass, and only multiplied in the backward pass. Where the head itself is trained,
and for entropies and expectations that a loss differentiates, each chunk's logits are recomputed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.kept_set import Array, KeptSet, TokenSet, token_array
from stratagem.learn.example import Target

ON_PROCESSOR = 32
"""MiB of the logits in a chunk: those of 32 tokens of the largest vocabularies, of more of smaller ones.

From 32 MiB on the allocator of Linux returns memory at once; smaller pieces would pile up.
"""
ON_GPU = 512
"""The same on a GPU, which needs more work at once."""
_ENTRIES = 2**18
"""Logits of a MiB, in fp32."""


@dataclass(frozen=True)
class Head:
    """Language-model head."""

    logits: Callable[[torch.Tensor], torch.Tensor]
    """Function from hidden states [n, H] to logits [n, V]."""
    size: int
    """Vocabulary size."""
    trained: bool
    """True where the weights of the head are trained."""


@dataclass(frozen=True)
class TokenQueries:
    """Loss tokens, and the distribution that each was drawn from."""

    tokens: Sequence[int]
    temperatures: Sequence[float]
    allowed: Sequence[TokenSet | None]
    targets: Sequence[Target | None]
    entropy_over: Sequence[Ids | None] = ()
    """Set over which entropy is measured, whatever was allowed; None, or an empty sequence, is the distribution."""

    def part(self, some: slice) -> TokenQueries:
        """Select a slice of the tokens."""
        return TokenQueries(*(getattr(self, each.name)[some] for each in fields(self)))


class TokenOutputs(NamedTuple):
    """Outputs of the model for loss tokens, [N] each."""

    logprobs: torch.Tensor
    entropies: torch.Tensor
    target_logprobs: torch.Tensor
    """Expected log-probability under the token's target distribution; 0 without a target."""
    values: torch.Tensor
    """Estimate of the value head before the token; 0 without a value head."""

    def at(self, indices: torch.Tensor) -> TokenOutputs:
        """Select the outputs of some tokens."""
        return TokenOutputs(*(column[indices] for column in self))


_Run = Callable[[torch.Tensor], TokenOutputs]
"""Function from the hidden states of a chunk to its outputs."""


def join_pieces(pieces: Sequence[TokenOutputs]) -> TokenOutputs:
    """Concatenate pieces."""
    return TokenOutputs(*(torch.cat(column) for column in zip(*pieces, strict=True)))


def token_outputs(head: Head, hidden: torch.Tensor, queries: TokenQueries, chunk: int | None = None) -> TokenOutputs:
    """Compute the outputs at hidden states [N, H] for the tokens that follow them, `chunk` at a time."""
    chunk = chunk or chunk_size(head.size, ON_GPU if hidden.is_cuda else ON_PROCESSOR)
    pieces = []
    for start in range(0, len(queries.tokens), chunk):
        some = slice(start, start + chunk)
        run = _chunk(head, queries.part(some), hidden.device)
        pieces.append(_compute_chunk(run, hidden[some], trained=head.trained))
    return join_pieces(pieces)


def chunk_size(vocabulary: int, mib: int) -> int:
    """Return the number of tokens whose logits are computed at once, in chunks of so many MiB."""
    return -(-mib * _ENTRIES // vocabulary)


def _compute_chunk(run: _Run, hidden: torch.Tensor, *, trained: bool) -> TokenOutputs:
    """Compute a chunk, and save as little as possible for the backward pass."""
    if not torch.is_grad_enabled() or not (trained or hidden.requires_grad):
        return run(hidden)
    if trained:
        return TokenOutputs(*checkpoint(run, hidden, use_reentrant=False))
    logprobs, entropies, expected = _Ahead.apply(hidden, run)  # type: ignore[no-untyped-call]
    return TokenOutputs(logprobs, entropies, expected, torch.zeros_like(logprobs))


class _Ahead(torch.autograd.Function):
    """Chunk whose gradient of the log-probabilities is computed in the forward pass."""

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, run: _Run) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        ctx.set_materialize_grads(False)
        leaf = hidden.detach().requires_grad_()
        with torch.enable_grad():
            outputs = run(leaf)
            (gradient,) = torch.autograd.grad(outputs.logprobs.sum(), leaf)
        ctx.run = run
        ctx.save_for_backward(hidden, gradient)
        return outputs.logprobs.detach(), outputs.entropies.detach(), outputs.target_logprobs.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *given: torch.Tensor | None) -> tuple[torch.Tensor | None, None]:
        hidden, gradient = ctx.saved_tensors
        outputs = None if given[0] is None else gradient * given[0][:, None].to(gradient)
        if any(some is not None for some in given[1:]):
            more = _recomputed_gradient(ctx.run, hidden, given[1:])
            outputs = more if outputs is None else outputs + more
        return outputs, None


def _recomputed_gradient(run: _Run, hidden: torch.Tensor, given: Sequence[torch.Tensor | None]) -> torch.Tensor:
    """Compute the gradient through entropies and expectations, by recomputing the chunk."""
    leaf = hidden.detach().requires_grad_()
    with torch.enable_grad():
        outputs = run(leaf)
        columns = zip((outputs.entropies, outputs.target_logprobs), given, strict=True)
        # in a chunk without any target the expectations are constants
        pairs = [(column, some) for column, some in columns if some is not None and column.requires_grad]
        if not pairs:
            return torch.zeros_like(hidden)
        (gradient,) = torch.autograd.grad([column for column, _ in pairs], leaf, [some for _, some in pairs])
    return gradient


def _chunk(head: Head, queries: TokenQueries, device: torch.device) -> _Run:
    tokens = torch.tensor(queries.tokens, device=device)
    temperatures = torch.tensor(queries.temperatures, device=device)
    tempered = any(temperature != 1.0 for temperature in queries.temperatures)

    def run(hidden: torch.Tensor) -> TokenOutputs:
        logits = head.logits(hidden).float()
        if tempered:
            logits = logits / temperatures[:, None]
        narrow = _narrow(logits, queries.entropy_over)
        masked = _forbidden_mask(queries.allowed, logits.shape[-1], device)
        if masked is not None:
            logits = logits.masked_fill(masked, float("-inf"))
        log_softmax = torch.log_softmax(logits, -1)
        logprobs = log_softmax.gather(-1, tokens[:, None])[:, 0]
        entropies = _entropies(log_softmax, masked)
        if narrow is not None:
            entropies = entropies.index_copy(0, *narrow)
        return TokenOutputs(
            logprobs, entropies, _expect_targets(log_softmax, queries.targets), torch.zeros_like(logprobs)
        )

    return run


def _entropies(log_softmax: torch.Tensor, masked: torch.Tensor | None) -> torch.Tensor:
    """Compute entropies; a masked token has probability 0 and adds 0, though its logarithm is infinite."""
    finite = log_softmax if masked is None else log_softmax.masked_fill(masked, 0.0)
    negative: torch.Tensor = torch.linalg.vecdot(log_softmax.exp(), finite)
    return -negative


def _narrow(logits: torch.Tensor, sets: Sequence[Ids | None]) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Compute the entropies of the rows that have a set, over it and renormalised: the rows, and their entropies."""
    rows = [row for row, some in enumerate(sets) if some is not None]
    if not rows:
        return None
    tokens = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(sets[row], device=logits.device) for row in rows], batch_first=True, padding_value=-1
    )
    at = torch.tensor(rows, device=logits.device)
    few = logits[at[:, None], tokens.clamp_min(0)].masked_fill(tokens < 0, float("-inf"))
    return at, _entropies(torch.log_softmax(few, -1), few.isneginf())


def _forbidden_mask(allowed: Sequence[TokenSet | None], size: int, device: torch.device) -> torch.Tensor | None:
    """Return the mask of tokens that were not allowed; None where no row has an allowed set."""
    if all(some is None for some in allowed):
        return None
    masked = torch.zeros(len(allowed), size, dtype=torch.bool, device=device)
    sets: dict[int, Array] = {}
    for row, some in enumerate(allowed):
        if isinstance(some, KeptSet) and some.is_large:  # its ids would take more memory than a row of the mask
            masked[row] = torch.from_numpy(some.lacking).to(device)
        elif some is not None:
            sets[row] = token_array(some)
    if sets:
        index = np.repeat(list(sets), [len(ids) for ids in sets.values()]), np.concatenate(list(sets.values()))
        masked[list(sets)] = True
        masked[tuple(torch.from_numpy(part).to(device) for part in index)] = False
    return masked


def _expect_targets(log_softmax: torch.Tensor, targets: Sequence[Target | None]) -> torch.Tensor:
    """Compute the expected log-probability under each row's target; 0 without a target."""
    entries = [(row, token, share) for row, target in enumerate(targets) for token, share in (target or {}).items()]
    expected = log_softmax.new_zeros(len(targets))
    if not entries:
        return expected
    rows, tokens, shares = zip(*entries, strict=True)
    at = torch.tensor(rows, device=log_softmax.device)
    logprobs = log_softmax[at, torch.tensor(tokens, device=log_softmax.device)]
    return expected.index_add(0, at, logprobs * torch.tensor(shares, device=log_softmax.device))
