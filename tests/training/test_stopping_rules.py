"""The stopping rule: it ends training where a validation metric stands still, and a resumed run ends there, too."""

import json

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics
from stratagem.training.stopping import StoppingRule, StoppingSettings

RULE = StoppingSettings(metric="kuhn/exact/exploitability", window=2, tolerance=0.1)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0] * 5, False),  # three windows of two need six
        ([1.0] * 6, True),
        ([9.0, 1.0, 1.0, 1.1, 1.0, 1.0, 1.1], True),  # what is older does not count
        ([1.0, 1.0, 1.2, 1.2, 1.4, 1.4], False),
        ([1.0, 1.0, 1.3, 1.3, 1.0, 1.0], False),  # the ends agree, and the middle does not
        ([0.0, 2.0, 2.0, 0.0, 0.0, 2.0], True),  # noise within a window is averaged
        ([1.0, 1.0, 1.0, 1.0, 1.0, float("nan")], False),
    ],
)
def test_stopping_rule_compares_the_means_of_three_windows(values, expected):
    assert RULE.stands_still(values) is expected


def test_stopping_rule_refuses_a_metric_that_no_validation_has():
    with pytest.raises(UnknownName, match="kuhn/exact/exploitability"):
        StoppingRule(RULE).add({"kuhn/validation/payoff": 0.0})
    StoppingRule(None).add({})


def read(**changes):
    data = {"algorithm": "reinforce", **RECIPES["reinforce"], **changes}
    return algorithm_of(data).recipe_type.read(data)


def test_stop_is_refused_where_the_last_iteration_must_be_known():
    stop = RULE.model_dump()
    optimizer = {"learning_rate": 1e-3, "schedule": "cosine"}
    with pytest.raises(BadParameter, match="schedule"):
        read(stop=stop, reinforce={"optimizer": optimizer})
    with pytest.raises(BadParameter, match="overlap"):
        read(stop=stop, overlap=1)
    league = {"algorithm": "league", **RECIPES["league"], "stop": stop}
    with pytest.raises(BadParameter, match="leave `stop` out"):
        algorithm_of(league).recipe_type.read(league)
    shaping = {"algorithm": "shapellm", **RECIPES["shapellm"], "stop": stop}
    with pytest.raises(BadParameter, match="exact_every"):
        algorithm_of(shaping).recipe_type.read(shaping)


@pytest.mark.runs
def test_run_ends_by_its_stopping_rule_and_is_not_continued(tmp_path):
    stop = {"metric": "kuhn/exact/exploitability", "window": 2, "tolerance": 100.0}
    settings = {**RECIPES["reinforce"]["reinforce"], "iterations": 9}
    recipe = read(exact_budget=40_000, stop=stop, reinforce=settings)
    run = RunFolder.create(tmp_path / "run", recipe, 0, "")
    bound(recipe, run).train()
    curve = read_metrics(run)["kuhn/exact/exploitability"]
    assert curve.steps == [0, 1, 2, 3, 4, 5]
    titles = json.loads((run.path / "evaluation.json").read_text("utf-8"))["rows"].values()
    assert any("step 5" in title for title in titles)
    assert not any("step 9" in title for title in titles)
    before = (run.path / "metrics.jsonl").read_bytes()
    (run.path / "evaluation.json").unlink()
    bound(recipe, run).train()
    assert (run.path / "metrics.jsonl").read_bytes() == before
    assert (run.path / "evaluation.json").is_file()


@pytest.mark.runs
def test_run_that_is_killed_goes_on_to_the_end_of_its_stopping_rule(tmp_path):
    stop = {"metric": "kuhn/exact/exploitability", "window": 2, "tolerance": 100.0}
    settings = {**RECIPES["reinforce"]["reinforce"], "iterations": 9}
    recipe = read(exact_budget=40_000, stop=stop, reinforce=settings)
    whole, killed = (RunFolder.create(tmp_path / name, recipe, 0, "") for name in ("whole", "killed"))
    bound(recipe, whole).train()

    def kill(step, steps, metrics):
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bound(recipe, killed).train(kill)
    bound(recipe, killed).train()
    assert (killed.path / "metrics.jsonl").read_bytes() == (whole.path / "metrics.jsonl").read_bytes()


@pytest.mark.runs
def test_last_trial_is_recorded_where_the_rule_ends_the_trials(tmp_path):
    changes: dict = {"trials": 9, "record_every": 100, "exact_every": 1}
    stop = {"metric": "ipd-shapellm/exact/exploitability", "window": 2, "tolerance": 100.0}
    naive = RECIPES["shapellm"]["seats"]["naive"]
    changes["seats"] = {"one": naive, "other": naive}
    data = {"algorithm": "shapellm", **RECIPES["shapellm"], **changes, "stop": stop}
    recipe = algorithm_of(data).recipe_type.read(data)
    run = RunFolder.create(tmp_path / "run", recipe, 0, "")
    bound(recipe, run).train()
    assert read_metrics(run)["ipd-shapellm/exact/exploitability"].steps == [0, 1, 2, 3, 4, 5]
    assert sorted(path.stem for path in (run.record / "episodes").glob("*.parquet")) == ["000000", "000004"]
