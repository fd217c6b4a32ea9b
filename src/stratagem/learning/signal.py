"""What each term of the reward teaches: the gradient that it brings on average, against its noise.

The rollouts of every group are dealt into two halves, and for each term g1 and g2 are the gradients of the sum over a
half's taught tokens of term times log pi. Given the deal, rollouts are independent, and under the weights that played
them a token's score is zero on average; so `g1 . g2` is on average a positive multiple of the squared length of the
term's expected gradient, and exactly zero for a term that has nothing to do with what the rollout said, however much
the term varies. `|g1|^2 + |g2|^2` is what a step of it costs in noise.

A term's part is to be taken before it is divided by the spread of the group's whole reward. After that it depends on
what was said through the spread: then an unrelated penalty shows the little that it takes away from the other terms.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from stratagem.errors import BadParameter
from stratagem.learning.example import Example
from stratagem.learning.learner import Learner
from stratagem.learning.strength import Signal

TERM = "term/"
"""What the columns of terms begin with: each term's own part of the reward, centred in its group."""
HALF = "half"
"""The row that says to which half of its group an example's rollout was dealt: 0 or 1."""
Halves = tuple[torch.Tensor, torch.Tensor]


def measured(learner: Learner, examples: Sequence[Example]) -> dict[str, Signal]:
    """The signal of every term under the weights as they are, which must be those that played."""
    constant = {name: not any(any(_column(one, name)) for one in examples) for name in terms_of(examples)}
    return {
        name: Signal(float(first.dot(second)), float(first.dot(first) + second.dot(second)), constant[name])
        for name, (first, second) in gradients(learner, examples).items()
    }


def terms_of(examples: Sequence[Example]) -> list[str]:
    """The terms that any example knows of."""
    return sorted({key.removeprefix(TERM) for one in examples for key in one.columns if key.startswith(TERM)})


def gradients(learner: Learner, examples: Sequence[Example]) -> dict[str, Halves]:
    """The two halves' gradients of every term over all trained weights, as rows of numbers; `.grad` is left alone."""
    terms = terms_of(examples)
    if not terms:
        return {}
    halves = [_half(example) for example in examples]
    weights = [weight for weight in learner.optimiser.weights if weight.requires_grad]
    size = sum(weight.numel() for weight in weights)
    found = {name: tuple(weights[0].new_zeros(size, dtype=torch.float64) for _ in range(2)) for name in terms}
    with learner.at_work():
        for pack in learner.policy.packs(examples):
            said = learner.policy.said(pack, examples).logprobs
            for name in terms:
                for half in range(2):
                    few = [(examples[number], halves[number] == half) for number in pack.examples]
                    worth = [share if mine else 0.0 for one, mine in few for share in _column(one, name)]
                    if any(worth):
                        found[name][half].add_(_gradient(said, worth, weights))
    return {name: (first, second) for name, (first, second) in found.items()}


def _gradient(said: torch.Tensor, worth: Sequence[float], weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """Of the sum of the log-probabilities, each times its worth; the pass that found them can be walked again."""
    along = torch.tensor(worth, dtype=said.dtype, device=said.device)
    slopes = torch.autograd.grad(said, weights, along, retain_graph=True, allow_unused=True)
    rows = (torch.zeros_like(w) if slope is None else slope for w, slope in zip(weights, slopes, strict=True))
    return torch.cat([row.flatten().double() for row in rows])


def _column(example: Example, name: str) -> Sequence[float]:
    return example.columns.get(TERM + name, (0.0,) * len(example.taught))


def _half(example: Example) -> int:
    half = example.row.get(HALF)
    if half not in (0.0, 1.0):
        raise BadParameter(
            f"An example with terms needs the row `{HALF}`, which is 0 or 1: deal every group's rollouts."
        )
    return int(half)
