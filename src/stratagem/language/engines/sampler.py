"""From logits to tokens: the distribution of a reply, the same for sampling and for scoring.

First the allowed set, then the temperature, then top-k, then top-p, then min-p, each renormalised, and last the sampler
where there is one; what is left is drawn from by Gumbel noise. A log-probability that is stored is always one of this
distribution, and with top-k, top-p or min-p the set that is left comes with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import torch

from stratagem.base.errors import BadParameter
from stratagem.games.key import Key
from stratagem.language.decoding.sampling import Sampling
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.kept_set import KeptSet, TokenSet, compact, pack
from stratagem.language.engines.noise import gumbel, seeds
from stratagem.language.models.decoding_settings import Sampler, read_sampler

_NONE = float("-inf")
_COLDEST = 1e-30
"""Smallest temperature that low precision can hold."""
_SUM_TOLERANCE = 1e-4
"""Logarithm of a sum of probabilities that counts as rounding; 262,144 numbers in fp32 are 1e-6 off."""
_ENTRIES = 1 << 22
"""Number of probabilities whose kept tokens are listed at once."""


def log_distribution(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return the log-probabilities of the sampling distribution, row by row.

    Minus infinity where the probability is zero.
    """
    if sampling.temperature == 0.0:
        best = logits.argmax(-1, keepdim=True)
        return torch.full_like(logits, _NONE).scatter_(-1, best, 0.0)
    logprobs = torch.log_softmax(_apply_temperature(logits, sampling.temperature), -1)
    if 0 < sampling.top_k < logits.shape[-1]:
        logprobs = _likeliest(logprobs, sampling.top_k)
    if sampling.top_p < 1.0:
        logprobs = _nucleus(logprobs, sampling.top_p)
    if sampling.min_p > 0.0:
        logprobs = _above(logprobs, sampling.min_p)
    return _explore(logprobs, sampling.sampler) if sampling.sampler else logprobs


