"""`stratagem steps`: from recorded games to a table, and one sentence for each mistake."""

import json

import pytest

from stratagem.algorithms.scopal.steps import read_steps


@pytest.fixture
def games(tmp_path, run):
    for game in ("tic-tac-toe", "nim"):
        assert not run("play", game, "--players", "random", "--episodes", 20, "--record", tmp_path / game)[0]
    return tmp_path


def test_it_makes_a_table_and_sums_it_up(run, games):
    out = games / "made" / "steps.parquet"
    status, printed, _ = run("steps", games / "tic-tac-toe", games / "nim", "--out", out)
    assert status == 0
    assert "1.000" in printed
    rows = read_steps(out).rows.to_pylist()
    assert {row["game"] for row in rows} == {"tic-tac-toe", "nim"}
    told = json.loads(run("steps", games / "nim", "--out", games / "nim.parquet", "--json")[1])
    assert told["all"] == told["games"]["nim"]
    assert told["all"]["samples"] == sum(row["count"] for row in rows if row["game"] == "nim")


def test_a_mistake_is_one_sentence_and_nothing_is_written(run, games):
    out = games / "steps.parquet"
    (games / "there.parquet").write_text("")
    wrong = {
        (games / "none", "--out", out): "no recorded episodes",
        (games / "nim", "--out", games / "there.parquet"): "there already",
        (games / "nim", "--out", out, "--step-reward", "winrate"): "did you mean step_win_rate",
        (games / "nim", "--out", out, "--player", "me@1"): "no decisions of me@1",
    }
    for words, said in wrong.items():
        status, _, complained = run("steps", *words)
        assert status == 2
        assert said in complained
        assert not out.exists()
