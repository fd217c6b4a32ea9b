"""Ways to refine a policy from samples (SCO-PAL, stage III), by name: what is learnt from, and by which loss.

A sample that counts for many is weighed, not repeated, unless it counts for so much that a step would be its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from stratagem.algorithms.scopal.samples import Samples
from stratagem.algorithms.scopal.settings import (
    DPOStageSettings,
    GRPOStageSettings,
    KTOStageSettings,
    SPAGStageSettings,
    StageSettings,
)
from stratagem.errors import BadParameter
from stratagem.learning.advantages.base import Floats, Ints
from stratagem.learning.example import Example
from stratagem.learning.losses.base import Loss
from stratagem.learning.losses.cross_entropy import CrossEntropy
from stratagem.learning.losses.dpo import DPO
from stratagem.learning.losses.kto import KTO, mismatched
from stratagem.learning.losses.policy_gradient import PolicyGradient
from stratagem.learning.losses.spag import SPAG
from stratagem.learning.losses.total import Part, Sum

Batch = list[Example]
S = TypeVar("S", bound=StageSettings)


@dataclass(frozen=True)
class Lesson:
    """What a stage learns from: units that are kept together, what each counts, and a batch made of some of them."""

    units: Sequence[Ints]
    """The places of each unit's samples."""
    weight: Floats
    """Of each unit; the mean is 1."""
    loss: Loss
    batch: Callable[[Sequence[int], Floats], Batch]
    """From units and what each counts this time to a batch."""
    least: int = 1
    """How many units a batch must have."""


class Method(ABC, Generic[S]):
    """One way to refine."""

    @abstractmethod
    def lesson(self, samples: Samples, settings: S, rng: np.random.Generator) -> Lesson:
        """What it learns from, and how."""


def _alone(samples: Samples) -> list[Ints]:
    return [np.array([place]) for place in range(len(samples))]


def cloned(samples: Samples, places: Sequence[int], weight: Floats) -> Batch:
    """Examples of which each token has a weight; the sum is over the batch's tokens."""
    examples = [samples.examples[place] for place in places]
    tokens = float(sum(len(example.loss_positions) for example in examples))
    return [
        replace(example, columns={"weight": (float(each),) * len(example.loss_positions)}, row={"divisor": tokens})
        for example, each in zip(examples, weight, strict=True)
    ]


@dataclass(frozen=True)
class Cloning(Method[StageSettings]):
    """Say what was advantageous: `-sum w log pi(y|x)` over the desirable samples (SCO-PAL, eq. 1).

    Of winning trajectories all that was legal in `won` games counts, as often as it was said there; or all that was
    `legal` counts, which makes a policy that plays as those did who played.
    """

    what: Literal["advantageous", "won", "legal"] = "advantageous"

    def lesson(self, samples: Samples, settings: StageSettings, rng: np.random.Generator) -> Lesson:
        chosen = self._chosen(samples)
        if not len(chosen):
            raise BadParameter(
                "Nothing is advantageous, so nothing can be cloned: lower the threshold of `step_reward`."
            )
        loss = CrossEntropy(normalize_by="divisor", weighted=True)
        return Lesson(_alone(chosen), chosen.weight, loss, lambda units, weight: cloned(chosen, units, weight))

    def _chosen(self, samples: Samples) -> Samples:
        legal = samples.columns["legal"] > 0.0
        if self.what == "legal":
            return samples.only(legal)
        if self.what == "won":
            share = samples.columns["won"] / np.maximum(samples.columns["count"], 1.0)
            return samples.only(legal & (share > 0.0), samples.weight * share)
        return samples.only(samples.desirable)


def both_kinds(samples: Samples) -> tuple[float, float]:
    """The weights of the desirable and of the undesirable: equal in sum, the greater 1."""
    good, bad = (float(samples.weight[samples.desirable == kind].sum()) for kind in (True, False))
    if not good or not bad:
        which = "desirable" if not good else "undesirable"
        raise BadParameter(
            f"No sample is {which}, so nothing can be told apart: change the threshold of `step_reward`."
        )
    return min(1.0, bad / good), min(1.0, good / bad)


def labelled(samples: Samples, places: Sequence[int], weight: Floats) -> Batch:
    """Examples with their label and what they count, and the mismatched ones that stand for the divergence."""
    examples = [
        replace(
            samples.examples[place],
            columns={},
            row={"desirable": float(samples.desirable[place]), "kl": 0.0, "weight": float(each)},
        )
        for place, each in zip(places, weight, strict=True)
    ]
    return [*examples, *mismatched(examples)]


@dataclass(frozen=True)
class Preferring(Method[KTOStageSettings]):
    """Kahneman-Tversky optimization of all samples, both kinds weighed to one sum (SCO-PAL, eq. 2 to 6).

    `joint` adds the cross-entropy of the desirable ones (section 7.1).
    """

    joint: bool = False

    def lesson(self, samples: Samples, settings: KTOStageSettings, rng: np.random.Generator) -> Lesson:
        good, bad = both_kinds(samples)
        kto = KTO(kto_beta=settings.kto_beta, desirable_weight=good, undesirable_weight=bad, weighted=True)
        loss: Loss = kto
        if self.joint:
            loss = Sum(
                (Part("cloning", 1.0, CrossEntropy(normalize_by="divisor", weighted=True)), Part("kto", 1.0, kto))
            )
        made = _joint if self.joint else labelled
        return Lesson(_alone(samples), samples.weight, loss, lambda units, each: made(samples, units, each), least=2)


