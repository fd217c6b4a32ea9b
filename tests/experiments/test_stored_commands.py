"""Every command of training in a file of results can be read today, or the refusal names what is written instead."""

import json
from functools import cache
from pathlib import Path

import pytest
from stored_commands import read_command, recipe_of_command, renewed, renewed_command, renewed_data, stored_commands

from stratagem.algorithms.catalogue import read_any
from stratagem.base.errors import BadParameter
from stratagem.base.renamed.recipes import successor_of
from stratagem.games.key import Key
from stratagem.training.shipped import recipe_path

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "docs" / "results").glob("*.json"))


@cache
def commands():
    """Different commands but for the seed, by their files."""
    found = {}
    for path in RESULTS:
        for text in stored_commands(json.loads(path.read_text("utf-8"))):
            command = read_command(text)
            changes = {place: value for place, value in command.changes.items() if place != "seed"}
            found.setdefault((command.recipes, tuple(changes.items())), (path.name, text))
    return [pytest.param(text, id=f"{name}: {text}") for name, text in found.values()]


def tenth():
    """A tenth of the commands, chosen by a key."""
    return [param for param in commands() if Key(0).at("stored commands", param.values[0]).unit() < 0.1]


def check(text, monkeypatch):
    monkeypatch.chdir(ROOT)
    command = read_command(text)
    if command.resume:
        return
    recipe = recipe_of_command(text)
    assert recipe_of_command(str(renewed_command(command))) == recipe
    try:
        assert read_any([recipe_path(name) for name in command.recipes], command.changes) == recipe
    except BadParameter as error:
        assert_told(str(error), command)


def assert_told(said, command):
    """Check that a refusal names the new recipes or all new keys, or says that quotes are missing."""
    gone = [name for name in command.recipes if not Path(name).exists()]
    _, renamed, _ = renewed_data(renewed(command))
    if gone:
        assert f"There is no recipe {gone[0]} any more: write `stratagem train {successor_of(gone[0])}`." == said
    else:
        assert renamed
        assert [(old, new) for old, new in renamed.items() if old not in said or new not in said] == []


@pytest.mark.parametrize("text", tenth())
def test_stored_command_is_read_or_told_what_to_write(text, monkeypatch):
    check(text, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("text", commands())
def test_every_stored_command_is_read_or_told_what_to_write(text, monkeypatch):
    check(text, monkeypatch)


def test_stored_commands_are_found():
    assert len(commands()) > 600
    assert 30 < len(tenth()) < len(commands()) / 5


def test_renewed_command_sets_no_key_inside_a_table_that_it_sets():
    table = '{ "mcts:5" = 1 }'
    command = f"stratagem train recipes/scopal/tiny.toml --set 'interaction.opponents={table}' --set judge.stages=last"
    changes = renewed_command(read_command(command)).changes
    assert changes == {"interaction.opponents": table, "final_evaluation.stages": "last"}
