"""Former names of metrics are read wherever somebody may have them, and nothing writes them."""

import json
import shutil
from pathlib import Path

import pytest

import stratagem as sg
from stratagem.algorithms.catalogue import read_any
from stratagem.base.renamed.metrics import (
    RENAMED_METRICS,
    drawn_figure,
    present_figure,
    present_keys,
    present_metric,
    present_table,
)
from stratagem.measure.audit.measurement import Measurement, read_measurement
from stratagem.measure.figures.catalogue import all_figures, find_figure
from stratagem.measure.figures.training import TRAINING
from stratagem.measure.metrics import METRICS
from stratagem.measure.metrics.payoff import Payoff
from stratagem.show.evaluation_file import EvaluationFigures
from stratagem.show.reports.figures_page import figures_summary
from stratagem.sweeps.plan import SweepPlan
from stratagem.sweeps.reproduction.run_figures import final_figures
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics
from stratagem.training.shipped import recipe_path

EARLIER = Path(__file__).parents[1] / "runs" / "earlier" / "0.2"
METRIC_NAMES = {"pay": "payoff", "exploit": "pool_advantage", "robust": "shifted_payoff"}


def test_no_figure_has_a_former_name():
    keys = {figure.key.rpartition("/")[2] for figure in (*all_figures(), *TRAINING)}
    assert not keys & set(RENAMED_METRICS)
    assert set(METRIC_NAMES.values()) <= set(METRICS)


@pytest.mark.parametrize(("former", "present"), METRIC_NAMES.items())
def test_former_name_of_a_metric_gives_the_present_figure(former, present):
    assert former in METRICS
    assert METRICS.present_name(former) == present
    assert METRICS[former] is METRICS[present]
    assert find_figure(former) == find_figure(present)
    assert former not in list(METRICS)


def test_metric_of_somebody_may_have_a_former_name():
    class Own(Payoff):
        name = "robust"

    METRICS["robust"] = Own()
    try:
        assert isinstance(METRICS["robust"], Own)
        assert METRICS.present_name("robust") == "robust"
    finally:
        del METRICS["robust"]


def test_evaluation_takes_a_former_name_and_prints_the_present_one():
    found = sg.evaluate("kuhn", "random", opponents=["first-legal"], metrics=["robust", "pay"], episodes=2)
    assert found.requested == ("shifted_payoff", "payoff")
    assert {row["figure"] for row in found.rows()} & (set(METRIC_NAMES) | {"unscaled_pay"}) == set()
    assert found.plot("pay").to_dict() == found.plot("payoff").to_dict()


def test_recipe_and_sweep_take_a_former_name():
    read = (read_any(recipe_path("grpo/kuhn"), {"checkpoint_metric": name}) for name in ("pay", "payoff"))
    assert [recipe.checkpoint_metric for recipe in read] == ["payoff", "payoff"]
    plan = {"hypothesis": "h", "recipe": "r.toml", "vary": {"games": [["kuhn"]]}, "metric": "kuhn/validation/exploit"}
    assert SweepPlan.read(plan).metric == "kuhn/validation/pool_advantage"


def test_metrics_of_an_earlier_run_have_the_present_names():
    assert '"kuhn/validation/pay"' in (EARLIER / "metrics.jsonl").read_text("utf-8")
    names = set(read_metrics(RunFolder(EARLIER)))
    ends = {"kuhn/payoff", *(f"kuhn/validation/{name}" for name in METRIC_NAMES.values())}
    assert ends <= names
    assert names == set(map(present_metric, names))
    assert {f"metrics/{name}" for name in ends} <= set(final_figures(RunFolder(EARLIER)))


def test_plot_of_an_earlier_run_takes_both_names(tmp_path):
    shutil.copytree(EARLIER, tmp_path / "run")
    run = sg.load_run(tmp_path / "run")
    assert run.plot("kuhn/validation/pay").to_dict() == run.plot("kuhn/validation/payoff").to_dict()


def under_former_names(data):
    """Write the keys of data as earlier releases did."""
    former = {new: old for old, new in RENAMED_METRICS.items()}
    if isinstance(data, list):
        return [under_former_names(value) for value in data]
    if not isinstance(data, dict):
        return data
    return {
        key if key == "pool_advantage" and "payoff" in data and len(data) == 2 else former.get(key, key): (
            under_former_names(value)
        )
        for key, value in data.items()
    }


def test_stored_evaluation_and_tournament_have_the_same_figures(tmp_path):
    evaluation = sg.evaluate("kuhn", ["NashApprox", "AlwaysBet"], episodes=2, by_seat=True).to_json()
    tournament = sg.tournament("kuhn", ["NashApprox", "AlwaysBet"], episodes=2).to_json()
    for data in (evaluation, tournament):
        earlier = under_former_names(data)
        assert "pay" in json.dumps(earlier)
        assert "payoff" not in json.dumps(earlier)
        for name, stored in (("now", data), ("earlier", earlier)):
            (tmp_path / f"{name}.json").write_text(json.dumps(stored), "utf-8")
        assert figures_summary(tmp_path / "now.json") == figures_summary(tmp_path / "earlier.json")
    former = under_former_names(evaluation)
    assert "exploit" in former["games"][0]["players"][0]["metrics"]
    assert EvaluationFigures.model_validate(former) == EvaluationFigures.model_validate(evaluation)


def test_cards_and_rankings_have_the_present_names():
    data = Measurement(name="kuhn.pay_random", group="competence", value=1.0).to_json()
    assert read_measurement(data).name == "kuhn.payoff_random"
    assert present_figure("ipd(p=0.5).pool_exploit.against") == "ipd(p=0.5).pool_advantage.against"
    assert present_figure("kuhn.exploit") == "kuhn.exploit", "a probe of somebody else"
    for name in ("kuhn.payoff_random", "kuhn.pool_advantage.against", "kuhn.exploitability"):
        assert present_figure(drawn_figure(name)) == name


def test_names_of_players_are_no_metrics():
    assert present_keys({"run:runs/exploit": {"kuhn/pay": 1}}) == {"run:runs/exploit": {"kuhn/payoff": 1}}
    assert present_metric("kuhn/probe/exploit/AlwaysBet") == "kuhn/probe/exploit/AlwaysBet"
    assert present_metric("own/exploit") == "own/exploit", "a metric of another package"
    assert present_metric("evaluation/kuhn/base/against/random/robust").endswith("/shifted_payoff")


def test_lines_of_metrics_have_present_names_in_games_with_a_colon(tmp_path):
    line = {"step": 1, "spiel:kuhn_poker/pay": 0.5, "spiel:kuhn_poker/validation/exploit": 0.25}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    curves = read_metrics(RunFolder(tmp_path))
    assert {*curves} == {"spiel:kuhn_poker/payoff", "spiel:kuhn_poker/validation/pool_advantage"}


def test_metric_of_somebody_else_keeps_its_name_beside_the_present_one():
    assert present_table({"exploit": 1, "pool_advantage": 2}) == {"exploit": 1, "pool_advantage": 2}
    assert present_table({"exploit": 1, "pay": 2}) == {"pool_advantage": 1, "payoff": 2}
