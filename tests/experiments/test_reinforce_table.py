"""The comparison of REINFORCE with GRPO: equal episodes, steps and losses, and a table of declared tests."""

import json
from operator import itemgetter
from pathlib import Path

import pytest
import reinforce
from result_tables import read_results
from synthetic_runs import synthetic_run

from stratagem.training.runs.config_file import recipe_digest

ROOT = Path(__file__).resolve().parents[2]


def recipes(game):
    return {run.name: run.recipe() for run in reinforce.runs(Path("runs/reinforce"), game, range(1))}


@pytest.mark.parametrize("game", reinforce.SHORT)
def test_both_arms_have_the_same_budget_loss_and_start(game, monkeypatch):
    monkeypatch.chdir(ROOT)
    by_name = recipes(game)
    own, other = by_name[f"{game}-reinforce-0"], by_name[f"{game}-grpo-0"]
    assert own.reinforce.episodes_per_batch == other.grpo.groups_per_batch * other.grpo.group_size
    for name in ("iterations", "optimizer_steps", "loss", "optimizer"):
        assert getattr(own.stage, name) == getattr(other.stage, name), name
    for name in ("games", "model", "style", "temperature", "opponents", "adapter", "sft_steps", "test_episodes"):
        assert getattr(own, name) == getattr(other, name), name
    assert own.sft_steps == 0
    assert by_name[f"{game}-sft"].sft_steps > 0


@pytest.mark.parametrize("game", reinforce.SHORT)
def test_the_rloo_arm_differs_in_the_advantage_alone(game, monkeypatch):
    monkeypatch.chdir(ROOT)
    by_name = recipes(game)
    own, other = (by_name[f"{game}-{arm}-0"].model_dump(mode="json") for arm in ("reinforce", "rloo"))
    assert own["reinforce"].pop("advantage") != other["reinforce"].pop("advantage")
    assert own == other


def rows(arm, values):
    seeds = zip(reinforce.SEEDS, values, strict=False)
    return [{"game": "kuhn", "arm": arm, "seed": seed, "exploitability": value} for seed, value in seeds]


def test_tests_pair_runs_of_one_seed_and_count_what_was_not_run():
    (row,) = reinforce.tested(rows("reinforce", [0.1, 0.2, 0.3]) + rows("grpo", [0.2, 0.4, 0.6, 0.9]))
    assert (row["game"], row["metric"], row["control"]) == ("kuhn", "exploitability", "grpo")
    assert row["seeds"] == list(reinforce.SEEDS[:3])
    assert row["means"] == pytest.approx([0.2, 0.4])
    assert row["difference"] == pytest.approx(-0.2)
    assert row["p"] == pytest.approx(0.25)  # two of eight sign patterns
    assert row["p (Holm)"] == 1.0  # of six tests
    assert row["detectable"] is None  # three seeds cannot show a p below 5 %
    assert reinforce.tested(rows("grpo", [0.2, 0.4])) == []


def test_seeds_that_were_not_declared_are_not_tested():
    seen = [{"game": "kuhn", "arm": arm, "seed": 0, "exploitability": 0.1} for arm in ("reinforce", "grpo")]
    one = rows("reinforce", [0.1]) + rows("grpo", [0.2])
    assert reinforce.tested(seen + one) == []


def test_table_writes_every_finished_run_with_its_provenance(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reinforce, "OUT", tmp_path / "out.json")
    for seed in (5, 6):
        for arm, value in (("reinforce", 0.1 * seed), ("rloo", 0.5)):
            curve = [{"kuhn/exact/exploitability": figure} for figure in (0.9, value)]
            synthetic_run(tmp_path, f"kuhn-{arm}-{seed}", curve)
    synthetic_run(tmp_path, "kuhn-sft")
    synthetic_run(tmp_path, "kuhn-grpo-5", [{"kuhn/exact/exploitability": 0.1}], over=False)
    reinforce.table(tmp_path)
    data = json.loads((tmp_path / "out.json").read_text())
    assert [(row["arm"], row["seed"]) for row in data["runs"]] == [
        ("reinforce", 5), ("reinforce", 6), ("rloo", 5), ("rloo", 6),
    ]  # fmt: skip
    assert data["runs"][0] == {
        "game": "kuhn",
        "arm": "reinforce",
        "seed": 5,
        "exploitability": 0.5,
        "exploitability at the start": 0.9,
        "commit": "c" * 40,
        "command": "stratagem train kuhn-reinforce-5",
        "dirty": False,
        "recipe": recipe_digest({}),
    }
    assert set(data) == {"made by", "tests", "runs"}
    printed = capsys.readouterr().out
    assert "| kuhn | exploitability | rloo | 2 | 0.550 | 0.500 | +0.050 ± 0.050 | 1.000 | 1.000 |" in printed


def test_table_keeps_the_stored_runs_where_the_folder_has_none(tmp_path, monkeypatch):
    stored = ROOT / "docs/results/reinforce.json"
    out = tmp_path / "out.json"
    out.write_bytes(stored.read_bytes())
    monkeypatch.setattr(reinforce, "OUT", out)
    reinforce.table(tmp_path / "runs")
    kept, known = read_results(out)["runs"], read_results(stored)["runs"]
    assert sorted(kept, key=itemgetter("command")) == sorted(known, key=itemgetter("command"))


def test_win_rates_are_told_apart_by_opponent(tmp_path):
    row = {"player": "run:.@60", "opponents": [{"opponent": "random", "win_rate": {"mean": 0.75}}]}
    data = {
        "rows": {"run:.@60": "GRPO, last (step 60)"},
        "evaluation": {"games": [{"players": [row, {"player": "random"}]}]},
    }
    (tmp_path / "evaluation.json").write_text(json.dumps(data))
    assert reinforce.figures(tmp_path, "tic-tac-toe") == {"win rate against random": 0.75}
