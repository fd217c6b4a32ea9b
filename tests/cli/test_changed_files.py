"""Files of a user that were changed or lost since they were allowed, or since a run began."""

import json
import sys

import pytest
from user_files import BOTS, user_folder

from stratagem.algorithms.catalogue import read_any, recipe_of
from stratagem.base.consent.table import allow, commanding
from stratagem.base.consent.trusted import forget_folder, trust_folder
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import describe, make_game
from stratagem.players.catalogue import make_player
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.resume import resume

RECIPE = """
algorithm = "grpo"
games = ["goods.py:ThresholdGoods"]
opponents = ["noise(bots.py:Steady, p=0.5)"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    yield from user_folder(tmp_path, monkeypatch)


def test_a_file_in_a_trusted_folder_may_change(folder, as_new_process):
    trust_folder(folder)
    make_game("goods.py:ThresholdGoods")
    as_new_process()
    with commanding():
        (folder / "goods.py").write_text((folder / "goods.py").read_text() + "\n")
        assert make_game("goods.py:ThresholdGoods")


@pytest.mark.parametrize("writable", ["goods.py", "."])
def test_a_file_that_others_can_write_is_not_trusted(folder, writable):
    trust_folder(folder)
    (folder / writable).chmod(0o777)
    with pytest.raises(BadParameter, match=r"or add `sg\.allow"):
        make_game("goods.py:ThresholdGoods")


def test_that_a_file_was_loaded_once_allows_nothing_later(folder, as_new_process):
    allow("goods.py")
    make_game("goods.py:ThresholdGoods")
    as_new_process()
    with commanding(), pytest.raises(BadParameter, match=r"or add `sg\.allow"):
        make_game("goods.py:ThresholdGoods")


@pytest.fixture
def begun(folder, monkeypatch):
    """A run whose recipe, in another folder, names files beside it."""
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    trust_folder(folder)
    recipe = read_any(folder / "recipe.toml")
    game = make_game(recipe.games[0])
    assert make_player(recipe.opponents[0], game).name == "noise(bots.py:Steady, p=0.5)"
    run = RunFolder.create(folder / "run", recipe, 0, "stratagem train")
    forget_folder(folder)
    return run


def test_a_run_keeps_its_files_and_finds_them_again(begun, folder, monkeypatch):
    info = {file["name"]: file for file in json.loads((begun.path / "run.json").read_text())["files"]}
    assert info["goods.py"]["path"] == str(folder / "goods.py")
    assert (begun.path / "files" / "bots.py").read_text() == BOTS
    monkeypatch.chdir("/")
    trust_folder(folder)
    with commanding():
        assert describe(make_game(recipe_of(begun).games[0])) == "goods.py:ThresholdGoods"


def test_a_run_of_somebody_else_loads_nothing(begun, folder, as_new_process):
    as_new_process()
    with commanding(), pytest.raises(BadParameter, match=f"add `sg.allow..{folder}/goods.py"):
        make_game(recipe_of(begun).games[0])


def test_the_copy_of_a_run_stands_in_for_a_lost_file(begun, folder, as_new_process):
    for file in ("goods.py", "bots.py"):
        (folder / file).unlink()
    as_new_process()
    sys.modules.pop("goods")
    with commanding():
        recipe = recipe_of(begun)
        with pytest.raises(BadParameter, match="There is no file"):
            make_game(recipe.games[0])
        allow(begun.path / "files" / "goods.py")
        assert describe(make_game(recipe.games[0])) == "goods.py:ThresholdGoods"


def test_resume_says_that_a_file_has_changed(begun, folder, monkeypatch):
    from stratagem.training.runs import resume as module

    assert resume(begun) is None
    (folder / "bots.py").write_text(BOTS + "\n")
    assert [line for line in module.changes(begun) if "bots.py" in line] == [
        f"bots.py has changed since the run {begun.path} began."
    ]
