"""What the model says about taught tokens, a few at a time, so that the whole vocabulary is never held for all of them.

The log-probability of a token is that of the distribution it was drawn from: tempered, and renormalised over its
allowed set where one applied. Backward, each chunk's logits are computed again. With 262,144 entries and 512 tokens the
full computation holds gigabytes; chunks of 32 tokens hold a sixteenth (SEPO's memory-efficient log-softmax).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.utils.checkpoint import checkpoint

from stratagem.decoding.vocabulary import Ids
from stratagem.learning.example import Target

Head = Callable[[torch.Tensor], torch.Tensor]
"""From hidden states [n, H] to logits [n, V]."""
CHUNK = 32


@dataclass(frozen=True)
class Wanted:
    """Taught tokens: what to say about each of them."""

    tokens: Sequence[int]
    temperatures: Sequence[float]
    allowed: Sequence[Ids | None]
    targets: Sequence[Target | None]


class Said(NamedTuple):
    """What was said about taught tokens, [N] each."""

    logprobs: torch.Tensor
    entropies: torch.Tensor
    expected: torch.Tensor
    """The expectation of the log-probability under the token's target; 0 where it has none."""
    values: torch.Tensor
    """What a value head expects before the token; 0 where there is none."""

    def cut(self, sizes: Sequence[int]) -> list[Said]:
        """The same in pieces of these sizes."""
        pieces = zip(*(torch.split(column, list(sizes)) for column in self), strict=True)
        return [Said(*piece) for piece in pieces]


def joined(pieces: Sequence[Said]) -> Said:
    """Pieces one after the other."""
    return Said(*(torch.cat(column) for column in zip(*pieces, strict=True)))


def said(head: Head, hidden: torch.Tensor, wanted: Wanted, chunk: int = CHUNK) -> Said:
    """What the model says at these hidden states [N, H] about the tokens that follow them."""
    pieces = []
    for start in range(0, len(wanted.tokens), chunk):
        some = slice(start, start + chunk)
        few = Wanted(wanted.tokens[some], wanted.temperatures[some], wanted.allowed[some], wanted.targets[some])
        run = _chunk(head, few, hidden.device)
        part = hidden[some]
        pieces.append(checkpoint(run, part, use_reentrant=False) if torch.is_grad_enabled() else run(part))
    return joined(pieces)


def _chunk(head: Head, wanted: Wanted, device: torch.device) -> Callable[[torch.Tensor], Said]:
    tokens = torch.tensor(wanted.tokens, device=device)
    temperatures = torch.tensor(wanted.temperatures, device=device)

    def run(hidden: torch.Tensor) -> Said:
        logits = head(hidden).float() / temperatures[:, None]
        barred = _barred(wanted.allowed, logits.shape[-1], device)
        if barred is not None:
            logits = logits.masked_fill(barred, float("-inf"))
        every = torch.log_softmax(logits, -1)
        # what is barred has probability nothing and adds nothing, though its logarithm is infinite
        finite = every if barred is None else every.masked_fill(barred, 0.0)
        logprobs = every.gather(-1, tokens[:, None])[:, 0]
        entropies = -(finite * every.exp()).sum(-1)
        return Said(logprobs, entropies, _expected(every, wanted.targets), torch.zeros_like(logprobs))

    return run


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
