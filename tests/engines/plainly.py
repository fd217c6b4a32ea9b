"""Reference implementation of the engine: one text a pass, no cache, and distributions by hand."""

import math

import numpy as np
import pytest
import torch

from stratagem.language.engines.base import Sampling
from stratagem.language.engines.kept_set import KeptSet
from stratagem.language.models.adapters import active, adapter_parameters


def all_logits(lm, tokens, adapter=""):
    """Return the logits after every token of a text: a forward pass as transformers makes it."""
    with torch.no_grad(), active(lm, adapter or None):
        return lm.model(input_ids=torch.tensor([list(tokens)]), use_cache=False).logits[0]


def shares(logits, sampling, allowed=None):
    """The distribution by hand, over the vocabulary: the allowed set, then temperature, top-k, top-p and min-p."""
    numbers = np.asarray(logits, dtype=np.float64)
    able = list(range(len(numbers))) if allowed is None else list(allowed)
    if sampling.temperature == 0.0:
        best = max(able, key=lambda token: (numbers[token], -token))
        return np.eye(len(numbers))[best]
    top = max(numbers[token] for token in able)
    weights = {token: math.exp((numbers[token] - top) / sampling.temperature) for token in able}
    ranked = sorted(able, key=lambda token: (-weights[token], token))
    if sampling.top_k:
        ranked = ranked[: sampling.top_k]
    total, sofar, nucleus = math.fsum(weights[token] for token in ranked), 0.0, []
    for token in ranked:
        if sofar < sampling.top_p or sampling.top_p == 1.0:
            nucleus.append(token)
        sofar += weights[token] / total
    most = max(weights[token] for token in nucleus)
    nucleus = [token for token in nucleus if weights[token] >= sampling.min_p * most]
    found = np.zeros(len(numbers))
    found[nucleus] = [weights[token] for token in nucleus]
    found /= found.sum()
    if sampling.sampler:  # a mixture with the uniform distribution, also over those whose probability underflows
        epsilon = float(sampling.sampler.removeprefix("epsilon_uniform(epsilon=").removesuffix(")"))
        found[nucleus] = (1.0 - epsilon) * found[nucleus] + epsilon / len(nucleus)
    return found


def check_reply(lm, call):
    """Hold every stored log-probability of a reply against a plain pass over the prompt and the reply."""
    assert len(call.tokens) == len(call.sampler_logprobs) == len(call.allowed) == call.num_reply
    kinds = [span.kind for span in call.spans for _ in range(span.start, span.end)]
    assert len(kinds) == len(call.tokens)
    assert [span.start for span in call.spans] == [0, *(span.end for span in call.spans)][: len(call.spans)]
    logits = all_logits(lm, (*call.prompt.tokens, *call.tokens), call.policy.adapter)
    for place, (token, kind, logprob, allowed) in enumerate(
        zip(call.tokens, kinds, call.sampler_logprobs, call.allowed, strict=True)
    ):
        if kind == "forced":
            assert logprob == 0.0
            assert allowed is None
            continue
        cut = isinstance(allowed, KeptSet)  # what top-k and top-p left is not cut again
        sampling = Sampling(call.sampling.temperature) if cut else call.sampling
        assert cut == call.sampling.truncates
        chances = shares(logits[len(call.prompt.tokens) + place - 1].numpy(), sampling, allowed)
        assert kind == ("sampled" if call.sampling.temperature else "argmax")
        assert math.log(chances[token]) == pytest.approx(logprob, abs=1e-4)
    return kinds


def chi_square(counts, expected):
    """Return the largest deviation of counts, over a limit that is exceeded once in thirty thousand times."""
    counts, expected = np.asarray(counts, dtype=float), np.asarray(expected, dtype=float)
    assert (counts[expected == 0] == 0).all()
    kept = expected >= 5
    rest = expected[~kept].sum()
    parts = (counts[kept] - expected[kept]) ** 2 / expected[kept]
    value, freedom = parts.sum(), kept.sum() - (rest < 5)
    if rest >= 5:
        value += (counts[~kept].sum() - rest) ** 2 / rest
    spread = 2.0 / (9.0 * freedom)
    return value / (freedom * (1.0 - spread + 4.0 * math.sqrt(spread)) ** 3)


def disturb(lm, name, seed):
    """Give an adapter random weights, so that it differs from the base."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in adapter_parameters(lm, name):
            weight.copy_(torch.empty(weight.shape).normal_(std=0.1, generator=generator))
