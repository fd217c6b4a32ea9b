"""Figures of a run by seat, its chance levels, and the course of a metric, as paths of published tables."""

import json
import math

import pytest

from stratagem.sweeps.reproduction.run_figures import final_figures
from stratagem.training.runs.folder import RunFolder


def mean(value):
    return {"mean": value, "se": 0.1, "n": 4}


def player(name, first, seats, null):
    by_seat = [{"opponent": other, "seat": seat, "metrics": {"first": value}} for other, seat, value in seats]
    return {"player": name, "metrics": {"sole first": mean(first)}, "nulls": null, "by_seat": by_seat}


@pytest.fixture
def run(tmp_path):
    seats = [("dumbbot", "ITALY", mean(0.2)), ("random", "ITALY", mean(0.6)), ("dumbbot", "TURKEY", None)]
    players = [
        player("base", 0.1, [], {}),
        player("12", 0.3, seats, {"sole first": 0.125}),
    ]
    evaluation = {"games": [{"game": "diplomacy(until=1902)", "players": players}]}
    (tmp_path / "evaluation.json").write_text(json.dumps({"rows": {"base": "", "12": ""}, "evaluation": evaluation}))
    rewards = [15.0, 20.0, 34.0, 9.0, 18.0, None]
    rows = (json.dumps({"step": step, "diplomacy/reward": value}) for step, value in enumerate(rewards))
    (tmp_path / "metrics.jsonl").write_text("".join(f"{row}\n" for row in rows))
    return RunFolder(tmp_path)


def test_figure_of_a_seat_is_the_mean_over_opponents(run):
    figures = final_figures(run)
    assert figures["evaluation/diplomacy/trained/seat/ITALY/first"] == pytest.approx(0.4)
    assert "evaluation/diplomacy/trained/seat/TURKEY/first" not in figures


def test_chance_level_is_that_of_the_same_games(run):
    figures = final_figures(run)
    assert figures["evaluation/diplomacy/trained/null/sole_first"] == 0.125
    assert "evaluation/diplomacy/base/null/sole_first" not in figures


def test_stage_before_training_is_the_base_where_there_is_no_other(run):
    assert final_figures(run)["evaluation/diplomacy/start/sole_first"] == 0.1
    path = run.path / "evaluation.json"
    data = json.loads(path.read_text())
    data["rows"] = {"base": "", "start": "", "12": ""}
    data["evaluation"]["games"][0]["players"].append(player("start", 0.2, [], {}))
    path.write_text(json.dumps(data))
    assert final_figures(run)["evaluation/diplomacy/start/sole_first"] == 0.2


def test_trough_is_the_lowest_value_from_the_highest_on(run):
    figures = final_figures(run)
    course = {name: figures[f"{name}/diplomacy/reward"] for name in ("first", "highest", "trough")}
    assert course == {"first": 15.0, "highest": 34.0, "trough": 9.0}
    assert math.isnan(figures["metrics/diplomacy/reward"]), "the last value is no number"
