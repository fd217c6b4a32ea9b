"""A stage of a training run: a fixed number of steps, in each of which batches are collected and policies updated.

Supervised fine-tuning, rollouts of SEPO and GRPO, trials of ShapeLLM, play and refinement of SCO-PAL, and rounds of a
league are stages. The loop (`training/loop.py`) drives them and knows nothing else of an algorithm.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from stratagem.play.records import Episode
from stratagem.runs.folder import RunFolder

Metrics = dict[str, float]
State = Mapping[str, Any]
Progress = Callable[[int, int, Mapping[str, float]], None]
"""Called after every step: with its number, the number of all steps (0: unknown), and its metrics."""


def no_progress(step: int, steps: int, metrics: Mapping[str, float]) -> None:
    """Report nothing."""


class Trainable(Protocol):
    """A policy that can be updated: a language model, an adapter on one, or a table."""

    def update(self, data: Any) -> Metrics:
        """Take the optimizer steps of one batch."""
        ...

    def findings(self) -> Mapping[str, Any]:
        """Findings of its training monitor, by check."""
        ...


@dataclass(frozen=True)
class Batch:
    """Episodes that were played, and the data that one policy is updated on."""

    episodes: Sequence[Episode] = ()
    policy: str | None = None
    """Name of the policy to update; None where the batch is only recorded."""
    data: Any = None
    """Training data, in the form that the policy takes."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Metrics of the play."""


class Stage:
    """Defaults of a stage; a subclass has `batches`, and overrides what differs."""

    num_steps: int
    policies: Mapping[str, Trainable]
    """The policies that learn; the name is the prefix of their metrics, and may be empty."""
    saves_outcome = False
    """Whether `finish` leaves the outcome as an artifact of its own, so that no later step needs the weights."""

    def begin(self, step: int) -> Metrics:
        """Prepare to go on from a step; before the first one, return metrics of what the stage starts from."""
        return {}

    def batches(self, step: int) -> Iterator[Batch]:
        """Batches of a step; resumed after each update, so a later batch is played by the updated policy."""
        raise NotImplementedError

    def evaluates(self, step: int) -> bool:
        """Whether the policy is validated after so many steps."""
        return False

    def evaluate(self, step: int) -> Metrics:
        """Validation metrics after so many steps."""
        return {}

    def after_step(self, step: int, metrics: Mapping[str, float]) -> Metrics:
        """Act on a step that is over, given its metrics, after so many steps."""
        return {}

    def score(self, metrics: Mapping[str, float]) -> float | None:
        """Score by which the best checkpoint is chosen; None where no checkpoint is."""
        return None

    def records(self, step: int) -> bool:
        """Whether the episodes of a step are recorded."""
        return True

    def saves(self, step: int) -> bool:
        """Whether a checkpoint is due after so many steps; one is saved after the last in any case."""
        return False

    def finish(self, step: int) -> None:
        """Save the outcome, after the last step of the stage (global number); may be repeated after a kill."""

    def publish(self, run: RunFolder, best: int | None) -> None:
        """Write the files beside a checkpoint that follow from it, such as the list of models."""

    def findings(self) -> dict[str, Any]:
        """Findings of all monitors, by policy and check."""
        return {
            f"{name}/{check}" if name else check: finding
            for name, policy in self.policies.items()
            for check, finding in policy.findings().items()
        }

    def state(self) -> dict[str, Any]:
        """All that a later step depends on, except weights."""
        return {}

    def restore(self, state: State, folder: Path) -> None:
        """Continue from a state and the weights in the folder of its checkpoint."""

    def write(self, folder: Path) -> None:
        """Write the weights into the folder of a checkpoint."""

    def loose_files(self) -> Sequence[str]:
        """Files of a checkpoint that people may edit."""
        return ()

    def final_evaluation(self, best: int | None) -> None:
        """Evaluate what was trained, once; an evaluation that is there already stays."""


class MeanMetrics:
    """Means over the batches of a step, by name."""

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = defaultdict(list)

    def add(self, metrics: Mapping[str, float], prefix: str = "") -> None:
        """Add the metrics of a batch or of an update."""
        for name, value in metrics.items():
            self._values[f"{prefix}/{name}" if prefix else name].append(value)

    def means(self) -> Metrics:
        """The means, in the order in which the names came up."""
        return {name: math.fsum(values) / len(values) for name, values in self._values.items()}
