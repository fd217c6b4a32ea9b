"""The tables of ShapeLLM's experiment: rows from run folders, and the published JSON as it is."""

import json
import sys
from pathlib import Path

import pytest
import shapellm_table
from result_tables import read_results, run_lines
from synthetic_runs import synthetic_run

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """
game = "ipd-shapellm"
trials = 12
[seats.one]
learner = "shaper"
memory = "trial"
reward = "own"
learning_rate = 0.3
[seats.two]
learner = "naive"
memory = "last"
reward = "own"
"""


def figures(first, second, cooperation):
    return {"one/payoff": first, "two/payoff": second, "visited/CC": cooperation, "visited/DD": 1.0 - cooperation}


def outcome(first, second, cooperation=0.95):
    interest = {"two": {"possible": 1.0, "earned": 0.75}, "one": {"possible": None, "earned": 1.0}}
    lengths = [
        {"game": "ipd-shapellm", "rounds": rounds, "figures": figures(first, second, cooperation)}
        for rounds in (20, 40)
    ]
    return {"seats": ["one", "two"], "rows": lengths, "interest": interest}


def pays(num):
    """The first seat has the highest payoff in the trials from the fourth on."""
    return [{"one/payoff": 4.0 if 3 <= step < 8 else 1.0, "two/payoff": 0.5, "one/loss": 9.0} for step in range(num)]


@pytest.fixture
def folder(tmp_path):
    for seed, first in ((0, 3.9), (1, 2.0)):
        files = {"outcome.json": outcome(first, 0.1, cooperation=0.95 if seed else 0.5)}
        synthetic_run(tmp_path / "runs", f"tiny-ipd-shaper-{seed}", pays(12), files, config=CONFIG)
    unfinished = {"outcome.json": outcome(1.0, 1.0)}
    synthetic_run(tmp_path / "runs", "tiny-ipd-shaper-2", pays(12), unfinished, config=CONFIG, over=False)
    synthetic_run(tmp_path / "runs", "other-ipd-0", pays(12), unfinished, config=CONFIG)
    return tmp_path / "runs"


def test_rows_are_those_of_finished_runs_of_a_study(folder):
    rows = list(shapellm_table.rows(folder))
    assert [(name, row["seed"]) for name, row in rows] == [("tiny/ipd-shaper", 0), ("tiny/ipd-shaper", 1)]
    row = rows[0][1]
    assert (row["command"], row["commit"], row["dirty"]) == ("stratagem train tiny-ipd-shaper-0", "c" * 40, False)
    assert (row["trials"], row["game"]) == (12, "ipd-shapellm")
    assert row["kinds"]["one"] == dict.fromkeys(shapellm_table.KIND) | {
        "learner": "shaper",
        "memory": "trial",
        "reward": "own",
    }
    assert row["peak"] == {"from": 4, "pays": [4.0, 0.5]}
    assert row["curves"] == {
        "one/payoff": [[0, 1.0], [5, 4.0], [10, 1.0]],
        "two/payoff": [[s, 0.5] for s in (0, 5, 10)],
    }


def test_tables_show_every_seed_beside_the_published_figures(folder):
    data = shapellm_table.merged({}, shapellm_table.rows(folder))
    seeds, lengths, ends = (table.splitlines() for table in shapellm_table.tables(data))
    assert seeds[2] == (
        "| `tiny/ipd-shaper` | 0, 1 | 3.90 / .10; 2.00 / .10 | 4.00 / .50 from 4; 4.00 / .50 from 4 | .25; .25 "
        "| 1 of 2 | 3.96 / .10 (Table 1) |"
    )
    assert lengths[0] == "| recipe | seeds | 20 rounds | 40 rounds |"
    assert lengths[2].startswith("| `tiny/ipd-shaper` | 2 | 2.95 \u00b1 12.07 / .10 \u00b1 .00 |")
    assert ends[2] == "| `tiny/ipd-shaper` | CC 1 of 2 [0.09, 0.91], none 1 of 2 [0.09, 0.91] |"


def test_a_seat_without_a_legal_reply_is_a_dash():
    run = {"seats": ["one", "two"], "rows": [{"figures": figures(None, 1.0, 0.5)}]}
    assert shapellm_table.joined(shapellm_table.pays(run)) == "\u2013 / 1.00"
    assert shapellm_table.mean_pays([run, run], 0) == "\u2013"
    assert shapellm_table.regret({"seats": ["one"], "interest": {}}) is None


def test_published_json_is_kept_where_there_is_no_run(tmp_path, monkeypatch, capsys):
    published = ROOT / "docs/results/shapellm.json"
    out = tmp_path / "out.json"
    out.write_text(published.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(sys, "argv", ["shapellm_table.py", str(tmp_path / "none"), str(out)])
    shapellm_table.main()
    assert json.loads(out.read_text("utf-8")) == read_results(published)
    assert "## tabular" in capsys.readouterr().out


def test_written_json_has_no_value_that_is_no_number():
    data = shapellm_table.finite({"a": [{"seed": 0, "x": [float("nan"), 1.0]}]})
    assert json.loads(run_lines(data)) == {"a": [{"seed": 0, "x": [None, 1.0]}]}
