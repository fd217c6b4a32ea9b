"""A run that gives a model target policies: what it leaves, and what a strict one stops at."""

import pytest

from stratagem.algorithms.kl_sft.algorithm import KLSFTAlgorithm, KLSFTRecipe
from stratagem.base.errors import BadParameter
from stratagem.language.models.run_models import read_run_models
from stratagem.learn.learner import StepReport
from stratagem.learn.monitor import CheckFailed, TrainingWarning
from stratagem.training.policy import TrainablePolicy
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

RECIPE = KLSFTRecipe.read(
    {
        "target_policies": [{"policy": "ipd-cooperative", "seat": 0}],
        "kl_sft": {"num_examples": 5, "epochs": 2, "batch_size": 5},
    }
)


def test_it_leaves_a_model_that_others_begin_with(tmp_path):
    run = RunFolder.create(tmp_path / "run", RECIPE, 0, "a test")
    KLSFTAlgorithm(RECIPE, run, strict=True).train()
    assert set(read_run_models(run.path).models) == {"base", "start", "best"}
    assert read_metrics(run)["kl_sft/loss"].steps == list(range(1, RECIPE.steps + 1))


def broken(self, examples):
    return [
        StepReport(
            loss=float("nan"), grad_norm=float("nan"), learning_rate=0.1, num_examples=5, num_tokens=5, num_read=5
        )
    ]


def test_a_strict_one_stops_at_a_loss_that_is_no_number(tmp_path, monkeypatch):
    monkeypatch.setattr(TrainablePolicy, "update_weights", broken)
    run = RunFolder.create(tmp_path / "run", RECIPE, 0, "a test")
    with pytest.raises(CheckFailed, match="not_finite"):
        KLSFTAlgorithm(RECIPE, run, strict=True).train()
    with pytest.warns(TrainingWarning, match="not_finite"):
        KLSFTAlgorithm(RECIPE, run).train()


def test_what_it_leaves_is_held_as_what_it_began_with(tmp_path):
    recipe = RECIPE.model_copy(update={"model": "tiny+dtype=bf16"})
    run = RunFolder.create(tmp_path / "run", recipe, 0, "a test")
    KLSFTAlgorithm(recipe, run, strict=True).train()
    assert read_run_models(run.path).models["start"].model == "dir:base/model+dtype=bf16"


def test_a_model_in_4_bits_is_not_taught():
    with pytest.raises(BadParameter, match="4 bits cannot change itself"):
        KLSFTRecipe.read({**RECIPE.model_dump(), "model": "tiny+4bit"})
