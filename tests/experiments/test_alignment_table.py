"""Tables of advantage alignment: figures of a run, the reply that holds a policy down, and the declared families."""

import re
import sys
import tomllib
from pathlib import Path

import alignment
import alignment_table
import pytest
from alignment_table import figures, held_payoff
from result_tables import FinishedRun, finished
from synthetic_runs import synthetic_run

from stratagem.algorithms.catalogue import read_any

ROOT = Path(__file__).parents[2]
DECLARED = ROOT / "experiments" / "declared" / "alignment.toml"
IPD = "ipd-shapellm(labels=(C, D))"
STATES = ("start", "C-C", "C-D", "D-C", "D-D")


@pytest.mark.parametrize(
    ("policy", "held"),
    [
        ((1.0, 1.0, 1.0, 1.0, 1.0), 0.0),  # who always cooperates is always exploited
        ((0.0, 0.0, 0.0, 0.0, 0.0), 1.0),
        ((1.0, 1.0, 0.0, 1.0, 0.0), 3.0),  # to cooperate is the best reply of one round's memory to tit for tat
    ],
)
def test_held_payoff_is_that_against_the_best_memory_one_reply(policy, held):
    assert held_payoff(IPD, policy) == pytest.approx(held, abs=1e-6)


def run(folder, name, first=(1.0, 1.0, 0.0, 1.0, 0.0)):
    interest = {"one": {"earned": 2.5, "possible": 2.75}, "two": {"earned": 1.0, "possible": 3.0}}
    rows = [{"figures": {"one/payoff": 2.5, "two/payoff": 1.5}}]
    metrics = [{f"one/first/{state}": value for state, value in zip(STATES, first, strict=True)}]
    files = {"outcome.json": {"rows": rows, "interest": interest}}
    return synthetic_run(folder, name, metrics, files, config=f'algorithm = "shapellm"\ngame = "{IPD}"\nseed = 1\n')


def test_figures_of_a_run(tmp_path):
    run(tmp_path, "ipd-aligned-naive-1")
    (found,) = finished(tmp_path)
    assert isinstance(found, FinishedRun)
    row = figures(found)
    assert (row["first"], row["second"], row["together"]) == (2.5, 1.5, 2.0)
    assert row["exploitability"] == pytest.approx((0.25 + 2.0) / 2)
    assert row["held"] == pytest.approx(3.0)
    assert row["policy"] == [1.0, 1.0, 0.0, 1.0, 0.0]


def test_table_tests_the_aligned_learner_less_the_naive_one(tmp_path, capsys):
    for seed in range(2):
        run(tmp_path, f"ipd-aligned-aligned-{seed}")
        run(tmp_path, f"ipd-naive-naive-{seed}", first=(0.0,) * 5)
    alignment_table.table(tmp_path, tmp_path / "out.json")
    lines = [line for line in capsys.readouterr().out.splitlines() if "ipd: held" in line]
    assert "| held | ipd: held | 2 | +2.000" in lines[0]


def test_families_have_the_declared_numbers_of_tests():
    declared = tomllib.loads(DECLARED.read_text("utf-8"))["families_of_tests"]
    sizes = {family: int(size) for family, size in re.findall(r"\*(\w+)\*\s\((\d+)\)", declared)}
    assert sizes == {family: len(tests) for family, tests in alignment_table.PAIRS.items()}


def test_every_test_has_its_arms():
    arms = {planned.name.rpartition("-")[0] for game in alignment.GAMES for planned in alignment.runs(game, [1])}
    for tests in alignment_table.PAIRS.values():
        for arm, control, figure in tests.values():
            assert {arm, control} <= arms
            assert figure in alignment_table.FIGURES


@pytest.mark.parametrize("game", alignment.GAMES)
def test_arms_can_be_composed_and_differ_from_their_control_in_the_weight(game, monkeypatch):
    monkeypatch.chdir(ROOT)
    recipes = {
        planned.name.removeprefix(f"{game}-").removesuffix("-1"): read_any(list(planned.recipes), dict(planned.changes))
        for planned in alignment.runs(game, [1])
    }
    assert len(recipes) == len(alignment.ARMS)
    for second in ("naive", "lola", "shaper"):
        own, control = (recipes[f"{first}-{second}"].model_dump(mode="json") for first in ("aligned", "naive"))
        weights = [one["seats"]["one"]["ppo"]["advantage"].pop("alignment_weight") for one in (own, control)]
        assert weights == [alignment.WEIGHT, 0.0]
        assert own == control


def test_commands_list_the_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["alignment.py", "runs/alignment", "ipd", "--list"])
    alignment.main()
    assert len(capsys.readouterr().out.splitlines()) == 10 * len(alignment.ARMS)
