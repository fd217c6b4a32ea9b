"""DuckDB on a record: the query of its card, and nested columns; `make test-tools` runs it."""

import re

import pytest

import stratagem as sg

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def record(tmp_path):
    sg.play("ipd", ["TitForTat", "AlternateDefect"], episodes=4, record=tmp_path / "record", progress=False)
    return tmp_path / "record"


def test_the_query_of_the_card_runs(record):
    (query,) = re.findall(r"```sql\n(.*?)```", (record / "README.md").read_text(), re.DOTALL)
    found = duckdb.sql(query.replace("FOLDER", str(record))).fetchall()
    assert {action: times for action, times, _ in found} == {"COOPERATE": 32, "DEFECT": 32}


def test_tables_join_and_lists_are_read(record):
    decisions, episodes = (f"'{record}/{table}/*.parquet'" for table in ("decisions", "episodes"))
    rows = duckdb.sql(f"""
        SELECT e.id, d.seat, e.payoffs[d.seat + 1], sum(d.payoff), e.signals[1].name, len(e.signals[1].rounds)
        FROM {decisions} AS d JOIN {episodes} AS e ON d.episode = e.id GROUP BY ALL
    """).fetchall()
    assert len(rows) == 8
    assert all(earned == summed and name == "collusion" and rounds == 8 for *_, earned, summed, name, rounds in rows)
