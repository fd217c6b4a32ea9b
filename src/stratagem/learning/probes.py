"""What a few extra passes show of a learner, once a run: a gap in nats, the mean over taught tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from stratagem.learning.example import Example
from stratagem.learning.learner import Learner

_FEW = 32
"""So many examples of a batch are enough."""
Probe = Callable[[Learner, Sequence[Example]], float]


def adapter(learner: Learner, examples: Sequence[Example]) -> float:
    """How far the policy is from its base: 0 before the first step, and above it after, if the adapter is at work."""
    if learner.adapter is None:
        return float("inf")
    few = examples[:_FEW]
    return _apart(learner.outputs(few).logprobs, learner.outputs(few, adapter=None).logprobs)


def padding(learner: Learner, examples: Sequence[Example]) -> float:
    """How much farther texts that hold the tokens for filling up and for the end are from plain passes than others.

    A plain pass reads one text without any mask. What other texts are off is rounding, of which four times as much is
    let pass.
    """
    lm = learner.policy.lm
    special = [token for token in (lm.tokenizer.pad_token_id, *sorted(lm.stop_ids)) if token is not None]
    gap, rounding = (_misread(learner, _texts(learner, tokens)) for tokens in (special, range(7, 7 + len(special))))
    return max(0.0, gap - 4.0 * rounding)


def _misread(learner: Learner, texts: Sequence[Example]) -> float:
    with torch.no_grad(), learner.adapter_active():
        plain = torch.cat([_plainly(learner, text) for text in texts])
    return _apart(learner.outputs(texts).logprobs, plain)


PROBES: dict[str, Probe] = {"adapter": adapter, "padding": padding}
"""Probes by name."""


def run_probes(learner: Learner, examples: Sequence[Example]) -> dict[str, float]:
    """What every probe shows."""
    return {name: probe(learner, examples) for name, probe in PROBES.items()}


def _apart(ones: torch.Tensor, others: torch.Tensor) -> float:
    return (ones - others).abs().mean().item()


def _texts(learner: Learner, ends: Sequence[int]) -> list[Example]:
    """Texts of different lengths with these tokens among what is said and what is read, and after a shared start."""
    size = learner.policy.lm.model.get_input_embeddings().num_embeddings
    words = [(7 * place * place + 3 * place + 2) % size for place in range(40)]
    start = [*words[:12], *ends, *words[12:15]]
    texts = [
        [*start, *words[15:24], *ends, *words[24:26]],
        [*start, *ends, words[30]],
        [*ends, *words[5:20]],
    ]
    return [Example(tokens=tuple(text), loss_positions=tuple(range(len(text) // 2, len(text)))) for text in texts]


def _plainly(learner: Learner, example: Example) -> torch.Tensor:
    """From one pass over the text alone, and the whole log-softmax."""
    model = learner.policy.lm.model
    logits = model(input_ids=torch.tensor([example.tokens], device=model.device), use_cache=False).logits[0].float()
    every = torch.log_softmax(logits, -1)
    return torch.stack([every[place - 1, example.tokens[place]] for place in example.loss_positions])
