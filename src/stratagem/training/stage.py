"""Stage of a training run: a fixed number of steps, each of which collects batches and updates policies.

Supervised fine-tuning, rollouts of SEPO and GRPO, trials of ShapeLLM, interaction and refinement of SCO-PAL, and
iterations of a league are stages. The loop (`training/loop.py`) uses nothing else of an algorithm.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from stratagem.language.engines.base import TrainableEngine
from stratagem.language.models.adapters import adapter_parameters
from stratagem.language.models.language_model import LanguageModel
from stratagem.playing.records import Episode
from stratagem.training.runs.folder import RunFolder

if TYPE_CHECKING:
    import torch

__all__ = ["Metrics", "Progress", "Stage", "State", "Trainable", "TrainingBatch", "no_progress"]

Metrics = dict[str, float]
State = Mapping[str, Any]
Progress = Callable[[int, int, Mapping[str, float]], None]
"""Callback after every step, with its number, the number of all steps (0: unknown), and its metrics."""


def no_progress(step: int, steps: int, metrics: Mapping[str, float]) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class TrainingSubject:
    """Engine, the learner's model, and the weights that are trained."""

    engine: TrainableEngine
    lm: LanguageModel
    adapter: str
    """Trained adapter; empty where all weights of the base are trained."""
    publish: Callable[[], None]
    """Give the engine the present weights."""
    policy: str = ""
    """Name of the policy, for sentences; empty where there is one without a name."""

    @property
    def weights(self) -> list[torch.Tensor]:
        """The trained weights."""
        return adapter_parameters(self.lm, self.adapter) if self.adapter else list(self.lm.model.parameters())


class Trainable(Protocol):
    """Policy that can be updated: a language model, an adapter on one, or a table."""

    def update(self, data: Any) -> Metrics:
        """Take the optimizer steps of one batch."""
        ...

    def findings(self) -> Mapping[str, Any]:
        """Findings of its training monitor, by check."""
        ...

    def reading(self) -> Mapping[str, str]:
        """Sentence by component (rollouts, training): whether its model shares prefixes of texts, and why."""
        ...

    @property
    def subject(self) -> TrainingSubject | None:
        """Its engine and model, which are compared before it is trained; None without an engine."""
        ...


@dataclass(frozen=True)
class TrainingBatch:
    """Episodes, and the data that one policy is updated on."""

    episodes: Sequence[Episode] = ()
    policy: str | None = None
    """Name of the policy to update; None where the batch is only recorded."""
    data: Any = None
    """Training data, in the form that the policy takes."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Metrics of the episodes."""


class Stage:
    """Base class of stages; a subclass defines `batches`, and overrides the hooks that it needs."""

    num_steps: int
    policies: Mapping[str, Trainable]
    """Trained policies; the name is the prefix of their metrics, and may be empty."""
    saves_outcome = False
    """True if `finish` saves the outcome as an artifact, so that no later step needs the weights."""

    def begin(self, step: int) -> Metrics:
        """Prepare to continue from a step; before the first one, return metrics of the initial policy."""
        return {}

    def batches(self, step: int) -> Iterator[TrainingBatch]:
        """Yield the batches of a step; the policy is updated after each, so it plays the next one updated."""
        raise NotImplementedError

    def evaluates(self, step: int) -> bool:
        """True if validation is due after `step` steps."""
        return False

    def evaluate(self, step: int) -> Metrics:
        """Return validation metrics after `step` steps."""
        return {}

    def failed_validation(self) -> Sequence[Episode]:
        """Return the episodes of the latest validation with a turn at which a player failed."""
        return ()

    def is_settled(self) -> bool:
        """True if the stage ends before its last step, by a stopping rule."""
        return False

    def after_step(self, step: int, metrics: Mapping[str, float]) -> Metrics:
        """Act on the metrics of a finished step, and return further metrics; `step` steps are finished."""
        return {}

    def score(self, metrics: Mapping[str, float]) -> float | None:
        """Return the score by which the best checkpoint is chosen; None if no best one is."""
        return None

    def records(self, step: int) -> bool:
        """True if the episodes of a step are recorded."""
        return True

    def saves(self, step: int) -> bool:
        """True if a checkpoint is due after `step` steps; the last step always has one."""
        return False

    def finish(self, step: int) -> None:
        """Save the outcome, after the last step of the stage (global number); may be repeated after a kill."""

    def publish(self, run: RunFolder, best: int | None) -> None:
        """Write the files that follow from a checkpoint, such as the list of models."""

    def findings(self) -> dict[str, Any]:
        """Return the findings of all monitors, by policy and check."""
        return {
            f"{name}/{check}" if name else check: finding
            for name, policy in self.policies.items()
            for check, finding in policy.findings().items()
        }

    def reading(self) -> dict[str, str]:
        """Return how the policies' models read texts, by policy and component."""
        return {
            f"{name}/{component}" if name else component: sentence
            for name, policy in self.policies.items()
            for component, sentence in policy.reading().items()
        }

    def subjects(self) -> list[TrainingSubject]:
        """Return the engines and models that are compared before the stage plays."""
        return [policy.subject for policy in self.policies.values() if policy.subject is not None]

    def state(self) -> dict[str, Any]:
        """All that a later step depends on, except weights."""
        return {}

    def restore(self, state: State, folder: Path) -> None:
        """Continue from a state and the weights in the folder of its checkpoint."""

    def write(self, folder: Path) -> None:
        """Write the weights into the folder of a checkpoint."""

    def loose_files(self) -> Sequence[str]:
        """Files of a checkpoint that users may edit."""
        return ()

    def final_evaluation(self, best: int | None) -> None:
        """Evaluate the trained policies; an existing evaluation is kept."""


class MeanMetrics:
    """Means of metrics over the batches of a step, by name."""

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = defaultdict(list)

    def add(self, metrics: Mapping[str, float], prefix: str = "") -> None:
        """Add the metrics of a batch or of an update."""
        for name, value in metrics.items():
            self._values[f"{prefix}/{name}" if prefix else name].append(value)

    def means(self) -> Metrics:
        """Return the means, in the order of the names' first occurrence."""
        return {name: math.fsum(values) / len(values) for name, values in self._values.items()}
