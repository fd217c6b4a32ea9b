"""Files of a run, their content, and the names of its metrics."""

from __future__ import annotations

from collections.abc import Iterator

from chapters.markdown import code, notes, page, table
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.run_models import FILE as MODELS
from stratagem.language.models.run_models import RunModels
from stratagem.learn.monitor import Finding
from stratagem.learn.optimizer_files import STATE
from stratagem.measure.figures.figure import Figure
from stratagem.measure.figures.training import TRAINING
from stratagem.playing.card import FILE as CARD
from stratagem.show.reports.report import FILE as REPORT
from stratagem.training.artifacts import BASE
from stratagem.training.evaluation import EVALUATION, POLICIES
from stratagem.training.loop import FINDINGS
from stratagem.training.runs.folder import RunInfo, Status
from stratagem.training.runs.metrics import FILE as METRICS_FILE
from stratagem.training.runs.trackers.tracks import FILE as TRACKERS
from stratagem.training.runs.weights import ADAPTERS, MODEL

STEP = "checkpoints/step-NUMBER"
FILES = {
    "config.toml": ("at the start", "Every setting of the recipe, defaults included."),
    "newest.json": ("every validation", "Step of the newest saved checkpoint; a missing checkpoint is detected by it."),
    "files/demonstrations.jsonl": ("at the start", "Copy of the file that `sft.file` names."),
    "files/NAME.py": (
        "at the start",
        "Copies of the Python files that the recipe names, and of those that they import.",
    ),
    "run.json": ("at the start", "Recipe digest, seed, command and versions: see [below](#runjson)."),
    "status.json": ("as it changes", "Status: running, finished, interrupted, or failed with the reason."),
    "lock": ("at the start", "Empty. The process that works on the run holds a lock on it."),
    "digests.json": (
        "at the end",
        "Size and SHA-256 of the other files, for `stratagem verify`: [Verify a card](../how-to/verify-a-card.md).",
    ),
    METRICS_FILE: ("every step", "Metrics, one line of JSON per step: see [below](#metrics)."),
    "events.out.tfevents.NUMBER": (
        "every few seconds",
        "The same for `tensorboard --logdir`. Each session writes one file with all steps and empties the earlier one.",
    ),
    TRACKERS: (
        "with `--track`",
        "Id of the run at trackers; page and number of sent lines of each. The folder `wandb` has W&B's own files.",
    ),
    f"record/{CARD}": ("every iteration", "Dataset card, by which `datasets` finds the tables of the record."),
    "record/TABLE/NUMBER.parquet": (
        "every iteration",
        "Episodes, decisions, calls and prompts, one shard per iteration: see [Records](records.md).",
    ),
    "record/timings/NUMBER.parquet": ("every iteration", "Times of the calls. No digest covers them."),
    f"{BASE}/{MODEL}": ("after SFT", "The complete base after SFT, in the format of transformers."),
    f"{BASE}/manifest.json": ("after SFT", "Size and digest of each of its files."),
    f"{STEP}/{ADAPTERS}/policy": ("every validation", "The trained adapter, in the format of peft."),
    f"{STEP}/{MODEL}": (
        "every validation",
        "Instead of the adapter where all weights are trained: the complete model.",
    ),
    f"{STEP}/{ADAPTERS}/reference": ("every validation", "The moving reference policy, where there is one."),
    f"{STEP}/state": ("every validation", "Optimizer, and the state of the algorithm."),
    f"{STEP}/{STATE}": (
        "every validation",
        "Where several devices shard all weights: each one's part of the optimizer's state, which any number reads.",
    ),
    f"{STEP}/checkpoint.json": (
        "every validation",
        "Its step, the best step, the digest of the recipe, and the valid shards and metrics with their digests.",
    ),
    f"{STEP}/manifest.json": ("every validation", "Size and digest of each of its files."),
    f"{POLICIES}/GAME-NUMBER.json": (
        "every validation",
        "Probabilities of the policy in the first situations, where it states them.",
    ),
    MODELS: ("every validation", "Models of the run: see [below](#modelsjson)."),
    FINDINGS: ("every validation", "Findings of the [checks](checks.md): see [below](#findingsjson)."),
    EVALUATION: ("at the end", "The final evaluation: base, SFT, best and last checkpoint, on separate deals."),
    REPORT: ("by `stratagem report`", "The run as one page."),
    "set-aside/NUMBER": (
        "on a resume",
        "Shards and metrics later than the checkpoint of the resume. They no longer count.",
    ),
}
"""Files of a run's folder: time of writing, and content."""
LABELS = {
    "base": "The recipe's model before training.",
    "start": "The model at the start of SEPO: the base after SFT, or `base` without SFT.",
    "best": "The best checkpoint by validation. `run:PATH` is this model.",
    "last": "The newest checkpoint.",
    "NUMBER": "The checkpoint of that step, counted from the start of the run, SFT included.",
}
DESCRIBED = {
    "state": "running, finished, failed or interrupted.",
    "level": "fault or note.",
    "version": "Version of this format.",
    "models": "Models by label: a `model`, and an `adapter` on it where there is one.",
    "speaks": f"Default settings of play: {', '.join(map(code, DecodingSettings.model_fields))}.",
}
"""Meaning of the fields without a note of their own."""


def runs() -> str:
    """The page."""
    return page(
        "Runs",
        "Files in the folder of a run. [Runs](../explanation/runs.md) explains its guarantees. Words in capitals are "
        "placeholders: `NUMBER` for digits, `GAME` for the name of a game.",
        "## Files",
        table(("file or folder", "written", "content"), ((code(name), *told) for name, told in FILES.items())),
        "## Metrics",
        "A line has the `step`, counted over the whole run, and the metrics of that step. The steps of SFT come first. "
        "The first validation is at the last step of SFT. A value that is not a finite number is null.",
        "`sft/` stands before the metrics of SFT, or `sft-NUMBER/` with several bases. The name of a learner stands "
        "before those of a league, of ShapeLLM, or of GRPO with `policies`.",
        table(("metric", "title", "unit", "meaning"), map(_metric, TRAINING)),
        "## run.json",
        _fields(RunInfo),
        "## status.json",
        _fields(Status),
        "## models.json",
        "`run:PATH@LABEL` names one of these models, as a player or as a base. Folders are relative to the run, so a "
        "run may be moved. Paths outside the run are refused. Labels of several learners end with the learner's name, "
        "as `last/NAME`.",
        table(("label", "meaning"), ((code(label), meant) for label, meant in LABELS.items())),
        _fields(RunModels),
        "## findings.json",
        "One entry per check, by its name.",
        table(("field", "meaning"), ((code(name), meant) for name, meant in _noted(Finding))),
    )


def _metric(figure: Figure) -> tuple[str, str, str, str]:
    return code(figure.key), figure.label, figure.unit, figure.explanation


def _fields(cls: type) -> str:
    return table(("field", "meaning"), ((code(name), meant) for name, meant in _noted(cls)))


def _noted(cls: type) -> Iterator[tuple[str, str]]:
    meant = notes(cls)
    for name in cls.__annotations__:
        yield name, DESCRIBED.get(name) or meant[name]
