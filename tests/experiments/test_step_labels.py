"""Labels of step rewards are compared with the optimal actions of solved games."""

import pyarrow as pa
import pytest
from step_labels import counted, label_table, labels, optimal, relabel

from stratagem.algorithms.scopal.steps import SCHEMA, Steps, read_steps, write_steps


def test_the_only_reply_to_a_corner_is_the_centre_and_any_first_mark_draws():
    best = optimal("tic-tac-toe")
    assert len(best) == 4520  # positions with a move left, of 5,478 in all
    assert best["1: x..\n...\n..."] == {"B2"}
    assert len(best["0: ...\n...\n..."]) == 9


def test_nim_takes_what_leaves_an_even_sum_of_piles():
    """1, 3, 5 and 0 sum to 7 by exclusive or; only 3 from the pile of 5 leaves 0."""
    assert optimal("nim")["1: (1): 1 3 5 0"] == {"pile 3 take 3"}


def sample(action, desirable, count=1):
    return {"state_key": "s", "action": action, "desirable": desirable, "count": count}


def test_samples_count_as_often_as_they_were_played():
    rows = [sample("a", True, 3), sample("b", True), sample("a", False, 2)]
    found = counted(rows, {"s": frozenset("a")})
    assert found == {"desirable": {"samples": 4, "optimal": 3}, "undesirable": {"samples": 2, "optimal": 2}}


def test_the_table_adds_the_runs_and_shows_the_share_of_all_samples():
    own = {"desirable": {"samples": 4, "optimal": 3}, "undesirable": {"samples": 4, "optimal": 1}}
    (row,) = label_table([{"labels": {"nim": own}}, {"labels": {"nim": own}}, {}]).splitlines()[2:]
    assert row == "| nim | 0.750 of 8 | 0.250 of 8 | 0.500 of 16 |"
    one = {"desirable": own["desirable"]}
    assert "| nim | 0.750 of 4 | \u2013 | 0.750 of 4 |" in label_table([{"labels": {"nim": one}}])


@pytest.mark.parametrize("name", ["0.parquet", "none/0.parquet"])
def test_a_run_without_games_of_its_own_has_no_labels(tmp_path, name):
    assert labels(tmp_path / name) == {}


def test_labels_of_a_situation_compare_its_actions_and_leave_out_an_only_one(tmp_path):
    """In a lost position no action wins half of its games, and one of them is the best."""
    zeros = {"string": "", "bool": False}
    usual = {field.name: zeros.get(str(field.type), 0) for field in SCHEMA} | {"game": "nim", "prompt": "p"}
    rows = [
        usual | {"state_key": key, "action": action, "reply": action, "reward": reward, "count": count}
        for key, action, reward, count in (("lost", "a", 0.3, 1), ("lost", "b", 0.1, 3), ("only", "c", 0.9, 5))
    ]
    write_steps(Steps(pa.Table.from_pylist(rows, schema=SCHEMA), (tmp_path,)), tmp_path / "0.parquet")
    found = read_steps(relabel(tmp_path / "0.parquet", tmp_path / "new" / "0.parquet")).rows.to_pylist()
    assert [(row["action"], row["desirable"]) for row in found] == [("a", True), ("b", False)]
    assert found[0]["advantage"] == pytest.approx(0.3 - (0.3 + 3 * 0.1) / 4)
    assert [row["count"] for row in found] == [1, 3]
