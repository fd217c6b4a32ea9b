"""Recipes of stored results: every run of training has one, from its folder or read by the program of its commit."""

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest
import resolve_recipes
from resolve_recipes import lacking_rows, layout_of, resolve
from result_tables import indented, run_lines
from stored_commands import read_command

from stratagem.algorithms.catalogue import algorithm_of, upgrade_data
from stratagem.training.runs.config_file import recipe_digest

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "docs" / "results").glob("*.json"))
RECIPES = sorted((ROOT / "docs" / "results" / "recipes").glob("*.json"))
COMMIT, OTHER = "c" * 40, "d" * 40


@cache
def runs_of(path):
    """The runs of training in a file of results."""
    return [*rows(json.loads(path.read_text("utf-8")))]


def rows(node):
    """The runs of training in the data of a result."""
    if isinstance(node, dict) and str(node.get("command", "")).startswith("stratagem train "):
        yield node
    for own in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from rows(own)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_every_run_of_a_result_has_its_recipe_or_the_reason_why_not(path):
    for row in runs_of(path):
        assert row["recipe"] or row["recipe_from"].startswith("none: "), row["command"]
        assert row["recipe"] is None or (path.parent / "recipes" / f"{row['recipe']}.json").is_file()


def test_only_a_run_that_was_continued_has_no_recipe():
    lacking = [row for path in RESULTS for row in runs_of(path) if row["recipe"] is None]
    assert [row["command"] for row in lacking] == ["stratagem train runs/small --resume"]


def test_no_stored_recipe_is_without_a_result():
    named = {row["recipe"] for path in RESULTS for row in runs_of(path)}
    assert {path.stem for path in RECIPES} == named - {None}


@pytest.mark.parametrize("part", range(4))
def test_stored_recipes_are_read_under_the_names_of_today(part):
    for path in RECIPES[part::4]:
        data = json.loads(path.read_text("utf-8"))
        assert recipe_digest(data) == path.stem
        recipe, upgrade = upgrade_data(data)
        assert upgrade.lost == []
        algorithm_of(recipe).recipe_type.read(recipe)


def result(tmp_path, **settings):
    """A file of results, whose rows are made by one command at two commits."""
    command = "stratagem train old/kuhn.toml --out runs/kuhn-3 --set sepo.rollouts=8"
    made = {"commit": COMMIT, "runs": [{"command": command, "seed": 3, **settings}, {"command": "stratagem eval kuhn"}]}
    (tmp_path / "r.json").write_text(indented(made))
    return tmp_path / "r.json", made


def test_rows_without_a_recipe_have_the_commit_around_them(tmp_path):
    path, data = result(tmp_path)
    (lacking,) = lacking_rows(path, data)
    assert (lacking.commit, lacking.command.recipes) == (COMMIT, ("old/kuhn.toml",))
    assert list(lacking_rows(path, result(tmp_path, recipe=None)[1])) == []
    assert list(lacking_rows(path, result(tmp_path, recipe="a" * 32)[1])) == []


@pytest.mark.parametrize(("at", "recipe_from"), [(COMMIT, "command"), (OTHER, f"command at {OTHER}")])
def test_resolved_recipe_has_the_names_of_today_and_no_seed(at, recipe_from, tmp_path, monkeypatch):
    path, data = result(tmp_path)
    then = {"seed": 3, "model": "run:runs/sepo/sft-3@start", "games": ["kuhn"], "sepo": {"rollouts": 8}}
    monkeypatch.setattr(resolve_recipes, "commit_that_reads", lambda file, commit: at)
    monkeypatch.setattr(resolve_recipes, "read_at", lambda commit, commands: [then for _ in commands])
    resolve(list(lacking_rows(path, data)))
    row = data["runs"][0]
    assert row["recipe_from"] == recipe_from
    stored = json.loads((tmp_path / "recipes" / f"{row['recipe']}.json").read_text())
    assert stored == {"model": "run:sft-SEED@start", "games": ["kuhn"], "sepo": {"group_size": 8}}


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ("BadParameter: There is no file.", "none: BadParameter: There is no file."),
        ({"algorithm": "scopal", "samples": {"ratio": 2.0}}, "none: samples.ratio (desirable samples have no weight"),
    ],
)
def test_row_that_cannot_be_resolved_has_the_reason(then, reason, tmp_path, monkeypatch):
    path, data = result(tmp_path)
    monkeypatch.setattr(resolve_recipes, "commit_that_reads", lambda file, commit: commit)
    monkeypatch.setattr(resolve_recipes, "read_at", lambda commit, commands: [then for _ in commands])
    resolve(list(lacking_rows(path, data)))
    assert data["runs"][0]["recipe"] is None
    assert data["runs"][0]["recipe_from"].startswith(reason)
    assert not (tmp_path / "recipes").exists()


def test_dropped_setting_that_was_off_is_left_out():
    recipe, upgrade = upgrade_data({"algorithm": "scopal", "samples": {"ratio": 0.0, "most": 5}})
    assert (recipe["samples"], upgrade.lost) == ({"max_samples": 5}, [])


def test_recipe_of_a_continued_run_is_lost():
    row = {"command": "stratagem train runs/kuhn --resume", "commit": COMMIT}
    resolve(list(lacking_rows(Path("r.json"), row)))
    assert row["recipe_from"] == "none: the command continues a run, whose settings were not stored"


@pytest.mark.runs
def test_program_of_a_commit_reads_commands():
    if subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("no repository")
    good, bad = (read_command(f"stratagem train {name} --set seed=4") for name in ("sepo/kuhn-tiny", "none/none"))
    recipe, error = resolve_recipes.read_at("HEAD", [good, bad])
    assert (recipe["seed"], recipe["sepo"]["iterations"]) == (4, 60)
    assert "none/none" in error


@pytest.mark.parametrize("layout", [indented, run_lines])
def test_file_keeps_its_layout(layout, tmp_path):
    data = {"a": [{"seed": 1, "x": [1.5]}]}
    (tmp_path / "r.json").write_text(layout(data))
    assert layout_of(tmp_path / "r.json", data) is layout
    (tmp_path / "r.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="was not written by `write_results`"):
        layout_of(tmp_path / "r.json", data)
