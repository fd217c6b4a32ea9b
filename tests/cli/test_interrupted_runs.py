"""Interrupted runs: ^C prints how the command continues, and the run says that it can be resumed."""

import json
import shlex

import pytest

from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

ESTIMATOR = """
from dataclasses import dataclass
from stratagem.learn.advantages.base import AdvantageEstimator

@dataclass(frozen=True)
class Interrupts(AdvantageEstimator):
    def estimate(self, decisions, state):
        raise KeyboardInterrupt
"""
RECIPE = """
algorithm = "grpo"
games = ["kuhn(hands=1)"]
validation_episodes = 1
test_episodes = 1
[grpo]
iterations = 1
groups_per_batch = 1
group_size = 2
advantage = "own.py:Interrupts"
"""
SWEEP = """
hypothesis = "It can be interrupted."
metric = "loss"
seeds = [0]
arms = [{ name = "a", recipe = "own.toml" }]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"own.py": ESTIMATOR, "own.toml": RECIPE, "sweep.toml": SWEEP}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_train_prints_how_an_interrupted_run_continues(run, folder):
    code, _, error = run("train", "own.toml", "--out", "my runs/a", "--allow-file", "own.py")
    assert code == 130
    assert error.endswith(f"Interrupted. Continue with: stratagem train {shlex.quote('my runs/a')} --resume")
    status = RunFolder.open(folder / "my runs/a").status()
    assert (status.state, status.sentence) == ("interrupted", "It was interrupted: it can be resumed.")
    assert run("watch", "my runs/a", "--once")[0] == 1
    code, listed, _ = run("runs", "my runs", "--json")
    assert [row["state"] for row in json.loads(listed)] == ["interrupted"]


def test_sweep_prints_how_it_continues(run):
    code, _, error = run("sweep", "sweep.toml", "--out", "out", "--any-tree", "--allow-file", "own.py")
    assert code == 130
    assert error.endswith("Interrupted. The same command goes on with the sweep.")
