"""Every shipped recipe dry-runs by the command at its top, and so does every training command of the documentation."""

import json
import re
from pathlib import Path
from shlex import split

import pytest

from stratagem.algorithms.catalogue import bound, read_any
from stratagem.base.errors import BadRecord
from stratagem.cli.main import main
from stratagem.language.models.unloaded import forbid_loading
from stratagem.sweeps.plan import plan_runs, read_plan
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.trackers.base import Tracker
from stratagem.training.shipped import recipe_path, shipped_recipes

ROOT = Path(__file__).parents[1]
SHIPPED = list(shipped_recipes())
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"(?:^|`|\$ )(stratagem train [^`\n]+)", re.MULTILINE)
AFTER_GAMES = {"diplomacy/searched": "runs/searched"}
"""Recipes that learn from games which another command records, and the folder of the record."""
AFTER = re.compile(r"run:(\S+)@|=dir:(runs/[^+\s]+)|(?<=reward.table=)(\S+)|recipes/diplomacy/(searched)")
"""Outputs of other commands that a command of the pages trains from."""
MINE = "recipes/sepo/mine.toml"
"""Recipe that a reader of the guide writes; others that readers write are not in `recipes/`."""


def command_of(recipe):
    return recipe.path.read_text("utf-8").splitlines()[0].removeprefix("# ")


def parts_of(command):
    """Recipes and changed settings of a command."""
    words = iter(split(command)[2:])
    names, changes = [], {}
    for word in words:
        if word == "--set":
            place, _, value = next(words).partition("=")
            changes[place] = value
        elif word in ("--out", "--allow-host"):
            next(words)
        elif not word.startswith("--"):
            names.append(word)
    return names, changes


def documented():
    """Commands of the pages that train by shipped recipes, each once, whatever folder it writes to."""
    known = set()
    for path in PAGES:
        for command in COMMAND.findall(re.sub(r"\\\n\s*", "", path.read_text("utf-8"))):
            names, _ = parts_of(command)
            own = any(name.endswith(".toml") and not name.startswith("recipes/") for name in names)
            here = not names or "examples/" in command  # names a file of the project's folder, or is no whole command
            if "--resume" not in command and not own and not here and not {MINE, "NAME...", "RECIPE"} & set(names):
                if (words := re.sub(r" --out \S+| --dry-run", "", command)) in known:
                    continue
                known.add(words)
                yield pytest.param(command, id=f"{path.stem}: {command}")


@pytest.mark.parametrize("recipe", SHIPPED, ids=lambda recipe: recipe.name)
def test_shipped_recipe_says_in_a_sentence_what_it_is(recipe):
    assert recipe.summary.endswith((".", "?"))
    assert len(recipe.summary) <= 160


ONE_COMMAND = [one for one in SHIPPED if one.group != "sweeps" and one.name not in AFTER_GAMES]


@pytest.mark.parametrize("recipe", ONE_COMMAND, ids=lambda recipe: recipe.name)
def test_shipped_recipe_can_be_trained_by_the_command_at_its_top(recipe, tmp_path):
    """As far as that can be told without the model that it names, which is replaced by one that needs no network."""
    command = command_of(recipe)
    names, changes = parts_of(command)
    assert command.startswith("stratagem train ")
    assert f"recipes/{recipe.name}.toml" in names
    made = read_any([recipe_path(name, ROOT) for name in names], {**changes, "model": "tiny"})
    with forbid_loading():  # its devices may be those of another machine
        bound(made, RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", AFTER_GAMES)
def test_shipped_recipe_names_the_games_that_it_lacks(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipe = recipe_path(f"recipes/{name}.toml", ROOT)
    assert f"--record {AFTER_GAMES[name]}" in " ".join(recipe.read_text("utf-8").replace("\n#", "").split())
    with pytest.raises(BadRecord, match=f"no recorded episodes in {AFTER_GAMES[name]}"):
        bound(read_any([recipe], {"model": "tiny"}), RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("recipe", [one for one in SHIPPED if one.group == "sweeps"], ids=lambda recipe: recipe.name)
def test_shipped_sweep_names_recipes_that_can_be_trained(recipe, tmp_path):
    assert command_of(recipe) == f"stratagem sweep recipes/{recipe.name}.toml"
    runs = list(plan_runs(read_plan(recipe.path), recipe.path.parent))
    for run in runs:
        bound(read_any(run.recipes, run.changes), RunFolder(tmp_path / run.name))
    assert len({run.name for run in runs}) == len(runs)


@pytest.mark.parametrize("command", list(documented()))
def test_documented_training_command_dry_runs_from_any_folder(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Tracker, "check", lambda self: None)  # packages of trackers and of clusters are not needed
    monkeypatch.setattr("stratagem.playing.workers.ray_cluster.find_spec", lambda name: name)
    with pytest.raises(SystemExit) as ended:
        main([*split(command, comments=True)[1:], "--dry-run", "--json"])
    printed = capsys.readouterr()
    if after := AFTER.search(command):
        assert ended.value.code == 2
        assert next(filter(None, after.groups())) in printed.err
        return
    assert ended.value.code == 0, printed.err
    assert "algorithm" in json.loads(printed.out)


def test_commands_of_the_pages_are_found():
    found = [param.values[0] for param in documented()]
    assert len(found) > 20
    assert any(len(parts_of(command)[0]) > 2 for command in found)
