"""The table maker of the experiments: finished runs with provenance, merging, and Markdown."""

import json

import pytest
import result_tables
from result_tables import finished, interval, markdown, merged, number
from synthetic_runs import synthetic_run

from stratagem.measure.statistics import with_interval
from stratagem.training.runs.config_file import recipe_digest


def test_finished_finds_runs_that_are_over_and_end_with_a_seed(tmp_path):
    synthetic_run(tmp_path, "kuhn-tic-tac-toe-12", files={"outcome.json": {"a": 1}})
    synthetic_run(tmp_path, "kuhn-0", over=False)
    synthetic_run(tmp_path, "start")
    (tmp_path / "kuhn-perturbed-1").mkdir()
    (run,) = finished(tmp_path)
    assert (run.stem, run.seed, run.path.name) == ("kuhn-tic-tac-toe", 12, "kuhn-tic-tac-toe-12")
    assert run.read("outcome.json") == {"a": 1}
    assert run.provenance() == {
        "commit": "c" * 40, "command": "stratagem train kuhn-tic-tac-toe-12", "dirty": False,
        "recipe": {name: value for name, value in run.folder.config_data().items() if name != "seed"},
    }  # fmt: skip


def test_all_seeds_of_an_arm_have_one_recipe(tmp_path):
    for seed in (0, 1):
        run = synthetic_run(tmp_path, f"arm-{seed}")
        path = run.path / "config.toml"
        path.write_text(f'model = "run:{tmp_path}/kuhn-sft-{seed}@start"\n' + path.read_text("utf-8"), "utf-8")
    recipes = [run.provenance()["recipe"] for run in finished(tmp_path)]
    assert len(recipes) == 2
    assert recipes[0] == recipes[1]
    assert recipes[0]["model"] == "run:kuhn-sft-SEED@start"


def test_finished_finds_nothing_where_there_is_no_folder(tmp_path):
    assert list(finished(tmp_path / "none")) == []


def test_merged_replaces_a_run_of_the_same_name_and_seed():
    old = {"b": [{"seed": 3, "x": 1}, {"seed": 0, "x": 1}]}
    new = [("a", {"seed": 0, "x": 2}), ("b", {"seed": 3, "x": 2}), ("b", {"seed": 1, "x": 2})]
    rows = merged(old, new)
    assert list(rows) == ["b", "a"]
    assert [(row["seed"], row["x"]) for row in rows["b"]] == [(0, 1), (1, 2), (3, 2)]
    assert len(old["b"]) == 2


def test_markdown_has_a_line_below_the_heads():
    assert markdown(["", "x"], [["a", "1"]]) == "|  | x |\n| --- | --- |\n| a | 1 |"
    assert markdown(["x"], []) == "| x |\n| --- |"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.5, 3, ".500"), (-0.25, 2, "-.25"), (-0.0001, 3, ".000"), (12.0, 1, "12.0"), (1.0, 3, "1.000"), (None, 3, "–")],
)
def test_number_has_no_leading_zero(value, digits, text):
    assert number(value, digits) == text


def test_interval_is_empty_for_one_seed():
    assert interval(with_interval([1.0, 2.0, 3.0])) == "[-0.48, 4.48]"
    assert interval(with_interval([1.0, 2.0, 3.0]), "+.1f") == "[-0.5, +4.5]"
    assert interval(with_interval([1.0])) == ""


def test_results_are_read_as_they_were_written(tmp_path):
    assert result_tables.read_results(tmp_path / "none.json") == {}
    result_tables.write_results(tmp_path / "r.json", {"a": [1]})
    assert result_tables.read_results(tmp_path / "r.json") == {"a": [1]}
    assert (tmp_path / "r.json").read_text() == json.dumps({"a": [1]}, indent=1) + "\n"


RUN = {"command": "stratagem train kuhn", "commit": "c" * 40, "seed": 1}


def test_results_have_the_digest_of_the_recipe_and_the_recipe_beside(tmp_path):
    path, recipe = tmp_path / "r.json", {"model": "tiny", "sepo": {"iterations": 3}}
    rows = [{**RUN, "recipe": recipe}, {**RUN, "seed": 2, "recipe": recipe}]
    result_tables.write_results(path, {"a": rows})
    first, second = result_tables.read_results(path)["a"]
    assert first["recipe"] == second["recipe"] == recipe_digest(recipe)
    (file,) = (tmp_path / "recipes").iterdir()
    assert file.stem == first["recipe"]
    assert json.loads(file.read_text()) == recipe
    result_tables.write_results(path, {"a": [first, second]})
    assert result_tables.read_results(path) == {"a": [first, second]}


def test_results_with_a_line_for_each_run_have_digests_too(tmp_path):
    path = tmp_path / "r.json"
    result_tables.write_results(path, {"a": [{**RUN, "recipe": {"model": "tiny"}}]}, result_tables.run_lines)
    assert result_tables.read_results(path) == {"a": [{**RUN, "recipe": recipe_digest({"model": "tiny"})}]}
    assert len(path.read_text().splitlines()) == 5


def test_new_results_are_refused_without_a_recipe(tmp_path):
    path = tmp_path / "r.json"
    with pytest.raises(ValueError, match="would lack the recipe of `stratagem train kuhn`"):
        result_tables.write_results(path, {"a": {"b": [RUN]}})
    assert not path.exists()
    with pytest.raises(ValueError, match="would lack the recipe of `stratagem train kuhn`"):
        result_tables.write_results(path, {"a": [{**RUN, "recipe": None}]})
    path.write_text(json.dumps({"a": [RUN]}))  # of a time without recipes
    result_tables.write_results(path, {"a": [RUN]})
    with pytest.raises(ValueError, match="would lack the recipe of `stratagem train leduc`"):
        result_tables.write_results(path, {"a": [RUN, {**RUN, "command": "stratagem train leduc"}]})
