"""Training loop of all algorithms, over their stages.

    for each stage, from the one that the newest checkpoint names:
        for each step:
            for each batch of the step:  record the episodes, update the policy
            validate, act on the step, log the metrics, save a checkpoint if one is due
            end the stage if its stopping rule is met
        save the outcome of the stage
    final evaluation

All randomness follows from the seed and the position in the run, so a killed run that resumes from its newest
checkpoint equals an uninterrupted one.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

from stratagem.base.errors import BadRecord
from stratagem.base.garbage import MemoryReturn, rare_collection
from stratagem.learn.monitor import CheckFailed, Finding, TrainingWarning
from stratagem.playing.records import Episode
from stratagem.playing.store import write_shard
from stratagem.training.runs.binding import other_release
from stratagem.training.runs.checkpoint import Checkpoint, keep, save_checkpoint
from stratagem.training.runs.files import write_file
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog
from stratagem.training.runs.resume import resume
from stratagem.training.stage import MeanMetrics, Metrics, Progress, Stage, no_progress

CHECK = "failed_turn"
"""Name of the finding."""


def report_failed_turns(
    episodes: Iterable[Episode], step: int, findings: dict[str, Any], *, strict: bool = False
) -> Metrics:
    """Add the failed turns of a step to the findings, warn of the first; a strict run stops."""
    failed = [(episode.players[seat], said) for episode in episodes for seat, said in episode.failed_turns()]
    if not failed:
        return {}
    player, said = failed[0]
    sentence = f"{player.rpartition('@')[0]} failed in {len(failed)} turns of a step, the first time with {said}."
    if strict:
        raise CheckFailed(f"{sentence} (check {CHECK})")
    known = findings.get(CHECK)
    if known is None:
        warnings.warn(f"{sentence} (check {CHECK})", TrainingWarning, stacklevel=3)
        findings[CHECK] = asdict(Finding("fault", 1, step, sentence))
    else:
        findings[CHECK] = {**known, "count": known["count"] + 1}
    return {f"checks/{CHECK}": 1.0}


FINDINGS = "findings.json"
"""File of the training monitors' findings."""
NUM_CHECKPOINTS = 2
"""Number of newest checkpoints that are kept beside the best."""


class RunnableAlgorithm(Protocol):
    """Algorithm with its recipe, bound to the folder of a run."""

    recipe: Any
    run: RunFolder
    strict: bool
    """True to stop at the first fault that a check finds."""

    @property
    def num_steps(self) -> int:
        """Number of steps of all stages; 0 if only the stages know it."""
        ...

    def stages(self) -> Sequence[Callable[[], Stage]]:
        """Return functions that make the stages, in order; each loads the outcome of earlier stages."""
        ...


@dataclass
class RunPosition:
    """Position of a run in its stages, with its best checkpoint and findings."""

    stage: int = 0
    step: int = 0
    """Number of finished steps of the stage."""
    before: int = 0
    """Number of steps of earlier stages."""
    best: int | None = None
    """Global step of the best checkpoint."""
    best_score: float = -math.inf
    findings: dict[str, Any] = field(default_factory=dict)
    """Findings of the stages so far."""

    @property
    def total(self) -> int:
        """Global step number, which names metrics, checkpoints and shards."""
        return self.before + self.step

    def update_best(self, score: float | None) -> None:
        """Take the checkpoint of this step as the best if it scores higher; of equals the first is the best."""
        if score is not None and score > self.best_score:
            self.best, self.best_score = self.total, score


def train(algorithm: RunnableAlgorithm, progress: Progress = no_progress) -> None:
    """Begin a run, or continue it from its newest checkpoint."""
    with algorithm.run.at_work(lambda: resume(algorithm.run, algorithm.recipe)) as start:
        keep(algorithm.run, last=NUM_CHECKPOINTS)  # a kill after a save may have left one too many
        with MetricLog(algorithm.run) as log:
            loop = _Loop(algorithm, progress, log)
            stage = loop.train(start)
        stage.final_evaluation(loop.at.best)


