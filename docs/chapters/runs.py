"""Files of a run, their content, and the names of its metrics."""

from __future__ import annotations

from collections.abc import Iterator

from chapters.markdown import code, notes, page, table
from stratagem.learning.monitor import Finding
from stratagem.models.run_models import FILE as MODELS
from stratagem.models.run_models import RunModels, Speaks
from stratagem.reports.report import FILE as REPORT
from stratagem.runs.folder import RunInfo, Status
from stratagem.runs.metrics import FILE as METRICS_FILE
from stratagem.runs.weights import ADAPTERS, MODEL
from stratagem.training.artifacts import BASE
from stratagem.training.evaluation import EVALUATION, POLICIES
from stratagem.training.loop import FINDINGS

STEP = "checkpoints/step-NUMBER"
FILES = {
    "config.toml": ("at the start", "Every setting of the recipe, defaults included."),
    "newest.json": ("every validation", "The step of the newest checkpoint that was saved, by which it is missed."),
    "run.json": ("at the start", "What it was begun with: see [below](#runjson)."),
    "status.json": ("as it changes", "How it stands: running, finished, or failed and why."),
    "lock": ("at the start", "Empty. Whoever is at work on the run holds a lock on it."),
    METRICS_FILE: ("every step", "What was measured, a line of JSON a step: see [below](#metrics)."),
    "events.out.tfevents.NUMBER": (
        "every few seconds",
        "The same for `tensorboard --logdir`. A session writes one with all steps, and empties the one before.",
    ),
    "record/TABLE/NUMBER.parquet": (
        "every iteration",
        "What was played, one shard an iteration, as [Records](records.md) has it.",
    ),
    f"{BASE}/{MODEL}": ("after SFT", "The base after SFT, whole, in transformers' format."),
    f"{BASE}/manifest.json": ("after SFT", "The size and the digest of each of its files."),
    f"{STEP}/{ADAPTERS}/policy": ("every validation", "The trained adapter, as peft keeps it."),
    f"{STEP}/{MODEL}": ("every validation", "In its place where all weights are trained: the whole model."),
    f"{STEP}/{ADAPTERS}/reference": ("every validation", "The moving reference, where there is one."),
    f"{STEP}/state": ("every validation", "The optimizer, the random state, and what the algorithm carries."),
    f"{STEP}/checkpoint.json": (
        "every validation",
        "Its step, which step is best, the recipe's digest, and which shards and metrics count, with digests.",
    ),
    f"{STEP}/manifest.json": ("every validation", "The size and the digest of each of its files."),
    f"{POLICIES}/GAME-NUMBER.json": (
        "every validation",
        "What the policy does in the first situations, where it can say it.",
    ),
    MODELS: ("every validation", "Which models the run holds: see [below](#modelsjson)."),
    FINDINGS: ("every validation", "What the [checks](checks.md) found: see [below](#findingsjson)."),
    EVALUATION: ("at the end", "The final evaluation: base, SFT, best and last, on separate deals."),
    REPORT: ("by `stratagem report`", "The run as one page."),
    "set-aside/NUMBER": (
        "on a resume",
        "What came after the checkpoint that it went on from, and counts no more.",
    ),
}
"""Files of a run's folder: time of writing, and content."""
RUN_METRICS = {
    "sft/loss": "Loss of SFT: nats a token of the demonstrations.",
    "sft/loss/nll": "Negative log-likelihood of the demonstrations, in nats a token.",
    "sft/grad_norm": "L2 norm of its gradient, before clipping.",
    "sft/learning_rate": "Its learning rate.",
    "sft/entropy": "Entropy of the policy, in nats a token.",
    "GAME/pay": "What the rollouts of this iteration earned a round against the train pool, scaled.",
    "GAME/externality": "Their harm to others, where it has a penalty.",
    "GAME/probe/exploit/OPPONENT": "By how much the agent earned less than a passive opponent would have left it.",
    "GAME/probe/collusion/OPPONENT": "How often it colluded, of the rounds that could tell.",
    "GAME/validation/METRIC": "The mean of one of the [metrics](metrics.md) over the validation's deals.",
    "GAME/validation/worst_case": "The best responder's advantage, scaled, where it can be computed.",
    "GAME/exact/exploitability": "NashConv over the number of seats, in the game's own unit.",
    "GAME/exact/worst_advantage": "The best responder's advantage, in the game's own unit.",
    "GAME/illegal_rate": "The share of the validation's decisions in which nothing legal was said.",
    "checkpoint_metric": "Mean over games of the recipe's `checkpoint_metric`; it is highest at the best checkpoint.",
    "loss": "SEPO's loss.",
    "grad_norm": "L2 norm of its gradient, before clipping.",
    "learning_rate": "The learning rate.",
    "entropy": "Entropy of the policy before the step, in nats a token of what it may say.",
    "loss/ratio": "Of the policy to itself before the step, the mean; 1 with one step a batch.",
    "loss/ratio_min": "The least of it.",
    "loss/ratio_max": "The greatest of it.",
    "loss/approx_kl": "How far the policy is from itself before the step, in nats a token.",
    "loss/clip_fraction": "The share of tokens at which the clip took the gradient away.",
    "loss/clip_fraction_low": "Of these, those below.",
    "loss/clip_fraction_high": "And those above.",
    "loss/kl": "How far it is from its reference, by the one-sided charge, in nats a token.",
    "loss/entropy": "Of what might be said, in nats a token.",
    "signal/TERM/dot": "What a term of the reward brings: the product of the gradients of the two halves.",
    "signal/TERM/noise": "What it costs in noise: the sum of their squares.",
    "signal/TERM/ratio": "Twice the first over the second: 1 where the halves agree, about 0 where there is noise.",
    "checks/CHECK": "1 at each step at which the check found something.",
}
"""Every metric of a run of SEPO, by its name; words in capitals stand for names."""
LABELS = {
    "base": "The recipe's model, as it came.",
    "start": "What SEPO began with: the base after SFT, or the same as `base` without one.",
    "best": "The best checkpoint by validation. This is what `run:PATH` means.",
    "last": "The newest checkpoint.",
    "NUMBER": "The checkpoint of that step, counted from the start of the run, SFT included.",
}
SAID = {
    "state": "running, finished or failed.",
    "level": "fault or note.",
    "version": "Of this format.",
    "models": "By label, each a `model` and perhaps an `adapter` on it.",
    "speaks": f"How they play by default: {', '.join(map(code, Speaks.model_fields))}.",
}
"""Of the fields that say nothing of themselves."""