def _joint(samples: Samples, places: Sequence[int], weight: Floats) -> Batch:
    """The labelled examples, of which the desirable ones are cloned, too."""
    examples = labelled(samples, places, weight)
    cloned_tokens = sum(_cloned_weight(example) * len(example.loss_positions) for example in examples)
    return [
        replace(
            example.with_columns(weight=(_cloned_weight(example),) * len(example.loss_positions)),
            row={**example.row, "divisor": cloned_tokens or 1.0},
        )
        for example in examples
    ]


def _cloned_weight(example: Example) -> float:
    return 0.0 if example.row["kl"] else example.row["desirable"] * example.row["weight"]


@dataclass(frozen=True)
class Pairing(Method[DPOStageSettings]):
    """Direct preference optimization: a desirable reply to a question against an undesirable one to the same."""

    def lesson(self, samples: Samples, settings: DPOStageSettings, rng: np.random.Generator) -> Lesson:
        pairs = list(_pairs(samples, rng))
        if not pairs:
            raise BadParameter("No question has replies of both kinds, so there are no pairs: play more, or take kto.")
        weight = np.array([samples.weight[good] for good, _ in pairs])
        loss = DPO(dpo_beta=settings.dpo_beta, weighted=True)
        units = [np.array(pair) for pair in pairs]
        return Lesson(units, weight / weight.mean(), loss, lambda chosen, each: _paired(samples, units, chosen, each))


def _pairs(samples: Samples, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Every desirable sample with an undesirable one to the same question, drawn by its weight."""
    bad: dict[int, list[int]] = {}
    for place in np.flatnonzero(~samples.desirable):
        bad.setdefault(int(samples.prompt[place]), []).append(int(place))
    for place in np.flatnonzero(samples.desirable):
        if others := bad.get(int(samples.prompt[place])):
            odds = samples.weight[others] / samples.weight[others].sum()
            yield int(place), int(rng.choice(others, p=odds))


def _paired(samples: Samples, units: Sequence[Ints], chosen: Sequence[int], weight: Floats) -> Batch:
    return [
        replace(
            samples.examples[place],
            columns={},
            row={"chosen": float(place == units[unit][0]), "weight": float(each)},
            pair=number,
        )
        for number, (unit, each) in enumerate(zip(chosen, weight, strict=True))
        for place in units[unit]
    ]


@dataclass(frozen=True)
class Discounting(Method[SPAGStageSettings]):
    """SPAG: an offline policy gradient by how the game ended, the last reply most (SCO-PAL, appendix B.2)."""

    def lesson(self, samples: Samples, settings: SPAGStageSettings, rng: np.random.Generator) -> Lesson:
        loss = SPAG(kl_coef=settings.kl_coef)
        advantage = samples.columns["spag"]

        def batch(units: Sequence[int], weight: Floats) -> Batch:
            return [
                replace(
                    samples.examples[place],
                    columns={},
                    row={"advantage": float(advantage[place]), "weight": float(each)},
                )
                for place, each in zip(units, weight, strict=True)
            ]

        return Lesson(_alone(samples), samples.weight, loss, batch)


@dataclass(frozen=True)
class Comparing(Method[GRPOStageSettings]):
    """Group-relative policy gradient: a reply's worth less the mean of all replies to its question, over their spread.

    The groups are the replies that were played, each as often as it was said, and the worth is the table's, so it asks
    for no further play; ratios are against the policy that played. Reference: Shao 2024 (GRPO); SCO-PAL names it and
    tells no settings.
    """

    def lesson(self, samples: Samples, settings: GRPOStageSettings, rng: np.random.Generator) -> Lesson:
        if any("sampler_logprobs" not in example.columns for example in samples.examples):
            raise BadParameter("The method grpo needs replies of this very model, with how likely they were: take kto.")
        advantage = _relative(samples)
        taught = samples.only(advantage != 0.0)
        left = advantage[advantage != 0.0]
        if not len(taught):
            raise BadParameter("No question has replies of different worth, so nothing can be compared: play more.")
        loss = PolicyGradient(kl_estimator="k3", kl_coef=settings.kl_coef, normalize_by="divisor", weighted=True)

        def batch(units: Sequence[int], weight: Floats) -> Batch:
            return _compared([taught.examples[place] for place in units], left[np.array(units)], weight)

        return Lesson(_alone(taught), taught.weight, loss, batch)


def _compared(examples: Sequence[Example], advantages: Floats, weights: Floats) -> Batch:
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


def _relative(samples: Samples) -> Floats:
    """Each reply's worth against the others to its question; 0 where all are worth the same."""
    reward, count, group = samples.columns["reward"], samples.columns["count"], samples.prompt
    total = np.bincount(group, weights=count)
    far = reward - (np.bincount(group, weights=count * reward) / total)[group]
    spread = np.sqrt(np.bincount(group, weights=count * far**2) / total)[group]
    return np.where(spread > 1e-9, far / np.maximum(spread, 1e-9), 0.0)


METHODS: dict[str, Method[Any]] = {
    "bc": Cloning(),
    "imitate": Cloning(what="legal"),
    "winning": Cloning(what="won"),
    "kto": Preferring(),
    "joint": Preferring(joint=True),
    "dpo": Pairing(),
    "grpo": Comparing(),
    "spag": Discounting(),
}
"""Every way by name; a recipe's `refine` is a list of them."""
CLONING = tuple(name for name, method in METHODS.items() if isinstance(method, Cloning))
"""Those that ask for no reference."""
