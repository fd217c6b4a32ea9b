"""Probes of a learner by extra forward passes, once a run: each returns a gap in nats, a mean over loss tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from stratagem.learning.example import Example
from stratagem.learning.learner import Learner

_MAX_EXAMPLES = 32
"""Number of examples of a batch that a probe reads."""
Probe = Callable[[Learner, Sequence[Example]], float]


def adapter(learner: Learner, examples: Sequence[Example]) -> float:
    """Measure the gap between the policy and its base model: above 0 after a step, if the adapter is active."""
    if learner.adapter is None:
        return float("inf")
    few = examples[:_MAX_EXAMPLES]
    return _apart(learner.outputs(few).logprobs, learner.outputs(few, adapter=None).logprobs)


def padding(learner: Learner, examples: Sequence[Example]) -> float:
    """Measure the error of packed forward passes over texts that contain padding and stop tokens.

    The reference is a forward pass over one text without a mask. The error of other texts is rounding; four times as
    much is tolerated.
    """
    lm = learner.policy.lm
    special = [token for token in (lm.tokenizer.pad_token_id, *sorted(lm.stop_ids)) if token is not None]
    gap, rounding = (
        _packing_error(learner, _texts(learner, tokens)) for tokens in (special, range(7, 7 + len(special)))
    )
    return max(0.0, gap - 4.0 * rounding)


def _packing_error(learner: Learner, texts: Sequence[Example]) -> float:
    with torch.no_grad(), learner.adapter_active():
        plain = torch.cat([_plainly(learner, text) for text in texts])
    return _apart(learner.outputs(texts).logprobs, plain)


PROBES: dict[str, Probe] = {"adapter": adapter, "padding": padding}
"""Probes by name."""


def run_probes(learner: Learner, examples: Sequence[Example]) -> dict[str, float]:
    """Run every probe."""
    return {name: probe(learner, examples) for name, probe in PROBES.items()}


def _apart(ones: torch.Tensor, others: torch.Tensor) -> float:
    return (ones - others).abs().mean().item()


def _texts(learner: Learner, ends: Sequence[int]) -> list[Example]:
    """Return texts of different lengths with these tokens in the prompt, in the reply and after a shared prefix."""
    size = learner.policy.lm.model.get_input_embeddings().num_embeddings
    words = [(7 * index * index + 3 * index + 2) % size for index in range(40)]
    start = [*words[:12], *ends, *words[12:15]]
    texts = [
        [*start, *words[15:24], *ends, *words[24:26]],
        [*start, *ends, words[30]],
        [*ends, *words[5:20]],
    ]
    return [Example(tokens=tuple(text), loss_positions=tuple(range(len(text) // 2, len(text)))) for text in texts]


def _plainly(learner: Learner, example: Example) -> torch.Tensor:
    """Compute the log-probabilities by one pass over the text alone and the full log-softmax."""
    model = learner.policy.lm.model
    logits = model(input_ids=torch.tensor([example.tokens], device=model.device), use_cache=False).logits[0].float()
    every = torch.log_softmax(logits, -1)
    return torch.stack([every[position - 1, example.tokens[position]] for position in example.loss_positions])