def runs() -> str:
    """The page."""
    return page(
        "Runs",
        "What a run leaves in its folder. [Runs](../explanation/runs.md) explains what is promised about it. A name in "
        "capitals stands for another: `NUMBER` for digits, `GAME` for a game's name.",
        "## Files",
        table(("file or folder", "written", "is"), ((code(name), *told) for name, told in FILES.items())),
        "## Metrics",
        "A line has the `step`, counted over the whole run, and what was measured there. The steps of SFT come "
        "first; the first validation stands at its last step. What is no number is null.",
        table(("metric", "is"), ((code(name), meant) for name, meant in RUN_METRICS.items())),
        "## run.json",
        _fields(RunInfo),
        "## status.json",
        _fields(Status),
        "## models.json",
        "`run:PATH@LABEL` names one of them wherever a player or a model is asked for. Its folders are relative to the "
        "run's, so a run may be moved; what lies outside of the run is not opened at its word.",
        table(("label", "is"), ((code(label), meant) for label, meant in LABELS.items())),
        _fields(RunModels),
        "## findings.json",
        "By the check's name.",
        table(("field", "is"), ((code(name), meant) for name, meant in _noted(Finding))),
    )


def _fields(cls: type) -> str:
    return table(("field", "is"), ((code(name), meant) for name, meant in _noted(cls)))


def _noted(cls: type) -> Iterator[tuple[str, str]]:
    meant = notes(cls)
    for name in cls.__annotations__:
        yield name, SAID.get(name) or meant[name]