class _Loop:
    """A run in progress."""

    def __init__(self, algorithm: RunnableAlgorithm, progress: Progress, log: MetricLog) -> None:
        self.run = algorithm.run
        self.makers = algorithm.stages()
        self.num_steps, self.strict = algorithm.num_steps, algorithm.strict
        self.progress = progress
        self.log = log
        self.at = RunPosition()
        self.return_memory = MemoryReturn()
        self.seconds_between_saves: float = 60 * algorithm.recipe.checkpoint_minutes
        self.saved_at = time.monotonic()

    def train(self, start: Checkpoint | None) -> Stage:
        """Run the remaining stages, and return the last one."""
        saved: Mapping[str, Any] | None = None
        if start is not None:
            saved = start.state()
            self.at = _position(saved, start, self.run)
        while True:
            stage = self.makers[self.at.stage]()
            if start is not None and saved is not None and saved["stage"] is not None:
                stage.restore(saved["stage"], start.folder)
            start = saved = None
            last = self.at.stage == self._last
            self._run(stage)
            if last:
                return stage
            del stage  # its model, before the next stage loads another one

    @property
    def _last(self) -> int:
        return len(self.makers) - 1

    @rare_collection()
    def _run(self, stage: Stage) -> None:
        """Run the remaining steps of a stage; then move the position to the start of the next stage, if any."""
        from stratagem.training.certificate import certify

        at = self.at
        certify(stage.subjects())
        metrics = stage.begin(at.step)
        self.run.add_reading(stage.reading())
        stage.publish(self.run, at.best)
        self._write_findings(stage)
        if metrics and not at.step:
            if failed := stage.failed_validation():
                metrics |= self._failed_turns(failed)
            self.log.write(at.total, metrics)
        steps = range(at.step, at.step if stage.is_settled() else stage.num_steps)
        for step in steps:
            metrics = self._step(stage)
            self.return_memory()
            settled = stage.is_settled()
            # the last step is saved below, after `finish`, as the beginning of the next stage
            if not settled and step + 1 < stage.num_steps and (stage.saves(at.step) or self._is_overdue()):
                self._save(stage)
            self.progress(at.total, self.num_steps, metrics)
            if settled:
                break
        stage.finish(at.total)
        if at.stage < self._last:
            at.stage, at.before, at.step = at.stage + 1, at.total, 0
        if steps:
            self._save(stage)

    def _is_overdue(self) -> bool:
        """Return whether the last checkpoint is so old that a kill would lose too much."""
        return 0 < self.seconds_between_saves <= time.monotonic() - self.saved_at

    def _step(self, stage: Stage) -> Metrics:
        """Run one step: collect, record, update, validate, log."""
        at, means, episodes = self.at, MeanMetrics(), list[Episode]()
        for batch in stage.batches(at.step):
            episodes += batch.episodes
            means.add(batch.metrics)
            if batch.policy is not None:
                means.add(stage.policies[batch.policy].update(batch.data), batch.policy)
        played, number, is_recorded = tuple(episodes), at.total, stage.records(at.step)
        if played and is_recorded:
            write_shard(self.run.record, number, played)
        at.step += 1
        metrics = means.means()
        if stage.evaluates(at.step):
            metrics |= stage.evaluate(at.step)
            episodes += stage.failed_validation()
            if _has_finite_losses(metrics):
                at.update_best(stage.score(metrics))
            elif "checkpoint_metric" in metrics:
                metrics["checkpoint_metric"] = math.nan  # reports take the checkpoint with the greatest as the best
        if played and not is_recorded and stage.is_settled():
            write_shard(self.run.record, number, played)  # only the evaluation tells that this step is the last
        metrics |= self._failed_turns(episodes)
        metrics |= stage.after_step(at.step, metrics)
        self.log.write(at.total, metrics)
        return metrics

    def _failed_turns(self, episodes: Iterable[Episode]) -> Metrics:
        return report_failed_turns(episodes, self.at.total, self.at.findings, strict=self.strict)

    def _save(self, stage: Stage) -> None:
        """Save a checkpoint, and the files that follow from it."""
        at = self.at
        at.findings |= stage.findings()
        needed = at.step > 0 or not stage.saves_outcome  # step 0 is the beginning of the next stage
        state = {"position": asdict(at), "stage": stage.state() if needed else None}
        best = () if at.best is None else (at.best,)
        write = stage.write if needed else None
        save_checkpoint(self.run, at.total, state, best=best, write=write, loose=stage.loose_files())
        keep(self.run, last=NUM_CHECKPOINTS)
        stage.publish(self.run, at.best)
        self._write_findings(stage)
        self.saved_at = time.monotonic()

    def _write_findings(self, stage: Stage) -> None:
        findings = self.at.findings | stage.findings()
        write_file(self.run.path / FINDINGS, json.dumps(findings, indent=1) + "\n")


def _has_finite_losses(metrics: Metrics) -> bool:
    """Return whether the policies of a step can be the best: one without a finite loss has diverged."""
    return all(math.isfinite(value) for name, value in metrics.items() if name.rpartition("/")[2] == "loss")


def _position(saved: Mapping[str, Any], start: Checkpoint, run: RunFolder) -> RunPosition:
    """Return the saved position; checkpoints of releases before 0.2.0 have another state, and are refused."""
    names = {field.name for field in fields(RunPosition)}
    if not isinstance(position := saved.get("position"), dict) or not position.keys() <= names:
        hint = other_release(run).removeprefix("; ")
        raise BadRecord(f"{start.folder} has a state that this release cannot continue{f': {hint}' if hint else ''}.")
    return RunPosition(**position)
