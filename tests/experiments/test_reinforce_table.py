"""The comparison of REINFORCE with GRPO: equal episodes, steps and losses, and a table of declared tests."""

import json
from pathlib import Path

import pytest
import reinforce

from stratagem.algorithms.catalogue import read_any

ROOT = Path(__file__).resolve().parents[2]


def recipes(game):
    return {
        run.name: read_any(run.recipes, run.changes) for run in reinforce.runs(Path("runs/reinforce"), game, range(1))
    }


@pytest.mark.parametrize("game", reinforce.SHORT)
def test_both_arms_have_the_same_budget_loss_and_start(game, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = recipes(game)
    own, other = found[f"{game}-reinforce-0"], found[f"{game}-grpo-0"]
    assert own.reinforce.episodes_per_batch == other.grpo.groups_per_batch * other.grpo.group_size
    for name in ("iterations", "optimizer_steps", "loss", "optimizer"):
        assert getattr(own.stage, name) == getattr(other.stage, name), name
    for name in ("games", "model", "style", "temperature", "opponents", "adapter", "sft_steps", "test_episodes"):
        assert getattr(own, name) == getattr(other, name), name
    assert own.sft_steps == 0
    assert found[f"{game}-sft"].sft_steps > 0


@pytest.mark.parametrize("game", reinforce.SHORT)
def test_the_rloo_arm_differs_in_the_advantage_alone(game, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = recipes(game)
    own, other = (found[f"{game}-{arm}-0"].model_dump(mode="json") for arm in ("reinforce", "rloo"))
    assert own["reinforce"].pop("advantage") != other["reinforce"].pop("advantage")
    assert own == other


def rows(arm, values):
    seeds = zip(reinforce.SEEDS, values, strict=False)
    return [{"game": "kuhn", "arm": arm, "seed": seed, "exploitability": value} for seed, value in seeds]


def test_runs_of_one_seed_are_compared():
    found = reinforce.compared(
        rows("reinforce", [0.1, 0.2, 0.3]) + rows("grpo", [0.2, 0.4, 0.6, 0.9]), "kuhn", "exploitability", "grpo"
    )
    assert found["seeds"] == list(reinforce.SEEDS[:3])
    assert found["difference"] == pytest.approx(-0.2)
    assert found["p"] == pytest.approx(0.25)  # two of eight sign patterns
    assert reinforce.compared(rows("grpo", [0.2, 0.4]), "kuhn", "exploitability", "grpo") is None


def test_win_rates_are_told_apart_by_opponent(tmp_path):
    row = {"player": "run:.@60", "opponents": [{"opponent": "random", "win_rate": {"mean": 0.75}}]}
    told = {"rows": {"run:.@60": "GRPO, last (step 60)"}, "evaluation": {"games": [{"players": [row]}]}}
    (tmp_path / "evaluation.json").write_text(json.dumps(told))
    assert reinforce.figures(tmp_path, "tic-tac-toe") == {"win rate against random": 0.75}
