"""`--json` of `train` and `runs`: one value on the output, everything else on the error stream."""

import json

import pytest

from stratagem.api.runs import summary_of
from stratagem.training.runs.folder import RunFolder

RECIPE = """
algorithm = "grpo"
games = ["kuhn(hands=1)"]
evaluate_every = 1
validation_episodes = 1
test_episodes = 1
exact_budget = 40000
[adapter]
rank = 1
[grpo]
iterations = 2
groups_per_batch = 1
group_size = 2
signal_every = 0
"""


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipe") / "r.toml"
    path.write_text(RECIPE)
    return path


@pytest.mark.runs
def test_train_prints_its_summary_as_one_json_object(run, recipe, tmp_path):
    status, printed, _ = run("train", recipe, "--out", tmp_path / "runs" / "one", "--json")
    told = json.loads(printed)
    assert (status, told["run"], told["state"], told["step"], told["algorithm"]) == (0, "one", "finished", 2, "grpo")
    exact = told["figures"]["kuhn/exact/exploitability"]
    assert set(exact) == {"first", "last", "best"}
    assert exact["last"] == told["exploitability"]["kuhn"]
    assert told["best_step"] in (0, 1, 2)

    damaged = RunFolder(tmp_path / "runs" / "two")
    damaged.path.mkdir()
    (damaged.path / "run.json").write_text("{")
    status, printed, said = run("runs", tmp_path / "runs", "--json")
    one, two = json.loads(printed)
    assert status == 0
    assert one == {key: value for key, value in told.items() if key != "figures"}
    assert (two["run"], two["state"]) == ("two", "damaged")
    assert "run.json" in two["sentence"]
    assert "run.json" not in said, "the sentence stands in the data"


def test_summary_has_no_sft_metric_at_the_best_checkpoint(tmp_path):
    run = RunFolder(tmp_path)
    rows = [{"step": 1, "sft/loss": 4.0}, {"step": 2, "sft/loss": 2.0}, {"step": 3, "kuhn/payoff": 0.5}]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "models.json").write_text(json.dumps({"models": {name: {"base": "tiny"} for name in ("best", "3")}}))
    figures = summary_of(run)
    assert figures["sft/loss"] == {"first": 4.0, "last": 2.0, "best": None}
    assert figures["kuhn/payoff"] == {"first": 0.5, "last": 0.5, "best": 0.5}


def test_summary_has_the_pay_of_one_step_only_where_no_validation_measures_it(tmp_path):
    rows = [{"step": 1, "a/payoff": 0.5, "b/payoff": 0.5, "a/validation/payoff": 0.25}]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert sorted(summary_of(RunFolder(tmp_path))) == ["a/validation/payoff", "b/payoff"]


def test_a_dry_run_prints_the_resolved_recipe_as_json(run, recipe):
    told = json.loads(run("train", recipe, "--dry-run", "--json")[1])
    assert told["grpo"]["iterations"] == 2
    assert told["seed"] == 0


def test_an_empty_folder_has_no_runs(run, tmp_path):
    assert json.loads(run("runs", tmp_path, "--json")[1]) == []
    assert f"There are no runs in {tmp_path}: name the folder that" in run("runs", tmp_path)[1]
