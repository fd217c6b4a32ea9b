"""What the model says about taught tokens, a few at a time, so that the whole vocabulary is never held for all of them.

The log-probability of a token is that of the distribution it was drawn from: tempered, and renormalised over its
allowed set where one applied. A token's log-probability depends on its own hidden state alone, so its gradient is
worked out while the logits are there, and only multiplied on the way back. Where the head itself is trained, and for
entropies and expectations that a loss goes back through, each chunk's logits are computed again instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from stratagem.decoding.vocabulary import Ids
from stratagem.learning.example import Target

ENTRIES = 32 * 262_144
"""So many logits are held at once: 32 tokens of the largest vocabularies, more of smaller ones.

They are 32 MiB, from where on the allocator of Linux gives memory back at once; lesser pieces would pile up.
"""


@dataclass(frozen=True)
class Head:
    """The last layer."""

    logits: Callable[[torch.Tensor], torch.Tensor]
    """From hidden states [n, H] to logits [n, V]."""
    size: int
    """How many entries the vocabulary has."""
    trained: bool
    """Whether its own weights take gradients."""


@dataclass(frozen=True)
class TokenQueries:
    """Taught tokens: what to say about each of them."""

    tokens: Sequence[int]
    temperatures: Sequence[float]
    allowed: Sequence[Ids | None]
    targets: Sequence[Target | None]
    entropy_over: Sequence[Ids | None] = ()
    """The set over which entropy is measured; None where it is the whole distribution. Empty: it always is."""

    def part(self, some: slice) -> TokenQueries:
        """Some of them."""
        return TokenQueries(*(getattr(self, each.name)[some] for each in fields(self)))


class TokenOutputs(NamedTuple):
    """What was said about taught tokens, [N] each."""

    logprobs: torch.Tensor
    entropies: torch.Tensor
    target_logprobs: torch.Tensor
    """The expectation of the log-probability under the token's target; 0 where it has none."""
    values: torch.Tensor
    """What a value head expects before the token; 0 where there is none."""

    def cut(self, sizes: Sequence[int]) -> list[TokenOutputs]:
        """The same in pieces of these sizes."""
        pieces = zip(*(torch.split(column, list(sizes)) for column in self), strict=True)
        return [TokenOutputs(*piece) for piece in pieces]


_Run = Callable[[torch.Tensor], TokenOutputs]
"""From the hidden states of a chunk to what is said about it."""


def joined(pieces: Sequence[TokenOutputs]) -> TokenOutputs:
    """Pieces one after the other."""
    return TokenOutputs(*(torch.cat(column) for column in zip(*pieces, strict=True)))


def token_outputs(head: Head, hidden: torch.Tensor, wanted: TokenQueries, chunk: int | None = None) -> TokenOutputs:
    """What the model says at these hidden states [N, H] about the tokens that follow them, `chunk` at a time."""
    chunk = chunk or -(-ENTRIES // head.size)
    pieces = []
    for start in range(0, len(wanted.tokens), chunk):
        some = slice(start, start + chunk)
        run = _chunk(head, wanted.part(some), hidden.device)
        pieces.append(_asked(run, hidden[some], trained=head.trained))
    return joined(pieces)


def _asked(run: _Run, hidden: torch.Tensor, *, trained: bool) -> TokenOutputs:
    """Ask about a chunk, with as little kept for the way back as can be."""
    if not torch.is_grad_enabled() or not (trained or hidden.requires_grad):
        return run(hidden)
    if trained:
        return TokenOutputs(*checkpoint(run, hidden, use_reentrant=False))
    logprobs, entropies, expected = _Ahead.apply(hidden, run)  # type: ignore[no-untyped-call]
    return TokenOutputs(logprobs, entropies, expected, torch.zeros_like(logprobs))


class _Ahead(torch.autograd.Function):
    """A chunk whose log-probabilities bring their gradient along."""

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, run: _Run) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        ctx.set_materialize_grads(False)
        leaf = hidden.detach().requires_grad_()
        with torch.enable_grad():
            found = run(leaf)
            (slope,) = torch.autograd.grad(found.logprobs.sum(), leaf)
        ctx.run = run
        ctx.save_for_backward(hidden, slope)
        return found.logprobs.detach(), found.entropies.detach(), found.target_logprobs.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *given: torch.Tensor | None) -> tuple[torch.Tensor | None, None]:
        hidden, slope = ctx.saved_tensors
        found = None if given[0] is None else slope * given[0][:, None].to(slope)
        if any(some is not None for some in given[1:]):
            more = _again(ctx.run, hidden, given[1:])
            found = more if found is None else found + more
        return found, None


