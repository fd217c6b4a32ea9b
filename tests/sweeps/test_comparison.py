"""Arms are compared seed by seed: intervals, corrected orders, and runs that do not count."""

import json
import math

import pytest
from measured_runs import measured, plan_of

from stratagem.measure.statistics import with_interval
from stratagem.show.reports.sweep_page import comparison_page
from stratagem.sweeps.comparison import compare_runs

pytestmark = pytest.mark.runs


def test_the_interval_is_students():
    """Of 1, 2, 3: mean 2, s = 1, t(2) = 4.303, so 2 +- 2.484."""
    found = with_interval([1.0, 2.0, 3.0])
    assert (found.low, found.high) == (pytest.approx(2 - 2.484, abs=1e-3), pytest.approx(2 + 2.484, abs=1e-3))
    assert with_interval([1.0]).low is None


@pytest.mark.parametrize(
    ("a", "b", "direction", "word"),
    [
        ([1.0, 2.0, 3.0], [0.0, 1.1, 2.0], "maximize", "supported"),
        ([1.0, 2.0, 3.0], [0.0, 1.1, 2.0], "minimize", "contradicted"),
        ([1.0, 2.0, 3.0], [2.0, 1.0, 3.0], "maximize", "undecided"),
        ([1.0], [0.0], "maximize", "undecided"),
        ([1.0, 2.0, 3.0], [], "maximize", "not run"),
    ],
)
def test_orders_are_paired_by_seed(tmp_path, a, b, direction, word):
    measured(tmp_path, a=a, b=b)
    found = compare_runs(plan_of(expect=["a", "b"], direction=direction), tmp_path)
    assert found.word == found.verdicts[0].word == word
    assert word in found.verdicts[0].sentence() or word == "not run"
    assert json.loads(json.dumps(found.data(), allow_nan=False))["verdict"] == word
    assert word in comparison_page("s", found)


def test_orders_of_one_sweep_are_corrected_together(tmp_path):
    measured(tmp_path, a=[2.8, 2.8, 3.0], b=[1.8, 1.5, 1.2], c=[1.0, 1.4, 0.0])
    alone = compare_runs(plan_of(expect=["a", "b"]), tmp_path).verdicts[0]
    assert alone.p == alone.holm_p == pytest.approx(0.0279, abs=1e-4)  # of 1, 1.3, 1.8: t = 5.857, df = 2
    assert alone.word == "supported"
    arms = [{"name": name} for name in "abc"]
    found = compare_runs(plan_of(arms=arms, expect=["a", "b", "c"]), tmp_path)
    first, second = found.verdicts
    assert (first.p, first.holm_p) == (alone.p, pytest.approx(2 * alone.p))
    assert first.word == found.word == "undecided"
    assert second.holm_p == second.p > first.holm_p
    assert f"p = {first.p:.4f}, Holm p = {first.holm_p:.4f}." in first.sentence()
    assert found.data()["family"]["comparisons"] == ["a before b", "b before c"]
    half = compare_runs(plan_of(arms=[*arms, {"name": "d"}], expect=["a", "b", "d"]), tmp_path).verdicts
    assert half[0].holm_p == pytest.approx(2 * alone.p)  # an order that was not run counts
    assert (half[1].p, half[1].holm_p, half[1].word) == (None, None, "not run")


def test_a_run_that_is_not_over_does_not_count_and_is_named(tmp_path):
    measured(tmp_path, a=[1.0, 2.0, 3.0])
    measured(tmp_path, over=False, b=[0.0, 1.1, 2.0])
    found = compare_runs(plan_of(expect=["a", "b"]), tmp_path)
    assert found.word == "not run"
    assert found.arms[1].left_out() == "b: unfinished in seed 0, 1, 2."
    assert "b: unfinished in seed 0, 1, 2." in comparison_page("s", found)


def test_seed_without_a_run_is_named(tmp_path):
    measured(tmp_path, a=[1.0, 2.0, 3.0], b=[0.0])
    found = compare_runs(plan_of(expect=["a", "b"]), tmp_path)
    assert found.arms[1].left_out() == "b: not run in seed 1, 2."
    assert found.data()["arms"][1]["not_run"] == [1, 2]


def test_a_figure_that_is_no_number_leaves_the_order_undecided(tmp_path):
    """Else an arm that sometimes fails would be compared by the seeds in which it did not."""
    measured(tmp_path, a=[1.0, 2.0, 3.0], b=[0.0, 1.1, math.nan])
    found = compare_runs(plan_of(expect=["a", "b"]), tmp_path)
    assert found.word == "undecided"
    assert found.arms[1].left_out() == "b: no number in seed 2."
    assert json.loads(json.dumps(found.data(), allow_nan=False))["arms"][1]["diverged"] == [2]


def test_a_finished_run_without_the_figure_is_named(tmp_path):
    measured(tmp_path, a=[1.0, 2.0, 3.0], b=[0.0, 1.1, 2.0])
    path = tmp_path / "b-1" / "metrics.jsonl"
    path.write_text(path.read_text().replace("m/x", "m/y"))
    found = compare_runs(plan_of(expect=["a", "b"]), tmp_path)
    assert found.arms[1].left_out() == "b: no figure in seed 1."
    assert found.data()["arms"][1]["unmeasured"] == [1]
    assert set(found.arms[1].by_seed) == {0, 2}


def test_the_commits_of_the_runs_are_told(tmp_path):
    measured(tmp_path, a=[1.0], b=[0.0])
    for name, told in (("a-0", {"commit": "c" * 40, "dirty": False}), ("b-0", {"commit": "d" * 40, "dirty": True})):
        path = tmp_path / name / "run.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **told}))
    assert compare_runs(plan_of(), tmp_path).sources == "cccccccccccc, dddddddddddd+"


def test_the_mean_over_training_may_count(tmp_path):
    measured(tmp_path, a=[0.0, 2.0], b=[])
    assert compare_runs(plan_of(aggregate="mean"), tmp_path).arms[0].by_seed == {0: 50.0, 1: 51.0}
