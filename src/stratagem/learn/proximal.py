"""Proximal policy optimization: from a batch of decisions and their rewards to optimizer steps.

    old       log pi, log ref and V of every token, in one pass under the weights that sampled
    penalty   r_t = score_t / std of all scores so far  -  beta (log pi - log ref)
    estimate  GAE over each episode, or another estimator, whitened over all rows;  R = A + V
    learn     mini-batches in a drawn order, all against the same old log-probabilities and values
    undo      all of it, if the KL divergence of the update exceeds `max_update_kl`
    adapt     beta, by the KL divergence of the policy from the reference

Reference: trl 0.11's PPOTrainer, as ShapeLLM uses it. A row is a token.
What differs: advantages are estimated over all decisions of a call, however many batches they make; beta adapts once a
call; and an update can be undone. The value head is initialized to 0 and has no dropout; trl's has dropout 0.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import torch
from pydantic import Field, model_validator

from stratagem.base.errors import BadParameter
from stratagem.base.settings import Settings
from stratagem.games.key import Key
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats
from stratagem.learn.advantages.catalogue import NamedAdvantage
from stratagem.learn.advantages.gae import GAE
from stratagem.learn.advantages.scaled import ScoreScaling
from stratagem.learn.advantages.whitened import Whitened
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.kl_controller import AdaptiveKLSettings, KLController
from stratagem.learn.learner import Learner, StepReport
from stratagem.learn.losses.ppo import PPO
from stratagem.learn.optimizer import OptimizerSnapshot
from stratagem.learn.schedules import START, Experience, Schedule

PPO_TERMS = frozenset({"score", "kl"})
"""Terms of the reward of a token: its part of the score, and the KL penalty."""


class Batches(Settings):
    """Sizes of batches and mini-batches, and the number of epochs over each batch."""

    batch_size: int = Field(default=100, ge=1)
    """Number of successive examples in a batch; their order is shuffled within the batch."""
    mini_batch_size: int = Field(default=10, ge=1)
    """Number of examples in an optimizer step."""
    epochs: int = Field(default=1, ge=1)
    """Number of passes over each batch."""

    def draw_steps(self, count: int, key: Key) -> Iterator[list[int]]:
        """Yield the indices of the examples of every step; the same key draws the same order.

        Parts that cannot all be full are as equal as can be: a last step on one example left over would move the
        weights as far as any other.
        """
        for number, batch in enumerate(parts(range(count), self.batch_size)):
            for epoch in range(self.epochs):
                order = list(batch)
                key.at("batch", number, "epoch", epoch).rng().shuffle(order)
                yield from map(list, parts(order, self.mini_batch_size))

    def steps(self, count: int) -> int:
        """Return the number of optimizer steps for a number of examples."""
        return self.epochs * sum(
            len(parts(batch, self.mini_batch_size)) for batch in parts(range(count), self.batch_size)
        )


def parts(indices: Sequence[int], size: int) -> list[Sequence[int]]:
    """Split indices into the fewest parts of at most `size`, whose sizes differ by at most one."""
    number = -(-len(indices) // size)
    ends = [len(indices) * part // number for part in range(number + 1)] if number else []
    return [indices[start:end] for start, end in pairwise(ends)]


class PPOSettings(Settings):
    """Settings of proximal policy optimization on a batch of play."""

    clip_range: float = Field(default=0.2, ge=0.0, le=1.0)
    """Clip range of the ratio around 1."""
    clip_range_value: float | None = Field(default=0.2, ge=0.0)
    """Clip range of the value around the old value."""
    value_coef: float = Field(default=0.2, ge=0.0)
    """Coefficient of the value loss."""
    discount: float = Field(default=1.0, ge=0.0, le=1.0)
    """Discount factor gamma."""
    gae_lambda: float = Field(default=0.95, ge=0.0, le=1.0)
    """GAE parameter lambda: 1 uses rewards alone, 0 the value head one step ahead."""
    advantage: NamedAdvantage | None = None
    """Advantage estimator, by name with its parameters. Its advantages are whitened; all environments are one group.
    Without a name it is `gae` with `discount` and `gae_lambda`; one that reads no value head needs `value_coef = 0`."""
    advantage_mean_over: Literal["batch", "turn"] = "batch"
    """Rows over which the mean advantage is taken: the batch, or the same turn of all episodes."""
    advantage_std_floor: float = Field(default=0.0, ge=0.0)
    """Lower bound of the standard deviation that advantages are divided by."""
    scale_scores: bool = True
    """Division of scores by the standard deviation of all scores so far."""
    adaptive_kl: AdaptiveKLSettings = AdaptiveKLSettings()
    """KL penalty to the reference policy."""
    max_update_kl: float = Field(default=0.0, ge=0.0)
    """Bound of the KL divergence between the policies before and after a batch, in nats per token; an update beyond it
    is undone. 0 sets no bound."""
    entropy_coef: Schedule = Schedule()
    """Coefficient of the entropy bonus; a schedule."""
    batches: Batches = Batches()
    """Batches and mini-batches."""

    @model_validator(mode="after")
    def _check_value_head(self) -> Self:
        if self.advantage is not None and "value" not in self.advantage.value.columns and self.value_coef:
            raise ValueError(
                f"advantage {self.advantage.type} gives no returns to train a value head on: set `value_coef = 0`, or "
                "take gae"
            )
        return self

    @property
    def compares_episodes(self) -> str:
        """Setting by which an episode is compared with the others of its batch; empty without one."""
        if self.advantage is not None and "group" in self.advantage.value.columns:
            return f"ppo.advantage = {self.advantage.type}"
        return 'ppo.advantage_mean_over = "turn"' if self.advantage_mean_over == "turn" else ""

    def loss(self, experience: Experience = START) -> PPO:
        """Make the loss after an amount of training."""
        return PPO(
            clip_range=self.clip_range,
            clip_range_value=self.clip_range_value,
            value_coef=self.value_coef,
            entropy_coef=self.entropy_coef.after(experience),
        )

    def advantage_estimator(self) -> AdvantageEstimator:
        """Make the advantage estimator."""
        mean_over: Literal["batch", "round"] = "round" if self.advantage_mean_over == "turn" else "batch"
        gae = GAE(discount=self.discount, gae_lambda=self.gae_lambda)
        of = gae if self.advantage is None else self.advantage.value
        return Whitened(of=of, mean_over=mean_over, advantage_std_floor=self.advantage_std_floor)


@dataclass(frozen=True)
class PPOBatch:
    """Decisions of one PPO update, those of an episode in the order of play, without discarded ones."""

    examples: Sequence[Example]
    """One example for each decision."""
    episodes: Sequence[int]
    """Number of each decision's episode; returns are summed within one, so a whole trial may have one number."""
    scores: Sequence[float]
    """Reward of each decision, without the KL penalty."""
    others_scores: Sequence[float] | None = None
    """Reward of the other seats from each decision on, summed over them, for estimators that read it."""
    turns: Sequence[int] | None = None
    """Turn of each decision in its episode, for `advantage_mean_over = "turn"`."""


