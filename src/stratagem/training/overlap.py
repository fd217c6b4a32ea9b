"""Overlap of rollouts and learning: the rollouts of step k + 1 are collected while the policy is updated on step k.

They are sampled by the policy before update k, from a copy of its adapter. So every step but the first learns from
rollouts that are one update old, whatever the number of workers, and the result is the same to the bit. The ratio of
the loss is taken to the probabilities of the sampler. (One step of asynchrony, as in Noukhovitch et al. 2024,
"Asynchronous RLHF".)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from stratagem.learning.backward import OLD_LOGPROBS
from stratagem.models.adapters import averaged, copied
from stratagem.players.model_player import ModelPlayer
from stratagem.training.collector import RolloutBatch
from stratagem.training.policy import TrainablePolicy
from stratagem.workers.plan import current

AHEAD = "ahead"
"""Adapter that samples the rollouts of the next step."""


class Overlap:
    """Collection of the next step's rollouts beside the update on this step's."""

    def __init__(self, policy: TrainablePolicy, num_steps: int) -> None:
        self._policy = policy
        self._num_steps = num_steps
        copied(policy.lm, policy.name, AHEAD)
        policy.followers = (AHEAD,)
        self.player: ModelPlayer = replace(policy.player, speaker=replace(policy.player.speaker, adapter=AHEAD))
        """Player of the rollouts."""
        self._thread = ThreadPoolExecutor(1, "rollouts")
        self._pending: Future[RolloutBatch] | None = None
        self._before: list[dict[str, Any]] | None = None
        """State of the collectors before the rollouts that are being collected; None before the first."""

    def take(
        self, step: int, collect: Callable[[int], RolloutBatch], state: Callable[[], list[dict[str, Any]]]
    ) -> RolloutBatch:
        """Return the rollouts of a step, and begin to collect those of the next one by the present policy."""
        if self._pending is None:
            self._begin(step, collect)
        assert self._pending is not None
        batch, self._pending = self._pending.result(), None
        staleness = self._policy.learner.optimizer.steps_taken - self._policy.engine.version(AHEAD)
        self._before = state()
        self._follow()
        if step + 1 < self._num_steps:
            self._begin(step + 1, collect)
        metrics = batch.metrics | {"overlap/staleness": float(staleness)}
        return replace(batch, examples=with_sampler_logprobs(batch.examples), metrics=metrics)

    def _begin(self, step: int, collect: Callable[[int], RolloutBatch]) -> None:
        self._pending = self._thread.submit(collect, step)
        if not current().workers.separate:
            self.wait()  # in one process the engine and the learner share the model

    def _follow(self) -> None:
        """Give the sampler the present weights."""
        averaged(self._policy.lm, AHEAD, self._policy.name, 0.0)
        self._policy.engine.publish(AHEAD, self._policy.learner.optimizer.steps_taken)

    def state(self, collected: Callable[[], list[dict[str, Any]]]) -> dict[str, Any]:
        """Return the state for a checkpoint: that before the pending rollouts, which a resumed run collects again."""
        self.wait()
        before = collected() if self._before is None else self._before
        return {"collectors": before, "ahead": self._policy.engine.version(AHEAD)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a checkpoint; the weights of the sampler are restored with those of the policy."""
        self._before = list(state["collectors"])
        self._policy.engine.publish(AHEAD, state["ahead"])

    def wait(self) -> None:
        """Wait until the pending rollouts are there; an error is raised when they are taken."""
        if self._pending is not None:
            self._pending.exception()


def with_sampler_logprobs(examples: Sequence[Any]) -> list[Any]:
    """Take the sampler's log-probabilities as the old ones, to which the loss takes its ratio."""
    return [example.with_columns(**{OLD_LOGPROBS: example.columns["sampler_logprobs"]}) for example in examples]
