"""Recipes of how-to pages train as they stand there, by the commands of the page."""

import re
import tomllib
from pathlib import Path
from shlex import split

import pytest

from forks import forked_command, shown
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "add-a-loss": ("loss", {"type": "awr", "awr_beta": 0.5}),
    "add-an-advantage-estimator": ("advantage", {"type": "group_median"}),
}


def recipe_and_commands(page):
    """The last block of TOML, and the commands that train by it, without the one that names a file of the examples."""
    *_, recipe = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    lines = [line for line in shown.commands(page) if line.startswith("stratagem train") and "examples/" not in line]
    return recipe, lines


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * bool(at)) for at, name in enumerate(PAGES)]
)
def test_the_recipe_at_the_end_of_the_page_trains(name, tmp_path):
    key, expected = PAGES[name]
    recipe, lines = recipe_and_commands((ROOT / "docs" / "how-to" / f"{name}.md").read_text("utf-8"))
    assert recipe.splitlines()[0] == f"# {lines[-1]}"
    file, folder = split(lines[-1])[2], split(lines[-1])[-1]
    (tmp_path / file).write_text(recipe, "utf-8")
    shown.install_examples(tmp_path / "site")
    for line in lines:
        status, printed = forked_command(*split(line)[1:], work=tmp_path, scratch=tmp_path)
        assert status == 0, printed
    run = RunFolder.open(tmp_path / folder)
    told = tomllib.loads((run.path / "config.toml").read_text("utf-8"))["grpo"][key]
    assert told == expected
    metrics = read_metrics(run)
    assert any(metrics["grad_norm"].values)
    assert ("loss/weight" in metrics) == (key == "loss")


def test_page_on_two_models_is_right_word_for_word(tmp_path):
    page = (ROOT / "docs/how-to/train-two-models.md").read_text("utf-8")
    (recipe,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "two.toml").write_text(recipe, "utf-8")
    lines = [line for line in shown.commands(page) if "--dry-run" not in line]
    assert [line.split()[1] for line in lines] == ["train", "play", "report", "train"]
    for line in lines:
        status, printed = forked_command(*split(line)[1:], work=tmp_path, scratch=tmp_path)
        assert status == 0, printed
    run = RunFolder.open(tmp_path / "runs/two")
    metrics = read_metrics(run)
    assert {"first/loss", "second/kuhn/validation/payoff", "sft-0/loss", "sft-1/loss"} <= metrics.keys()
