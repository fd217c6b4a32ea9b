"""Stage that trains the meta-policies of M-FOS seats before the trials; a step is a generation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from stratagem.algorithms.shapellm.shapers.mfos import MetaLearner
from stratagem.errors import BadRecord
from stratagem.files import parse_json, read_small, reason, write_file
from stratagem.runs.folder import RunFolder
from stratagem.training.stage import Batch, Stage, State

META_POLICIES = "meta_policies.json"
"""File of the weights of trained meta-policies, by seat."""


class MetaStage(Stage):
    """Training of all meta-policies of a run in simulated meta-episodes."""

    saves_outcome = True

    def __init__(self, learners: Mapping[str, MetaLearner], run: RunFolder, save_every: int) -> None:
        """`save_every` is the number of generations between two checkpoints."""
        self.learners = learners
        self.policies = {f"meta/{name}": learner for name, learner in learners.items()}
        self.run = run
        self.save_every = save_every
        self.num_steps = max(learner.settings.generations for learner in learners.values())

    def batches(self, step: int) -> Iterator[Batch]:
        for name, learner in self.learners.items():
            if step < learner.settings.generations:
                yield Batch(policy=f"meta/{name}", data=step)

    def saves(self, step: int) -> bool:
        return not step % self.save_every

    def finish(self, step: int) -> None:
        weights = {name: learner.weights.tolist() for name, learner in self.learners.items()}
        write_file(self.run.path / META_POLICIES, json.dumps(weights) + "\n")

    def state(self) -> dict[str, Any]:
        return {name: learner.state() for name, learner in self.learners.items()}

    def restore(self, state: State, folder: Path) -> None:
        for name, learner in self.learners.items():
            learner.restore(state[name])


def meta_policies(run: RunFolder) -> dict[str, Tensor]:
    """Return the weights of the run's trained meta-policies by seat; none before they are trained."""
    path = run.path / META_POLICIES
    if not path.is_file():
        return {}
    try:
        weights = parse_json(read_small(path))
        return {name: torch.tensor(row, dtype=torch.float64) for name, row in weights.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadRecord(f"The meta-policies {path} cannot be read: {reason(error)}.") from error