class OldOutputs(NamedTuple):
    """Outputs for each token under the weights that sampled, [N] each."""

    policy_logprobs: Floats
    reference_logprobs: Floats
    values: Floats


@dataclass
class PPOLearner:
    """PPO on a learner with a value head, with its state between batches."""

    learner: Learner
    settings: PPOSettings
    num_updates: int = 0
    """Number of updates so far."""
    last_metrics: Mapping[str, float] = field(default_factory=dict, init=False)
    """Metrics of the last batch before its update, and whether the update was undone."""

    def __post_init__(self) -> None:
        if self.learner.value_head is None:
            raise BadParameter("Proximal policy optimization needs a learner with a value head.")
        self.controller = KLController(self.settings.adaptive_kl)
        self.scaling = ScoreScaling()

    def update(self, batch: PPOBatch, key: Key, experience: Experience | None = None) -> Iterator[StepReport]:
        """Update on a batch, and yield the report of every step; checkpoint before the first or after the last.

        `experience` is the amount of training before; without it the updates alone are known.
        """
        if not batch.examples:
            raise BadParameter("A batch without decisions trains nothing: leave it out.")
        self.learner.loss = self.settings.loss(experience or Experience(self.num_updates))
        old = old_outputs(self.learner, batch.examples)
        estimate = self.settings.advantage_estimator()(self.decisions_of(batch, old))
        steps = list(self.settings.batches.draw_steps(len(batch.examples), key))
        examples = with_advantages(batch.examples, old, estimate, trains_values=self.settings.value_coef > 0.0)
        if self.learner.policy.lm.dtype != "fp32":
            examples = self.read_in_steps(examples, batch.examples, steps)
        before = self.learner.optimizer.snapshot() if self.settings.max_update_kl else None
        for indices in steps:
            yield self.learner.update([examples[index] for index in indices])
        self._note(batch, old)
        if before is not None:
            self.last_metrics = {**self.last_metrics, "undone": float(self._undo_update(before, batch.examples, old))}

    def read_in_steps(
        self, examples: Sequence[Example], plain: Sequence[Example], steps: Sequence[Sequence[int]]
    ) -> list[Example]:
        """Replace the old log-probabilities by those of the mini-batches, for a model in a short format.

        Its rounding depends on what is read together. So a ratio is exactly 1 while the weights are the same.
        """
        read: dict[int, Example] = {}
        for indices in steps:
            if not read.keys() >= set(indices):  # of several epochs, the first
                some = self.learner.with_old_logprobs([plain[index] for index in indices])
                read |= zip(indices, some, strict=True)
        return [
            example.with_columns(**{OLD_LOGPROBS: read[index].columns[OLD_LOGPROBS]})
            for index, example in enumerate(examples)
        ]

    def _undo_update(self, before: OptimizerSnapshot, examples: Sequence[Example], old: OldOutputs) -> bool:
        """Undo the update if its KL divergence exceeds `max_update_kl`."""
        new = _numpy(self.learner.outputs(examples).logprobs)
        update_kl = float((old.policy_logprobs - new).mean())
        if update_kl <= self.settings.max_update_kl:
            return False
        self.learner.optimizer.undo(before)
        return True

    def decisions_of(self, batch: PPOBatch, old: OldOutputs) -> Decisions:
        """Make the columns of the estimator: one row for each token; the score is that of a decision's last token."""
        sizes = [len(example.loss_positions) for example in batch.examples]
        penalty = self.controller.penalty(old.policy_logprobs, old.reference_logprobs)
        terms, last = {"score": np.zeros(sum(sizes)), "kl": penalty}, np.cumsum(sizes) - 1
        terms["score"][last] = self._scale_scores(np.asarray(batch.scores, dtype=np.float64))
        others = None
        if batch.others_scores is not None:
            others = {name: np.zeros(sum(sizes)) for name in terms}
            others["score"][last] = np.asarray(batch.others_scores) / self._score_divisor
        turns = None if batch.turns is None else np.repeat(np.asarray(batch.turns), sizes)
        episodes, group = np.repeat(np.asarray(batch.episodes), sizes), np.zeros(sum(sizes), dtype=np.int64)
        return Decisions(episode=episodes, terms=terms, group=group, round=turns, value=old.values, others=others)

    def _scale_scores(self, scores: Floats) -> Floats:
        return self.scaling.scale_scores(scores) if self.settings.scale_scores else scores

    @property
    def _score_divisor(self) -> float:
        """Divisor of the scores of this batch; the others' have the same, so that all are in one unit."""
        return self.scaling.divisor if self.settings.scale_scores else 1.0

    def _note(self, batch: PPOBatch, old: OldOutputs) -> None:
        count = len(batch.examples)
        kl = float((old.policy_logprobs - old.reference_logprobs).sum()) / count
        self.last_metrics = {"kl": kl, "kl_coef": self.controller.coefficient, "score": float(np.mean(batch.scores))}
        self.controller.update(kl, count)
        self.num_updates += 1

    def state(self) -> dict[str, Any]:
        """Return the state between batches, without the weights and the optimizer."""
        return {"learnt": self.num_updates, "scores": self.scaling.state(), "kl": self.controller.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.num_updates = state["learnt"]
        self.scaling.restore(state["scores"])
        self.controller.restore(state["kl"])


def old_outputs(learner: Learner, examples: Sequence[Example]) -> OldOutputs:
    """Compute the outputs of the policy and of its reference."""
    policy, reference = learner.outputs(examples), learner.outputs(examples, learner.reference)
    return OldOutputs(_numpy(policy.logprobs), _numpy(reference.logprobs), _numpy(policy.values))


def with_advantages(
    examples: Sequence[Example], old: OldOutputs, estimate: AdvantageEstimate, *, trains_values: bool = True
) -> list[Example]:
    """Add the columns that the loss reads; those of a sampler stay the old log-probabilities of its tokens.

    Without returns the target of the value head is its old value, if it is not trained.
    """
    if estimate.returns is None and trains_values:
        raise BadParameter("This advantage estimator has no returns to train a value head on: take gae.")
    returns = old.values if estimate.returns is None else estimate.returns
    columns = {OLD_LOGPROBS: old.policy_logprobs, "old_value": old.values}
    columns |= {"advantage": estimate.advantage, "return": returns}
    ends = np.cumsum([len(example.loss_positions) for example in examples])[:-1]
    rows = zip(*(np.split(column, ends) for column in columns.values()), strict=True)
    return [
        example.with_columns(
            **{
                name: tuple(part.tolist())
                for name, part in zip(columns, row, strict=True)
                if name != OLD_LOGPROBS or name not in example.columns
            }
        )
        for example, row in zip(examples, rows, strict=True)
    ]


def _numpy(column: torch.Tensor) -> Floats:
    return column.cpu().double().numpy()  # Apple's GPU has no float64
