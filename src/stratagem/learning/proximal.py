"""Proximal policy optimization, from what was played and what it paid to the steps of the learner.

    fix       log pi, log ref and V of every token, in one pass under the weights that played
    penalty   r_t = score_t / std of all scores so far  -  beta (log pi - log ref)
    estimate  GAE over each episode, whitened over all rows;  R = A + V
    learn     mini-batches in a drawn order, all against the same old log-probabilities and values
    undo      all of it, if what was said has become too unlikely
    adapt     beta, by how far the policy was from the reference

Reference: trl 0.11's PPOTrainer, as ShapeLLM uses it. A row is a token.
What differs: advantages are estimated over all that is handed in, however many batches it makes, and beta adapts once
for all of it; and steps may be undone. The value head begins at 0, and nothing is dropped from what it reads; trl draws
it, and drops a tenth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from pydantic import Field

from stratagem.errors import BadParameter
from stratagem.games.key import Key
from stratagem.learning.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats
from stratagem.learning.advantages.gae import GAE
from stratagem.learning.advantages.whitened import Whitened
from stratagem.learning.example import Example
from stratagem.learning.kl_controller import AdaptiveKLSettings, KLController
from stratagem.learning.learner import OLD_LOGPROBS, Learner, Report
from stratagem.learning.losses.ppo import PPO
from stratagem.learning.minibatches import Batches
from stratagem.learning.optimizer import Snapshot
from stratagem.learning.schedules import Schedule
from stratagem.learning.score_scaling import ScoreScaling
from stratagem.settings import Settings


class PPOSettings(Settings):
    """Settings of proximal policy optimization on a batch of play."""

    replaced: ClassVar[Mapping[str, str]] = {
        "clip": "clip_range",
        "value_clip": "clip_range_value",
        "c_vf": "value_coef",
        "gamma": "discount",
        "lam": "gae_lambda",
        "centre": "advantage_mean_over",
        "least_spread": "advantage_std_floor",
        "kl": "adaptive_kl",
        "farthest": "max_update_kl",
        "entropy": "entropy_coef",
    }

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
    """Coefficient of the entropy bonus, as a schedule over updates."""
    batches: Batches = Batches()
    """Batches and mini-batches."""

    def loss(self, num_updates: int) -> PPO:
        """The loss after learning so often."""
        return PPO(
            clip_range=self.clip_range,
            clip_range_value=self.clip_range_value,
            value_coef=self.value_coef,
            entropy_coef=self.entropy_coef.at(num_updates),
        )

    def advantage_estimator(self) -> AdvantageEstimator:
        """From rewards and values to advantages and returns."""
        mean_over: Literal["batch", "round"] = "round" if self.advantage_mean_over == "turn" else "batch"
        gae = GAE(discount=self.discount, gae_lambda=self.gae_lambda)
        return Whitened(of=gae, mean_over=mean_over, advantage_std_floor=self.advantage_std_floor)


@dataclass(frozen=True)
class PPOBatch:
    """Decisions that are learnt from together, those of an episode in the order of play; discarded ones left out."""

    examples: Sequence[Example]
    """A decision each."""
    episodes: Sequence[int]
    """Of which episode each is: credit flows back within one, so what is to answer for a whole trial has one number."""
    scores: Sequence[float]
    """What each brought."""
    turns: Sequence[int] | None = None
    """At which turn of its episode each was, where turns are compared."""


class OldOutputs(NamedTuple):
    """What was said of each token, [N] each, under the weights that played."""

    policy_logprobs: Floats
    reference_logprobs: Floats
    values: Floats


@dataclass
class PPOLearner:
    """A learner with a value head, and what it carries from batch to batch."""

    learner: Learner
    settings: PPOSettings
    num_updates: int = 0
    """How often it has learnt."""
    last_metrics: Mapping[str, float] = field(default_factory=dict, init=False)
    """What the last batch was like before it was learnt from, and whether what it taught was undone."""

    def __post_init__(self) -> None:
        if self.learner.value_head is None:
            raise BadParameter("Proximal policy optimization needs a learner with a value head.")
        self.controller = KLController(self.settings.adaptive_kl)
        self.scaling = ScoreScaling()

    def learn(self, played: PPOBatch, key: Key) -> Iterator[Report]:
        """Every step in turn; a state is whole before the first and after the last."""
        if not played.examples:
            raise BadParameter("A batch without decisions teaches nothing: leave it out.")
        self.learner.loss = self.settings.loss(self.num_updates)
        said = old_outputs(self.learner, played.examples)
        estimate = self.settings.advantage_estimator()(self._decisions(played, said))
        examples = with_advantages(played.examples, said, estimate)
        before = self.learner.optimizer.snapshot() if self.settings.max_update_kl else None
        for places in self.settings.batches.drawn(len(examples), key):
            yield self.learner.update([examples[place] for place in places])
        self._note(played, said)
        if before is not None:
            self.last_metrics = {**self.last_metrics, "undone": float(self._undone(before, played.examples, said))}

    def _undone(self, before: Snapshot, examples: Sequence[Example], said: OldOutputs) -> bool:
        """Undo what was learnt if it went too far."""
        now = _figures(self.learner.outputs(examples).logprobs)
        moved = float((said.policy_logprobs - now).mean())
        if moved <= self.settings.max_update_kl:
            return False
        self.learner.optimizer.undo(before)
        return True

    def _decisions(self, played: PPOBatch, said: OldOutputs) -> Decisions:
        """A row for each token; a decision's score stands at its last."""
        sizes = [len(example.loss_positions) for example in played.examples]
        penalty = self.controller.penalty(said.policy_logprobs, said.reference_logprobs)
        terms = {"score": np.zeros(sum(sizes)), "kl": penalty}
        terms["score"][np.cumsum(sizes) - 1] = self._scaled(np.asarray(played.scores, dtype=np.float64))
        turns = None if played.turns is None else np.repeat(np.asarray(played.turns), sizes)
        episodes = np.repeat(np.asarray(played.episodes), sizes)
        return Decisions(episode=episodes, terms=terms, round=turns, value=said.values)

    def _scaled(self, scores: Floats) -> Floats:
        return self.scaling.scaled(scores) if self.settings.scale_scores else scores

    def _note(self, played: PPOBatch, said: OldOutputs) -> None:
        count = len(played.examples)
        kl = float((said.policy_logprobs - said.reference_logprobs).sum()) / count
        self.last_metrics = {"kl": kl, "kl_coef": self.controller.coefficient, "score": float(np.mean(played.scores))}
        self.controller.update(kl, count)
        self.num_updates += 1

    def state(self) -> dict[str, Any]:
        """What a later batch depends on, beside the weights and the optimizer."""
        return {"learnt": self.num_updates, "scores": self.scaling.state(), "kl": self.controller.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.num_updates = state["learnt"]
        self.scaling.restore(state["scores"])
        self.controller.restore(state["kl"])


def old_outputs(learner: Learner, examples: Sequence[Example]) -> OldOutputs:
    """One pass of the policy and one of its reference over these examples."""
    policy, reference = learner.outputs(examples), learner.outputs(examples, learner.reference)
    return OldOutputs(_figures(policy.logprobs), _figures(reference.logprobs), _figures(policy.values))


def with_advantages(examples: Sequence[Example], said: OldOutputs, estimate: AdvantageEstimate) -> list[Example]:
    """The examples with the columns that the loss reads."""
    if estimate.returns is None:
        raise BadParameter("This advantage estimator has no returns for a value head to learn: take gae.")
    columns = {OLD_LOGPROBS: said.policy_logprobs, "old_value": said.values}
    columns |= {"advantage": estimate.advantage, "return": estimate.returns}
    ends = np.cumsum([len(example.loss_positions) for example in examples])[:-1]
    rows = zip(*(np.split(column, ends) for column in columns.values()), strict=True)
    return [
        example.with_columns(**{name: tuple(part.tolist()) for name, part in zip(columns, row, strict=True)})
        for example, row in zip(examples, rows, strict=True)
    ]


def _figures(column: torch.Tensor) -> Floats:
    return column.double().cpu().numpy()
