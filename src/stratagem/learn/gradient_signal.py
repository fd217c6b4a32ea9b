"""Gradient signal and noise of each reward term, from two halves of a batch.

The rollouts of every group are split into two halves, and for each term g1 and g2 are the gradients of the sum over a
half's loss tokens of term times log pi. Given the split, rollouts are independent, and under the weights that sampled
them the gradient of log pi is zero on average; so `g1 . g2` is on average a positive multiple of the squared length of
the term's expected gradient, and exactly zero for a term that is independent of the sampled replies, however much it
varies. `|g1|^2 + |g2|^2` measures the noise.

A term's part is taken before the division by the standard deviation of the group's whole reward. After the division it
depends on the replies through the standard deviation, so an unrelated penalty would show a small signal.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from stratagem.base.errors import BadParameter
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.signal_to_noise import GradientSignal

TERM = "term/"
"""Prefix of the columns of reward terms: each term's own part of the reward, centred in its group."""
HALF = "half"
"""Row of an example that names the half of its group: 0 or 1."""
Halves = tuple[torch.Tensor, torch.Tensor]


def measure_signals(learner: Learner, examples: Sequence[Example]) -> dict[str, GradientSignal]:
    """Measure every term under the current weights, which must be those that sampled the batch."""
    constant = {name: not any(any(_column(one, name)) for one in examples) for name in terms_of(examples)}
    return {
        name: GradientSignal(float(first.dot(second)), float(first.dot(first) + second.dot(second)), constant[name])
        for name, (first, second) in gradients(learner, examples).items()
    }


def terms_of(examples: Sequence[Example]) -> list[str]:
    """Reward terms with a column in any example."""
    return sorted({key.removeprefix(TERM) for one in examples for key in one.columns if key.startswith(TERM)})


def gradients(learner: Learner, examples: Sequence[Example]) -> dict[str, Halves]:
    """Gradients of every term over all trained weights, one for each half, as flat vectors; `.grad` is unchanged."""
    terms = terms_of(examples)
    if not terms:
        return {}
    halves = [_half(example) for example in examples]
    weights = [weight for weight in learner.optimizer.weights if weight.requires_grad]
    size = sum(weight.numel() for weight in weights)
    device = _exact_device(weights[0].device)
    sums = {name: tuple(torch.zeros(size, dtype=torch.float64, device=device) for _ in range(2)) for name in terms}
    with learner.adapter_active():
        for pack in learner.policy.packs(examples):
            logprobs = learner.policy.outputs(pack, examples).logprobs
            for name in terms:
                for half in range(2):
                    few = [(examples[number], halves[number] == half) for number in pack.examples]
                    weight = [share if mine else 0.0 for one, mine in few for share in _column(one, name)]
                    if any(weight):
                        sums[name][half].add_(_gradient(logprobs, weight, weights))
    return {name: (first, second) for name, (first, second) in sums.items()}


def _gradient(logprobs: torch.Tensor, weight: Sequence[float], weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """Gradient of the weighted sum of log-probabilities; the graph is retained."""
    along = torch.tensor(weight, dtype=logprobs.dtype, device=logprobs.device)
    slopes = torch.autograd.grad(logprobs, weights, along, retain_graph=True, allow_unused=True)
    rows = (torch.zeros_like(w) if slope is None else slope for w, slope in zip(weights, slopes, strict=True))
    return torch.cat([row.flatten() for row in rows]).to(_exact_device(logprobs.device)).double()


def _exact_device(device: torch.device) -> torch.device:
    """Return where sums of gradients are kept: Apple's GPU has no float64."""
    return torch.device("cpu") if device.type == "mps" else device


def _column(example: Example, name: str) -> Sequence[float]:
    return example.columns.get(TERM + name, (0.0,) * len(example.loss_positions))


def _half(example: Example) -> int:
    half = example.row.get(HALF)
    if half not in (0.0, 1.0):
        raise BadParameter(
            f"An example with terms needs the row `{HALF}`, which is 0 or 1: deal every group's rollouts."
        )
    return int(half)
