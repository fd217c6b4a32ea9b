"""A run that gives a model first policies and does nothing else: other runs begin with `run:PATH@start`."""

from __future__ import annotations

from stratagem.algorithms.kl_sft import KLSFTRecipe, kl_sft
from stratagem.algorithms.own_base import BASE
from stratagem.algorithms.progress import Progress, nobody
from stratagem.learning.checks import CHECKS, StepContext
from stratagem.learning.monitor import TrainingMonitor
from stratagem.models.load import load
from stratagem.models.reference import parse_model
from stratagem.models.run_models import RunModel, RunModels, Speaks, outside, write_run_models
from stratagem.runs.files import new_folder
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import MetricLog
from stratagem.runs.resume import resume
from stratagem.runs.weights import MODEL, sealed, writes_model

LOOKED_FOR = {name: CHECKS[name] for name in ("not_finite", "no_gradient")}
"""What can go wrong here; the other checks are for policies that are sampled."""


class KLSFTTrainer:
    """One run of one recipe; it takes a minute, so one that was broken off begins again."""

    def __init__(
        self, recipe: KLSFTRecipe, run: RunFolder, progress: Progress = nobody, *, strict: bool = False
    ) -> None:
        """`strict` stops at what a check finds; by default it is warned of once."""
        self.recipe = recipe
        self.run = run
        self.progress = progress
        self.monitor = TrainingMonitor(strict=strict)

    def train(self) -> None:
        """Learn the aims, and keep the model."""
        with self.run.at_work():
            if (self.run.path / BASE).is_dir():
                return
            resume(self.run, self.recipe)
            lm = load(self.recipe.model)
            with MetricLog(self.run) as log:
                for step, report in enumerate(kl_sft(lm, self.recipe), 1):
                    self.monitor.check(StepContext(step=step - 1, report=report, examples=()), LOOKED_FOR)
                    figures = {
                        "kl_sft/loss": report.loss,
                        "kl_sft/grad_norm": report.grad_norm,
                        "kl_sft/learning_rate": report.learning_rate,
                    }
                    log.write(step, figures)
                    self.progress(step, self.recipe.steps, figures)
            new_folder(self.run.path / BASE, sealed(writes_model(lm)))
            start = RunModel(model=f"dir:{BASE}/{MODEL}{parse_model(self.recipe.model).options}")
            speaks = Speaks(mode="single", style="shapellm-state")
            models = {"base": RunModel(model=outside(self.recipe.model)), "start": start, "best": start}
            write_run_models(self.run.path, RunModels(models=models, speaks=speaks))
