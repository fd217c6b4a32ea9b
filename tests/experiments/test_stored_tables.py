"""Tables that are computed from all results: fewer of them replace nothing, and an empty folder is named."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from result_tables import check_nothing_lost, files_of

STORED = Path(__file__).parents[2] / "docs" / "results"


def test_fewer_results_are_refused_and_as_many_are_not(tmp_path):
    stored = tmp_path / "table.json"
    check_nothing_lost(stored, {"a": 1}, dict)
    stored.write_text(json.dumps({"a": 2, "b": 3, "c": 4}))
    check_nothing_lost(stored, {"a": 2, "b": 5, "c": 4, "d": 1}, dict)
    with pytest.raises(SystemExit, match=r"table.json stays as it is, .*: b, 0 of 3, and 1 more lack some\. Make the"):
        check_nothing_lost(stored, {"a": 2, "c": 3}, dict)
    with pytest.raises(SystemExit, match=r"results: c, 3 of 4\. Make the rest first"):
        check_nothing_lost(stored, {"a": 2, "b": 3, "c": 3}, dict)


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("exploiters", ["--only", "no such row"]),
        ("audit_flaws", ["--flawed", "0", "--clean", "0"]),
        ("audit_cheats", ["--cheats", "0", "--clean", "0"]),
    ],
)
def test_a_clean_clone_keeps_the_stored_rows(program, arguments, tmp_path, monkeypatch):
    module = importlib.import_module(program)
    copy = tmp_path / module.OUT.name
    copy.write_bytes(module.OUT.read_bytes())
    monkeypatch.setattr(module, "OUT", copy)
    monkeypatch.setattr(sys, "argv", [program, str(tmp_path / "runs"), *arguments])
    with pytest.raises(SystemExit, match=f"{module.OUT.name} stays as it is"):
        module.main()
    assert copy.read_bytes() == (STORED / copy.name).read_bytes()


@pytest.mark.parametrize(
    ("program", "count", "name", "number"),
    [
        ("drawn_agents_table", "games_of", "drawn-agents", 148),
        ("result_tables", "audits_of", "audit-cheats", 50),
        ("readers", "texts_of", "readers", 9_000),
        ("exploiters", "names_of", "exploiters", 1),
    ],
)
def test_results_are_counted_by_name(program, count, name, number):
    counts = getattr(importlib.import_module(program), count)(json.loads((STORED / f"{name}.json").read_text("utf-8")))
    assert next(iter(counts.values())) == number


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("drawn_games", ["--table"]),
        ("drawn_agents", ["--table"]),
        ("atlas_table", ["atlas.json"]),
        ("beliefs", ["table"]),
    ],
)
def test_a_table_of_an_empty_folder_names_the_folder(program, arguments, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [program, str(tmp_path), *arguments])
    with pytest.raises(SystemExit, match=r"holds no .*: make the results first"):
        importlib.import_module(program).main()


def test_files_come_in_order(tmp_path):
    for name in ("b.json", "a.json", "c.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in files_of(tmp_path)] == ["a.json", "b.json"]
