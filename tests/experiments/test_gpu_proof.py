"""The proof on GPUs, whose steps a processor cannot run: their recipes, their folders, and a second start."""

from itertools import pairwise
from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import read_any
from stratagem.measure.figures.training import TRAINING

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def proof(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import gpu_proof

    return gpu_proof


def test_recipes_of_all_trainings_can_be_composed(proof, monkeypatch):
    monkeypatch.chdir(ROOT)
    trainings = [step.command for step in proof.STEPS.values() if step.folder]
    assert len(trainings) > 5
    for command in trainings:
        recipe = command[command.index("train") + 1]
        settings = [after for word, after in pairwise(command) if word == "--set"]
        read_any([Path(f"recipes/{recipe}.toml")], dict(setting.split("=", 1) for setting in settings))


def test_every_training_has_a_folder_of_its_own(proof):
    folders = [step.folder for step in proof.STEPS.values() if step.folder]
    assert len(set(folders)) == len(folders)


def test_a_training_begins_again_where_it_was_broken_off(proof, tmp_path):
    left = tmp_path / "run"
    left.mkdir()
    program = f"import os, sys; print('[]'); sys.exit(os.path.exists({str(left)!r}))"
    step = proof.ProofStep("claim", ("-c", program), proof.last_line, folder=left)
    assert proof.run_step(step)["error"] == ""


def test_every_metric_that_is_shown_is_one_of_training(proof):
    names = {figure.key.rpartition("/")[2] for figure in TRAINING}
    assert set(proof.METRICS) <= names
