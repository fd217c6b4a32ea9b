"""Files of a user that were changed or lost since they were allowed, or since a run began."""

import json
import shutil
import sys

import pytest
from user_files import BOTS, allowed, user_folder

from stratagem import file_modules
from stratagem.algorithms.catalogue import read_any, recipe_of
from stratagem.errors import BadParameter
from stratagem.games.catalogue import describe, make_game
from stratagem.named_files import allow_file, naming
from stratagem.players.catalogue import make_player
from stratagem.runs.folder import RunFolder
from stratagem.runs.resume import resume
from stratagem.runs.source_files import source_files

RECIPE = """
algorithm = "grpo"
games = ["goods.py:ThresholdGoods"]
opponents = ["noise(bots.py:Steady, p=0.5)"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    yield from user_folder(tmp_path, monkeypatch)


def test_a_changed_file_is_not_known_any_more(folder):
    allow_file("goods.py")
    make_game("goods.py:ThresholdGoods")
    file_modules._modules.clear()
    with naming():
        assert make_game("goods.py:ThresholdGoods")
        (folder / "goods.py").write_text((folder / "goods.py").read_text() + "\n")
        file_modules._modules.clear()
        with pytest.raises(BadParameter, match=r"if you trust it, add `sg\.allow_file"):
            make_game("goods.py:ThresholdGoods")


@pytest.mark.parametrize("change", ["\nimport os\n", None])
def test_a_changed_neighbour_makes_a_file_unknown(folder, change):
    allow_file("bots.py")
    assert make_player("bots.py:Steady", make_game(allowed("goods.py")))
    with naming():
        file_modules._modules.clear()
        assert file_modules.file_module("bots.py")
        file_modules._modules.clear()
        neighbour = folder / "goods.py"
        neighbour.write_text(neighbour.read_text() + change) if change else neighbour.unlink()
        with pytest.raises(BadParameter, match="with the files that it imports: if you trust it"):
            file_modules.file_module("bots.py")


def test_a_changed_file_of_a_package_in_the_folder_makes_a_file_unknown(folder, monkeypatch):
    (folder / "ruling").mkdir()
    (folder / "ruling" / "__init__.py").touch()
    rule = folder / "ruling" / "rule.py"
    rule.write_text("FIRST = 1\n")
    (folder / "ruled.py").write_text("from ruling.rule import FIRST\n")
    allow_file("ruled.py")
    for name in ("ruling", "ruling.rule"):
        monkeypatch.setitem(sys.modules, name, None)  # which is undone at the end
        del sys.modules[name]
    assert file_modules.file_module("ruled.py").FIRST == 1
    assert [file.copied_as for file in source_files("ruled.py:X")] == ["ruled.py", "__init__.py", "rule.py"]
    with naming():
        file_modules._modules.clear()
        assert file_modules.file_module("ruled.py")
        file_modules._modules.clear()
        rule.write_text("FIRST = 2\n")
        with pytest.raises(BadParameter, match="with the files that it imports: if you trust it"):
            file_modules.file_module("ruled.py")


@pytest.fixture
def begun(folder, monkeypatch):
    """A run whose recipe, in another folder, names files beside it."""
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    recipe = read_any(folder / "recipe.toml")
    game = make_game(recipe.games[0])
    assert make_player(recipe.opponents[0], game).name == "noise(bots.py:Steady, p=0.5)"
    return RunFolder.create(folder / "run", recipe, 0, "stratagem train")


def test_a_run_keeps_its_files_and_finds_them_again(begun, folder, monkeypatch):
    info = {file["name"]: file for file in json.loads((begun.path / "run.json").read_text())["files"]}
    assert info["goods.py"]["path"] == str(folder / "goods.py")
    assert (begun.path / "files" / "bots.py").read_text() == BOTS
    monkeypatch.chdir("/")
    with naming():
        assert describe(make_game(recipe_of(begun).games[0])) == "goods.py:ThresholdGoods"


def test_a_run_of_somebody_else_loads_nothing(begun, folder):
    shutil.rmtree(folder / "cache")
    file_modules._modules.clear()
    with naming(), pytest.raises(BadParameter, match=f"add `sg.allow_file..{folder}/goods.py"):
        make_game(recipe_of(begun).games[0])


def test_the_copy_of_a_run_stands_in_for_a_lost_file(begun, folder, monkeypatch):
    for file in ("goods.py", "bots.py"):
        (folder / file).unlink()
    file_modules._modules.clear()
    sys.modules.pop("goods")
    with naming():
        recipe = recipe_of(begun)
        with pytest.raises(BadParameter, match="There is no file"):
            make_game(recipe.games[0])
        allow_file(begun.path / "files" / "goods.py")
        assert describe(make_game(recipe.games[0])) == "goods.py:ThresholdGoods"


def test_resume_says_that_a_file_has_changed(begun, folder, monkeypatch):
    from stratagem.runs import resume as module

    monkeypatch.setattr(module, "_start", lambda run: None)
    assert resume(begun) is None
    (folder / "bots.py").write_text(BOTS + "\n")
    assert [line for line in module.changes(begun) if "bots.py" in line] == [
        f"bots.py has changed since the run {begun.path} began."
    ]