def _again(run: _Run, hidden: torch.Tensor, given: Sequence[torch.Tensor | None]) -> torch.Tensor:
    """The gradient through entropies and expectations, for which the chunk is asked about again."""
    leaf = hidden.detach().requires_grad_()
    with torch.enable_grad():
        found = run(leaf)
        columns = zip((found.entropies, found.target_logprobs), given, strict=True)
        # in a chunk without any target the expectations are constants
        pairs = [(column, some) for column, some in columns if some is not None and column.requires_grad]
        if not pairs:
            return torch.zeros_like(hidden)
        (slope,) = torch.autograd.grad([column for column, _ in pairs], leaf, [some for _, some in pairs])
    return slope


def _chunk(head: Head, wanted: TokenQueries, device: torch.device) -> _Run:
    tokens = torch.tensor(wanted.tokens, device=device)
    temperatures = torch.tensor(wanted.temperatures, device=device)
    tempered = any(temperature != 1.0 for temperature in wanted.temperatures)

    def run(hidden: torch.Tensor) -> TokenOutputs:
        logits = head.logits(hidden).float()
        if tempered:
            logits = logits / temperatures[:, None]
        barred = _barred(wanted.allowed, logits.shape[-1], device)
        if barred is not None:
            logits = logits.masked_fill(barred, float("-inf"))
        every = torch.log_softmax(logits, -1)
        logprobs = every.gather(-1, tokens[:, None])[:, 0]
        entropies = _within(every, wanted.entropy_over, _entropies(every, barred))
        return TokenOutputs(logprobs, entropies, _expected(every, wanted.targets), torch.zeros_like(logprobs))

    return run


def _entropies(every: torch.Tensor, barred: torch.Tensor | None) -> torch.Tensor:
    """What is barred has probability nothing and adds nothing, though its logarithm is infinite."""
    finite = every if barred is None else every.masked_fill(barred, 0.0)
    charged: torch.Tensor = torch.linalg.vecdot(every.exp(), finite)
    return -charged


def _within(every: torch.Tensor, sets: Sequence[Ids | None], whole: torch.Tensor) -> torch.Tensor:
    """The entropy over a row's set, renormalised, where it has one; else that of the whole distribution."""
    rows = [row for row, some in enumerate(sets) if some is not None]
    if not rows:
        return whole
    tokens = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(sets[row], device=every.device) for row in rows], batch_first=True, padding_value=-1
    )
    at = torch.tensor(rows, device=every.device)
    few = every[at[:, None], tokens.clamp_min(0)].masked_fill(tokens < 0, float("-inf"))
    return whole.index_copy(0, at, _entropies(torch.log_softmax(few, -1), few.isneginf()))


def _barred(allowed: Sequence[Ids | None], size: int, device: torch.device) -> torch.Tensor | None:
    """Where tokens were not allowed; None where no set applied to any row."""
    if all(some is None for some in allowed):
        return None
    barred = torch.zeros(len(allowed), size, dtype=torch.bool, device=device)
    for row, some in enumerate(allowed):
        if some is not None:
            barred[row] = True
            barred[row, list(some)] = False
    return barred


def _expected(every: torch.Tensor, targets: Sequence[Target | None]) -> torch.Tensor:
    """The expectation of the log-probability under each row's target; 0 where it has none."""
    places = [(row, token, share) for row, target in enumerate(targets) for token, share in (target or {}).items()]
    found = every.new_zeros(len(targets))
    if not places:
        return found
    rows, tokens, shares = zip(*places, strict=True)
    at = torch.tensor(rows, device=every.device)
    logprobs = every[at, torch.tensor(tokens, device=every.device)]
    return found.index_add(0, at, logprobs * torch.tensor(shares, device=every.device))
