"""Reports of several learners: seeds together, where the trials lie."""

import json
import math

import pytest

from stratagem.algorithms.shapellm.algorithm import ShapeLLMAlgorithm
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.show.reports.outcome_file import unshaped_payoffs
from stratagem.show.reports.report import report_html, tiles
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.sections.outcome import convex_hull, outcome
from stratagem.show.reports.sections.trials import trials
from stratagem.show.reports.siblings import band, runs_by_seed, values_by_step
from stratagem.show.reports.verdict import verdict
from stratagem.training.runs.folder import RunFolder

pytestmark = pytest.mark.runs

RECIPE = {
    "game": "ipd-shapellm(rounds=4)",
    "trials": 3,
    "environments": 2,
    "episodes": 2,
    "final_evaluation": {"episodes": 4, "rounds": [4, 6]},
    "seats": {
        "leader": {"learner": "tabular", "update_every": "trial"},
        "other": {"learner": "tabular", "learning_rate": 5.0},
    },
}


def trained(folder, name, **changes):
    recipe = ShapeLLMRecipe.read({**RECIPE, **changes})
    run = RunFolder.create(folder / name, recipe, recipe.seed, "a test")
    ShapeLLMAlgorithm(recipe, run).train()
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two seeds, a run of another length beside them, and one that has just begun."""
    folder = tmp_path_factory.mktemp("runs")
    found = [trained(folder, f"one-{seed}", seed=seed) for seed in (0, 1)]
    trained(folder, "longer", trials=4)
    recipe = ShapeLLMRecipe.read({**RECIPE, "seed": 2})
    RunFolder.create(folder / "begun", recipe, 2, "a test")
    return found


def test_runs_that_differ_in_the_seed_alone_are_taken_together(runs):
    assert [run.settings["seed"] for run in runs_by_seed(RunData(runs[1]))] == [0, 1]


def test_a_band_is_students_interval():
    """By hand: mean 2, spread 1 over three seeds, 4.302653 / sqrt(3)."""
    low, high = band([1.0, 2.0, 3.0])
    assert (low, high) == pytest.approx((2.0 - 4.302653 / math.sqrt(3.0), 2.0 + 4.302653 / math.sqrt(3.0)))
    assert band([2.0]) == (2.0, 2.0)


def test_only_steps_that_all_have_come_to_are_drawn(runs):
    seen = values_by_step([RunData(run) for run in runs], "leader/payoff")
    assert list(seen) == [1, 2, 3]
    assert all(len(values) == 2 for values in seen.values())


def test_every_seed_has_a_row_and_all_of_them_one(runs):
    page = str(outcome(RunData(runs[0])).html())
    for said in ("4 rounds, seed 0", "4 rounds, seed 1", "4 rounds, all seeds", "6 rounds, seed 1", "leader: reward"):
        assert said in page
    told = json.loads((runs[0].path / "outcome.json").read_text())["rows"][0]["figures"]
    assert f"{told['other/payoff']:.2f}" in page
    assert "other, after C-D" in page
    assert "leader, in the first round" in page
    assert "best memory-one response" in page
    assert "difference to unshaped" not in page, "no run in which all learn every episode lies beside it"
    assert "extortion by 3" in page


def test_a_policy_is_told_with_the_trial_after_which_it_was_measured(tmp_path):
    run = trained(tmp_path, "late")
    lines = [{"step": step, "leader/payoff": 1.0, "other/payoff": 1.0, "leader/first/C-D": value}
             for step, value in ((1, math.nan), (49, 0.25), (60, 0.75))]  # fmt: skip
    (run.path / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    page = str(outcome(RunData(run)).html())
    assert "<td>0.25<small>after trial 49</small></td><td>0.75<small>after trial 60</small></td>" in page
    assert "before training" not in page


def test_trials_are_drawn_with_bands(runs):
    page = str(trials(RunData(runs[0])).html())
    assert "means over the seeds 0, 1 with 95 % bands" in page
    assert page.count("tonexty") >= 2
    for title in ("Reward per step", "Joint actions", "Policy of leader", "Policy of other"):
        assert title in page
    assert "Null actions" not in page, "nobody was ever silent"


def test_the_verdict_and_the_tiles_are_of_the_seats(runs):
    data = RunData(runs[0])
    assert verdict(data)[0].startswith("After training, the mean reward per step in games of 4 rounds is ")
    assert ("seats", "leader (tabular), other (tabular)") in tiles(data)
    assert "model" not in dict(tiles(data))


def test_a_learner_is_held_against_itself_where_nobody_shapes(tmp_path):
    """Only against a run with the same learner in the same place, and never in a run where nobody shapes."""
    seats = RECIPE["seats"]
    shaped = RunData(trained(tmp_path, "shaped"))
    equals = trained(tmp_path, "equals", seats={**seats, "leader": {"learner": "tabular", "learning_rate": 5.0}})
    trained(
        tmp_path,
        "faster",
        seats={"leader": {"learner": "tabular"}, "other": {"learner": "tabular", "learning_rate": 9.0}},
    )
    (tmp_path / "spoilt").mkdir()
    (tmp_path / "spoilt" / "run.json").write_text("{")
    told = json.loads((equals.path / "outcome.json").read_text())["rows"][0]["figures"]
    assert unshaped_payoffs(shaped) == pytest.approx({0: told["leader/payoff"], 1: told["other/payoff"]})
    assert unshaped_payoffs(RunData(equals)) == {}
    page = str(outcome(shaped).html())
    assert "difference to unshaped" in page
    earned = json.loads((shaped.run.path / "outcome.json").read_text())["interest"]["other"]["earned"]
    assert f"{earned - told['other/payoff']:.2f}".removeprefix("-") in page


def test_outcome_without_a_standard_error_has_null_and_a_dash(tmp_path):
    """One game has no standard error, and JSON has no NaN."""
    run = trained(tmp_path, "single", final_evaluation={"episodes": 1})
    written = (run.path / "outcome.json").read_text()
    assert json.loads(written)["rows"][0]["figures"]["other/payoff_error"] is None
    assert "NaN" not in written
    assert " ± \u2013" in str(outcome(RunData(run)).html())


def test_interest_that_was_not_measured_is_a_dash(tmp_path):
    run = trained(tmp_path, "unmeasured")
    data = json.loads((run.path / "outcome.json").read_text())
    data["interest"] = {"other": {"earned": None, "possible": 2.5}}
    (run.path / "outcome.json").write_text(json.dumps(data))
    page = str(outcome(RunData(run)).html())
    assert "<td>\u2013</td><td>2.50</td><td>\u2013</td>" in page


def test_a_run_that_has_just_begun_has_a_page(runs):
    page = report_html(RunFolder(runs[0].path.parent / "begun"))
    assert "No trial has been measured yet" in page


def test_what_is_feasible_is_the_hull_of_the_cells():
    assert sorted(convex_hull([(3, 3), (0, 4), (4, 0), (1, 1), (2, 2)])) == [(0, 4), (1, 1), (3, 3), (4, 0)]