def _apply_temperature(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """Divide the logits by the temperature, after subtracting the largest, since small temperatures would overflow."""
    if temperature == 1.0:
        return logits
    return (logits - logits.amax(-1, keepdim=True)) / max(temperature, _COLDEST)


def _likeliest(logprobs: torch.Tensor, count: int) -> torch.Tensor:
    """Keep the `count` largest, renormalised; of equals those with the smaller ids."""
    order = logprobs.argsort(dim=-1, descending=True, stable=True)
    cut = logprobs.scatter(-1, order[..., count:], _NONE)
    return torch.log_softmax(cut, -1)


def _nucleus(logprobs: torch.Tensor, share: float) -> torch.Tensor:
    """Keep the fewest of the largest that have at least this share together, renormalised."""
    order = logprobs.argsort(dim=-1, descending=True, stable=True)
    sorted_shares = logprobs.gather(-1, order).exp()
    before = sorted_shares.cumsum(-1) - sorted_shares
    cut = logprobs.masked_fill(torch.zeros_like(before, dtype=torch.bool).scatter_(-1, order, before >= share), _NONE)
    return torch.log_softmax(cut, -1)


def _above(logprobs: torch.Tensor, share: float) -> torch.Tensor:
    """Keep the tokens with at least this share of the greatest probability, renormalised."""
    least = logprobs.amax(-1, keepdim=True) + math.log(share)
    return torch.log_softmax(logprobs.masked_fill(logprobs < least, _NONE), -1)


@lru_cache(maxsize=64)
def _sampler_of(text: str) -> Sampler:
    """Return a sampler; a text is read once, and not for every token."""
    return read_sampler(text).value


def _explore(logprobs: torch.Tensor, sampler: str) -> torch.Tensor:
    """Return the distribution of a sampler.

    Refused where a token becomes possible or impossible: the recorded set would not be the support of the draw, and a
    ratio to a probability of 0 would have no value.
    """
    changed = _sampler_of(sampler).behaviour_logprobs(logprobs)
    if not isinstance(changed, torch.Tensor) or changed.shape != logprobs.shape:
        raise BadParameter(f"The sampler {sampler} must return a log-probability for each that it gets.")
    if not torch.equal(changed > _NONE, logprobs > _NONE):
        raise BadParameter(f"The sampler {sampler} must leave the tokens that can come as they are: none more or less.")
    if not bool((changed.logsumexp(-1).abs() <= _SUM_TOLERANCE).all()):
        raise BadParameter(f"The sampler {sampler} must return log-probabilities whose probabilities sum to 1.")
    return changed


class Draw(NamedTuple):
    """One token to draw: its row of the logits, its key, its index in the reply, its allowed set."""

    row: int
    key: Key
    position: int
    allowed: Ids | None
    sampling: Sampling


class SampledToken(NamedTuple):
    """A token, its log-probability under its sampling distribution, and the set that this is a distribution over."""

    token: int
    logprob: float
    allowed: TokenSet | None = None
    """Allowed set of the guide; with top-k, top-p or min-p what they leave of it, or of the vocabulary."""


def draw(logits: torch.Tensor, draws: Sequence[Draw]) -> list[SampledToken]:
    """Draw every token; draws of one kind together."""
    drawn: dict[int, SampledToken] = {}
    kinds: dict[tuple[Sampling, bool], list[int]] = {}
    for number, request in enumerate(draws):
        kinds.setdefault((request.sampling, request.allowed is not None), []).append(number)
    for (sampling, masked), numbers in kinds.items():
        some = [draws[number] for number in numbers]
        values = _draw_allowed(logits, some, sampling) if masked else _free(logits, some, sampling)
        drawn.update(zip(numbers, values, strict=True))
    return [drawn[number] for number in range(len(draws))]


def _free(logits: torch.Tensor, draws: Sequence[Draw], sampling: Sampling) -> list[SampledToken]:
    """Draw from the whole vocabulary; rows that several draws share are normalised once."""
    rows = list(dict.fromkeys(request.row for request in draws))
    logprobs = log_distribution(logits[rows].float(), sampling)
    tokens = torch.arange(logits.shape[-1], device=logits.device)[None]
    sets: list[TokenSet | None] = [None] * len(rows)
    if sampling.truncates:
        sets[:] = kept_sets(logprobs, tokens, logits.shape[-1])
    if len(rows) < len(draws):
        index = {row: number for number, row in enumerate(rows)}
        which = [index[request.row] for request in draws]
        logprobs, sets = logprobs[which], [sets[number] for number in which]
    return _tokens_of_draws(logprobs, tokens, draws, sampling, sets)


def _draw_allowed(logits: torch.Tensor, draws: Sequence[Draw], sampling: Sampling) -> list[SampledToken]:
    """Draw from the allowed sets, padded to the largest of them."""
    sets = [request.allowed or () for request in draws]
    tokens, absent = pad_sets(sets, logits.device)
    rows = torch.tensor([request.row for request in draws], device=logits.device)
    logprobs = log_distribution(logits[rows[:, None], tokens].float().masked_fill_(absent, _NONE), sampling)
    size = logits.shape[-1]
    kept = list(kept_sets(logprobs, tokens, size)) if sampling.truncates else [compact(some, size) for some in sets]
    return _tokens_of_draws(logprobs, tokens, draws, sampling, kept)


def kept_sets(logprobs: torch.Tensor, tokens: torch.Tensor, size: int) -> Iterator[KeptSet]:
    """Yield the tokens of each row that have a probability; `size` is that of the vocabulary."""
    step = max(1, _ENTRIES // logprobs.shape[-1])
    for start in range(0, len(logprobs), step):
        kept = logprobs[start : start + step] > _NONE
        ids = (tokens if len(tokens) == 1 else tokens[start : start + step]).expand_as(kept)[kept]
        yield from pack(ids.cpu().numpy(), kept.sum(-1).cpu().numpy(), size)


def pad_sets(sets: Sequence[Ids], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad sets of tokens to one tensor, with the mask of the padding."""
    width = max(map(len, sets))
    tokens = torch.tensor([(*some, *(0,) * (width - len(some))) for some in sets], device=device)
    sizes = torch.tensor([len(some) for some in sets], device=device)
    return tokens, torch.arange(width, device=device)[None] >= sizes[:, None]


def _tokens_of_draws(
    logprobs: torch.Tensor,
    tokens: torch.Tensor,
    draws: Sequence[Draw],
    sampling: Sampling,
    sets: Sequence[TokenSet | None],
) -> list[SampledToken]:
    score = logprobs
    if sampling.temperature > 0.0:
        noise_seeds = seeds(
            [request.key for request in draws], [request.position for request in draws], logprobs.device
        )
        score = gumbel(noise_seeds, tokens).add_(logprobs)
    chosen = score.argmax(-1, keepdim=True)
    ids = tokens.expand(len(draws), -1).gather(-1, chosen)[:, 0].tolist()
    values = logprobs.gather(-1, chosen)[:, 0].tolist()
    return [SampledToken(*parts) for parts in zip(ids, values, sets, strict=True)]
