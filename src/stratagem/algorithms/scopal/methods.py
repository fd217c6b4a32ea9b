"""Refinement methods (SCO-PAL, stage III), by name: each selects samples and names a loss.

A sample with a count has the count as its weight. It is repeated only where its weight exceeds `max_weight_ratio`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from pydantic import Field

from stratagem.algorithms.scopal.samples import Samples
from stratagem.base.errors import BadParameter
from stratagem.base.settings import FiniteSettings
from stratagem.learn.advantages.base import Floats, Ints
from stratagem.learn.example import Example
from stratagem.learn.losses.base import Loss
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.learn.losses.dpo import DPO
from stratagem.learn.losses.kto import KTO, mismatch_replies
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.losses.spag import SPAG
from stratagem.learn.losses.total import LossTerm, Sum
from stratagem.learn.optimizer import OptimizerSettings

Batch = list[Example]


class StageSettings(FiniteSettings):
    """Settings of a cloning method, and what all refinement methods have in common."""

    epochs: int = Field(default=5, ge=1)
    """Number of passes over the samples."""
    max_steps: int = Field(default=0, ge=0)
    """Number of optimizer steps, in place of `epochs`; 0 uses `epochs`."""
    batch_size: int = Field(default=16, ge=1)
    """Number of samples in an optimizer step; a pair counts as one."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-6)
    """Optimizer of the trained weights."""
    max_weight_ratio: float = Field(default=8.0, ge=1.0)
    """Largest weight of a sample, relative to the mean; a heavier sample is split into several of equal weight."""

    def steps_per_epoch(self, samples: int, min_samples: int = 1) -> int:
        """Return the number of steps, in batches of nearly equal size, none with fewer samples than `min_samples`."""
        return max(1, min(-(-samples // self.batch_size), samples // min_samples))


class KTOStageSettings(StageSettings):
    """Settings of KTO, and of cloning and KTO in one loss."""

    kto_beta: float = Field(default=0.1, ge=0.0)
    """Temperature beta of KTO: the smaller, the farther the policy may move from the reference."""


class DPOStageSettings(StageSettings):
    """Settings of DPO."""

    dpo_beta: float = Field(default=0.1, ge=0.0)
    """Temperature beta of DPO: the smaller, the farther the policy may move from the reference."""


class GRPOStageSettings(StageSettings):
    """Settings of GRPO on recorded games."""

    kl_coef: float = Field(default=0.04, ge=0.0)
    """Coefficient of the KL penalty to the reference policy."""


class SPAGStageSettings(StageSettings):
    """Settings of SPAG."""

    kl_coef: float = Field(default=0.2, ge=0.0)
    """Coefficient of the KL penalty to the reference policy."""


S = TypeVar("S", bound=StageSettings)


@dataclass(frozen=True)
class TrainingSet:
    """Training examples of a stage, in units that stay in one batch, with their weights and the loss."""

    units: Sequence[Ints]
    """Sample indices of each unit."""
    weight: Floats
    """Weight of each unit; the mean is 1."""
    loss: Loss
    batch: Callable[[Sequence[int], Floats], Batch]
    """Function that makes a batch of some units and their weights."""
    min_units: int = 1
    """Minimum number of units in a batch."""


class Method(ABC, Generic[S]):
    """A refinement method."""

    @abstractmethod
    def training_set(self, samples: Samples, settings: S, rng: np.random.Generator) -> TrainingSet:
        """Select the samples, weigh them, and make the loss."""


def _single_units(samples: Samples) -> list[Ints]:
    return [np.array([index]) for index in range(len(samples))]


def cloning_batch(samples: Samples, indices: Sequence[int], weight: Floats) -> Batch:
    """Return examples with a weight per token; the divisor is the number of tokens in the batch."""
    examples = [samples.examples[index] for index in indices]
    tokens = float(sum(len(example.loss_positions) for example in examples))
    return [
        replace(example, columns={"weight": (float(each),) * len(example.loss_positions)}, row={"divisor": tokens})
        for example, each in zip(examples, weight, strict=True)
    ]


@dataclass(frozen=True)
class CloningMethod(Method[StageSettings]):
    """Behavioural cloning: `-sum w log pi(y|x)` over the desirable samples (SCO-PAL, eq. 1).

    With `won` the samples are all legal replies of won games, weighted by their counts there. With `legal` they are all
    legal replies, so the policy imitates the players.
    """

    select: Literal["advantageous", "won", "legal"] = "advantageous"

    def training_set(self, samples: Samples, settings: StageSettings, rng: np.random.Generator) -> TrainingSet:
        selected = self._select_samples(samples)
        if not len(selected):
            raise BadParameter(
                "Nothing is advantageous, so nothing can be cloned: lower the threshold of `step_reward`."
            )
        loss = CrossEntropy(normalize_by="divisor", weighted=True)
        units = _single_units(selected)
        return TrainingSet(units, selected.weight, loss, lambda units, weight: cloning_batch(selected, units, weight))

    def _select_samples(self, samples: Samples) -> Samples:
        legal = samples.columns["legal"] > 0.0
        if self.select == "legal":
            return samples.subset(legal)
        if self.select == "won":
            share = samples.columns["won"] / np.maximum(samples.columns["count"], 1.0)
            return samples.subset(legal & (share > 0.0), samples.weight * share)
        return samples.subset(samples.desirable)


def class_weights(samples: Samples) -> tuple[float, float]:
    """Return the weights of desirable and undesirable samples: equal total weight, the larger factor is 1."""
    good, bad = (float(samples.weight[samples.desirable == kind].sum()) for kind in (True, False))
    if not good or not bad:
        which = "desirable" if not good else "undesirable"
        raise BadParameter(
            f"No sample is {which}, so nothing can be told apart: change the threshold of `step_reward`."
        )
    return min(1.0, bad / good), min(1.0, good / bad)


def kto_batch(samples: Samples, indices: Sequence[int], weight: Floats) -> Batch:
    """Return examples with label and weight, and the mismatched examples of KTO's estimate of the KL divergence."""
    examples = [
        replace(
            samples.examples[index],
            columns={},
            row={"desirable": float(samples.desirable[index]), "kl": 0.0, "weight": float(each)},
        )
        for index, each in zip(indices, weight, strict=True)
    ]
    return [*examples, *mismatch_replies(examples)]


@dataclass(frozen=True)
class KTOMethod(Method[KTOStageSettings]):
    """KTO (Ethayarajh et al. 2024) on all samples, with equal total weight of both labels (SCO-PAL, eq. 2 to 6).

    `joint` adds the cross-entropy of the desirable samples (section 7.1).
    """

    joint: bool = False

    def training_set(self, samples: Samples, settings: KTOStageSettings, rng: np.random.Generator) -> TrainingSet:
        good, bad = class_weights(samples)
        kto = KTO(kto_beta=settings.kto_beta, desirable_weight=good, undesirable_weight=bad, weighted=True)
        loss: Loss = kto
        if self.joint:
            loss = Sum(
                (
                    LossTerm("cloning", 1.0, CrossEntropy(normalize_by="divisor", weighted=True)),
                    LossTerm("kto", 1.0, kto),
                )
            )
        make = _joint_batch if self.joint else kto_batch
        units = _single_units(samples)
        return TrainingSet(units, samples.weight, loss, lambda units, each: make(samples, units, each), min_units=2)


def _joint_batch(samples: Samples, indices: Sequence[int], weight: Floats) -> Batch:
    """Return the batch of KTO with token weights for the cross-entropy of the desirable examples."""
    examples = kto_batch(samples, indices, weight)
    cloned_tokens = sum(_cloning_weight(example) * len(example.loss_positions) for example in examples)
    return [
        replace(
            example.with_columns(weight=(_cloning_weight(example),) * len(example.loss_positions)),
            row={**example.row, "divisor": cloned_tokens or 1.0},
        )
        for example in examples
    ]


def _cloning_weight(example: Example) -> float:
    return 0.0 if example.row["kl"] else example.row["desirable"] * example.row["weight"]


@dataclass(frozen=True)
class DPOMethod(Method[DPOStageSettings]):
    """DPO (Rafailov et al. 2023) on pairs of a desirable and an undesirable reply to one prompt."""

    def training_set(self, samples: Samples, settings: DPOStageSettings, rng: np.random.Generator) -> TrainingSet:
        pairs = list(_pairs(samples, rng))
        if not pairs:
            raise BadParameter("No question has replies of both kinds, so there are no pairs: play more, or take kto.")
        weight = np.array([samples.weight[good] for good, _ in pairs])
        loss = DPO(dpo_beta=settings.dpo_beta, weighted=True)
        units = [np.array(pair) for pair in pairs]
        mean_one = weight / weight.mean()
        return TrainingSet(units, mean_one, loss, lambda numbers, each: _dpo_batch(samples, units, numbers, each))


def _pairs(samples: Samples, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Yield each desirable sample with an undesirable one of the same prompt, drawn by its weight."""
    bad: dict[int, list[int]] = {}
    for index in np.flatnonzero(~samples.desirable):
        bad.setdefault(int(samples.prompt[index]), []).append(int(index))
    for index in np.flatnonzero(samples.desirable):
        if others := bad.get(int(samples.prompt[index])):
            odds = samples.weight[others] / samples.weight[others].sum()
            yield int(index), int(rng.choice(others, p=odds))


def _dpo_batch(samples: Samples, units: Sequence[Ints], numbers: Sequence[int], weight: Floats) -> Batch:
    return [
        replace(
            samples.examples[index],
            columns={},
            row={"chosen": float(index == units[unit][0]), "weight": float(each)},
            pair=number,
        )
        for number, (unit, each) in enumerate(zip(numbers, weight, strict=True))
        for index in units[unit]
    ]


@dataclass(frozen=True)
class SPAGMethod(Method[SPAGStageSettings]):
    """SPAG (Cheng et al. 2024): offline policy gradient on the discounted outcome (SCO-PAL, appendix B.2)."""

    def training_set(self, samples: Samples, settings: SPAGStageSettings, rng: np.random.Generator) -> TrainingSet:
        loss = SPAG(kl_coef=settings.kl_coef)
        advantage = samples.columns["spag"]

        def batch(units: Sequence[int], weight: Floats) -> Batch:
            return [
                replace(
                    samples.examples[index],
                    columns={},
                    row={"advantage": float(advantage[index]), "weight": float(each)},
                )
                for index, each in zip(units, weight, strict=True)
            ]

        return TrainingSet(_single_units(samples), samples.weight, loss, batch)


@dataclass(frozen=True)
class GRPOMethod(Method[GRPOStageSettings]):
    """GRPO (Shao et al. 2024) on recorded games: `A = (r - mean) / std` over all replies to one prompt.

    The groups are the replies that were played, each with its count, and the rewards are the table's, so no further
    play is needed. Importance ratios are against the policy that played. SCO-PAL names GRPO and gives no settings.
    """

    def training_set(self, samples: Samples, settings: GRPOStageSettings, rng: np.random.Generator) -> TrainingSet:
        if any("sampler_logprobs" not in example.columns for example in samples.examples):
            raise BadParameter("The method grpo needs replies of this very model, with how likely they were: take kto.")
        advantage = _group_advantage(samples)
        selected = samples.subset(advantage != 0.0)
        advantages = advantage[advantage != 0.0]
        if not len(selected):
            raise BadParameter("No question has replies of different reward, so nothing can be compared: play more.")
        loss = PolicyGradient(kl_estimator="k3", kl_coef=settings.kl_coef, normalize_by="divisor", weighted=True)

        def batch(units: Sequence[int], weight: Floats) -> Batch:
            return _grpo_batch([selected.examples[index] for index in units], advantages[np.array(units)], weight)

        return TrainingSet(_single_units(selected), selected.weight, loss, batch)


def _grpo_batch(examples: Sequence[Example], advantages: Floats, weights: Floats) -> Batch:
    size = float(sum(len(example.loss_positions) for example in examples))
    return [
        replace(
            example.with_columns(
                advantage=(float(advantage),) * len(example.loss_positions),
                weight=(float(weight),) * len(example.loss_positions),
                old_logprobs=example.columns["sampler_logprobs"],
            ),
            row={"divisor": size},
        )
        for example, advantage, weight in zip(examples, advantages, weights, strict=True)
    ]


def _group_advantage(samples: Samples) -> Floats:
    """Return `(r - mean) / std` over the replies to one prompt; 0 where all rewards are equal."""
    reward, count, group = samples.columns["reward"], samples.columns["count"], samples.prompt
    total = np.bincount(group, weights=count)
    centred = reward - (np.bincount(group, weights=count * reward) / total)[group]
    std = np.sqrt(np.bincount(group, weights=count * centred**2) / total)[group]
    # equal rewards may differ in the last digit, and a division by that would make advantages of them
    return np.where(std > 1e-9, centred / np.maximum(std, 1e-9), 0.0)


METHODS: dict[str, Method[Any]] = {
    "bc": CloningMethod(),
    "imitate": CloningMethod(select="legal"),
    "winning": CloningMethod(select="won"),
    "kto": KTOMethod(),
    "joint": KTOMethod(joint=True),
    "dpo": DPOMethod(),
    "grpo": GRPOMethod(),
    "spag": SPAGMethod(),
}
"""Refinement methods by name; a recipe's `refine` is a list of them."""
CLONING = tuple(name for name, method in METHODS.items() if isinstance(method, CloningMethod))
"""Methods that need no reference policy."""
