"""Games, players and more from a file without an install: found, loaded once, refused, and never loaded by a record."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from stratagem import file_modules, named_files
from stratagem.algorithms.catalogue import read_any, recipe_of
from stratagem.errors import BadParameter
from stratagem.games.catalogue import describe, make_game
from stratagem.learning.losses.catalogue import read_loss
from stratagem.named_files import allow_file, naming
from stratagem.players.catalogue import make_player
from stratagem.prompting.catalogue import make_style
from stratagem.runs.folder import RunFolder
from stratagem.runs.resume import resume
from stratagem.runs.source_files import source_files

EXAMPLES = Path(__file__).parents[2] / "examples"
BOTS = """
from dataclasses import dataclass
from shutil import rmtree
from goods import ThresholdGoods  # a neighbour
from stratagem.players.base import Scripted

print("loaded")

@dataclass(frozen=True)
class Steady(Scripted):
    \"\"\"Gives, or keeps.\"\"\"
    give: bool = True
    def strategy(self, view):
        assert type(view.game) is ThresholdGoods
        return "GIVE" if self.give else "KEEP"

class Owner(Steady):
    family = "auction"

class Bad(Steady):
    def __init__(self):
        1 / 0

def keeper():
    return Steady(give=False)

def three():
    return 3

def both(one, other):
    return Steady()

LIST = [1]
"""
BARE = """
from stratagem.games import Game
class Plain(Game):
    state = spec = choices = rules = situation = None
"""
RECIPE = """
algorithm = "grpo"
games = ["goods.py:ThresholdGoods"]
opponents = ["noise(bots.py:Steady, p=0.5)"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a game and players; nothing has been loaded from it, and the cache is empty."""
    shutil.copy(EXAMPLES / "threshold_goods.py", tmp_path / "goods.py")
    (tmp_path / "bots.py").write_text(BOTS)
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(file_modules, "_modules", {})
    monkeypatch.chdir(tmp_path)
    for name in ("goods", "bots", "fine"):  # other tests have files of these names, too
        sys.modules.pop(name, None)
    with naming():
        yield tmp_path
    for name in ("goods", "bots", "fine"):
        sys.modules.pop(name, None)


def test_a_game_and_players_of_files_are_played_and_loaded_once(run):
    code, out, _ = run(
        *("play", "goods.py:ThresholdGoods", "--players", "bots.py:Steady"),
        *("./bots.py:keeper", "noise(bots.py:Steady, p=0.2)"),
    )
    assert code == 0
    assert out.count("loaded") == 1
    assert "goods.py:ThresholdGoods, goods.py" in out
    assert "bots.py:Steady(give=False)@1" in out
    assert "noise(bots.py:Steady, p=0.2)@1" in out


def test_describe_and_make_game_round_trip_from_another_folder(folder, monkeypatch):
    (folder / "deep").mkdir()
    text = (folder / "goods.py").read_text().replace("state = GoodsState", "state = GoodsState\n    seats: int = 3")
    (folder / "deep" / "fine.py").write_text(text)
    allow_file("deep/fine.py")
    game = make_game("deep/fine.py:ThresholdGoods(seats=4)")
    monkeypatch.chdir("/")
    assert describe(game) == "fine.py:ThresholdGoods(seats=4)"
    assert make_game(describe(game)) == game


def test_two_files_of_one_name_have_two_names(folder):
    (folder / "deep").mkdir()
    shutil.copy(folder / "goods.py", folder / "deep" / "goods.py")
    for file in ("goods.py", "deep/goods.py"):
        allow_file(file)
    other, own = (make_game(f"{file}:ThresholdGoods") for file in ("deep/goods.py", "goods.py"))
    assert type(own) is not type(other)
    assert describe(own) == "goods.py:ThresholdGoods"
    assert make_game(describe(other)) == other != own


def test_a_file_named_like_a_module_is_another_module(folder):
    shutil.copy(folder / "goods.py", folder / "random.py")
    allow_file("random.py")
    assert describe(make_game("random.py:ThresholdGoods")) == "random.py:ThresholdGoods"
    import random

    assert random.random() < 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("goods.py:ThresholdGoods bots.py:Stead", "no player called 'bots.py:Stead': did you mean bots.py:Steady"),
        ("goods.py:ThresholdGoods bots.py:three", "bots.py:three makes int, which is no player"),
        ("goods.py:ThresholdGoods bots.py:LIST", "bots.py:LIST is no player: the file has bots.py:Steady"),
        ("goods.py:ThresholdGoods bots.py:LIST", "bots.py:Bad, bots.py:keeper, bots.py:three, bots.py:both."),
        ("goods.py:ThresholdGoods bots.py:both", "it needs one, other, as in bots.py:both(one=..., other=...)."),
        ("goods.py:ThresholdGoods bots.py:rmtree('x')", "bots.py:rmtree is no player"),
        ("goods.py:ThresholdGoods bots.py:Owner", "bots.py:Owner plays auction, not threshold-goods"),
        ("goods.py:ThresholdGoods bots.py:Bad", "bots.py:Bad cannot be used: line 22 raises ZeroDivisionError"),
        ("goods.py:ThresholdGoods(a=1) random", "has no option a"),
        ("goods.py:GoodsState random", "goods.py:GoodsState is no game: the file has goods.py:ThresholdGoods"),
        ("goods.py:ThresholdGoods bots.py:thre", "no player called 'bots.py:thre': did you mean bots.py:three"),
        ("goods.py random", "Name a class or a function of the file goods.py, as in goods.py:NAME"),
        ("nothing.py:Game random", "There is no file 'nothing.py': tried {folder}/nothing.py"),
        ("deep/nothing.py:Game random", "tried {folder}/deep/nothing.py"),
        ("syntax.py:Game random", "syntax.py cannot be used: line 2 raises SyntaxError: '(' was never closed"),
        ("leaves.py:Game random", "leaves.py cannot be used: line 1 raises SystemExit: 3"),
        ("open.py:Open random", "open.py:Open has a parameter that can change"),
        ("plain.py:Plain random", "write @dataclass(frozen=True) above its class"),
        ("nosuch random", "write one in a file and name it FILE.py:CLASS"),
    ],
)
def test_a_mistake_is_one_sentence(run, folder, arguments, says):
    (folder / "syntax.py").write_text("x = 1\ny = (\n")
    (folder / "leaves.py").write_text("raise SystemExit(3)")
    (folder / "open.py").write_text(
        f"from dataclasses import dataclass\n{BARE}@dataclass\nclass Open(Plain):\n    a: int = 1"
    )
    (folder / "plain.py").write_text(BARE)
    game, player = arguments.split()
    code, _, error = run("play", game, "--players", player)
    assert code == 2
    assert says.format(folder=folder) in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("line", "mistake", "says"),
    [
        ("self.end()", "1 / 0", "odd.py cannot be used: line 19 raises ZeroDivisionError: division by zero."),
        ("self.end()", "raise SystemExit(3)", "odd.py cannot be used: line 19 raises SystemExit: 3."),
        ("self.end()", "Flat(())", "odd.py cannot be used: line 19 raises ValueError: choices need at least one"),
        ("    state = GoodsState", "", "odd.py:ThresholdGoods has no state: write state = MyState in its class"),
        ("    spec = GameSpec(", "    spec = dict(", "as its spec: it must be a GameSpec"),
        ("return Flat(", "return list(", "as the choices of seat 0: they must be a Flat or a Sheet"),
        ("return Flat(", "return 1 / 0, (", "odd.py:ThresholdGoods cannot be used: line 33 raises ZeroDivisionError"),
    ],
)
def test_a_mistake_in_the_rules_is_one_sentence(run, folder, line, mistake, says):
    rules = (folder / "goods.py").read_text()
    assert line in rules
    (folder / "odd.py").write_text(rules.replace(line, mistake, 1))
    code, _, error = run("play", "odd.py:ThresholdGoods", "--players", "random", "random", "random")
    assert code == 2
    assert says in error
    assert "Traceback" not in error


def test_a_null_and_an_error_that_are_no_number_are_not_printed_as_one(run, folder):
    (folder / "vague.py").write_text(
        "from math import nan\n"
        "from stratagem.evaluation.metrics import Metric\n"
        "from stratagem.evaluation.statistics import Estimate\n"
        "class Vague(Metric):\n    name, better = 'vague', 'higher'\n"
        "    def measure(self, sample):\n        return Estimate(7.0, nan, 2)\n"
        "    def null(self, sample):\n        return nan\n"
    )
    words = "eval kuhn --player AlwaysBet --opponents random --episodes 2 --no-chance --metric vague.py:Vague"
    _, printed, _ = run(*words.split())
    rows = {line.split()[0]: line.rstrip() for line in printed.splitlines()[2:4]}
    assert rows["AlwaysBet"].endswith("7.000 ±?")
    assert rows["null"].endswith(" –")


def test_a_defect_of_ours_keeps_its_traceback(run, monkeypatch):
    monkeypatch.setattr("stratagem.api.players.roster", lambda game: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("players", "goods.py:ThresholdGoods")


def test_players_of_the_file_of_a_game_are_listed(run, folder):
    text = "from stratagem.players.base import Scripted\nclass Giver(Scripted):\n    family = 'threshold-goods'\n"
    (folder / "both.py").write_text(
        f"{(folder / 'goods.py').read_text()}\n{text}    def strategy(self, view):\n        return 'GIVE'\n"
    )
    assert "did you mean Giver?" in run("play", "both.py:ThresholdGoods", "--players", "Givr")[2]
    assert "Giver" in run("players", "both.py:ThresholdGoods")[1]


def test_losses_styles_and_metrics_may_be_of_a_file(folder, run):
    (folder / "fine.py").write_text(
        "from stratagem.learning.losses.cross_entropy import CrossEntropy\n"
        "from stratagem.prompting.plain import Plain\nclass Loss(CrossEntropy): pass\nclass Terse(Plain): pass\n"
    )
    allow_file("fine.py")
    assert read_loss({"type": "fine.py:Loss"}).table()["type"] == "fine.py:Loss"
    assert type(make_style("fine.py:Terse")).__name__ == "Terse"
    shutil.copy(EXAMPLES / "worst_episode.py", folder / "worst.py")
    code, out, _ = run(
        *("eval", "goods.py:ThresholdGoods", "--player", "bots.py:Steady", "--episodes", "3", "--no-chance"),
        *("--metric", "worst.py:WorstEpisode"),
    )
    assert code == 0
    assert "worst.py:WorstEpisode" in out


@pytest.mark.parametrize("place", ["q'x", 'q"x', "a,b", "a=b", "a[1]", "a(1)", "a{1}", "a;b"])
def test_a_path_of_any_characters_is_a_name_where_it_stands_alone(run, folder, place):
    (folder / place).mkdir()
    (folder / place / "fine.py").write_text(BOTS)
    (folder / "x").mkdir()
    (folder / "x" / "fine.py").write_text("raise ValueError('nobody named it')\n")
    code, out, error = run("play", "goods.py:ThresholdGoods", "--players", f"{place}/fine.py:Steady")
    assert (code, error) == (0, "")
    assert "fine.py:Steady" in out


def test_a_path_within_a_name_is_refused_with_its_odd_character(run, folder):
    (folder / "a'b").mkdir()
    (folder / "a'b" / "fine.py").write_text(BOTS)
    code, _, error = run("play", "goods.py:ThresholdGoods", "--players", "noise(a'b/fine.py:Steady, p=0.2)")
    assert code == 2
    assert "a path with the character ' counts as named only where it stands alone" in error


def test_workers_find_the_file(run):
    code, out, error = run(
        *("eval", "goods.py:ThresholdGoods", "--player", "noise(bots.py:keeper, p=0.5)", "--opponents"),
        *("bots.py:Steady", "--episodes", "3", "--no-chance", "--workers", "1"),
    )
    assert (code, error) == (0, "")
    assert "noise(bots.py:Steady(give=False), p=0.5)" in out


def test_a_record_does_not_load_a_file(run, folder):
    play = ("play", "goods.py:ThresholdGoods", "--players", "bots.py:Steady", "--record", folder / "record")
    assert run(*play)[0] == 0
    assert run("eval", "--from", folder / "record")[0] == 0, "the same file was run by a command before"
    named_files._note_of(folder / "goods.py").unlink()
    file_modules._modules.clear()
    sys.modules.pop("goods")
    for command in (("eval", "--from", "record"), ("show", "record", "--episode", "1", "--files", "files")):
        code, _, error = run(*command)
        assert code == 2
        assert f"would run the file {folder}/goods.py" in error
        assert f"add --allow-file {folder}/goods.py" in error
    assert "goods" not in sys.modules
    assert run("eval", "--from", folder / "record", "--allow-file", "goods.py")[0] == 0


def test_a_record_of_a_file_elsewhere_says_how_to_name_it(run, folder, monkeypatch):
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")
    play = ("play", "../goods.py:ThresholdGoods", "--players", "random", "--record", folder / "record")
    assert run(*play)[0] == 0
    code, _, error = run("eval", "--from", folder / "record")
    assert code == 2
    assert "where it is elsewhere, add --allow-file PATH/goods.py" in error
    assert run("eval", "--from", folder / "record", "--allow-file", "../goods.py")[0] == 0
    assert "--allow-file" not in run("play", "nothing.py:Game", "--players", "random")[2]


def test_a_record_of_an_evaluation_finds_a_file_where_its_command_named_it(run, folder):
    (folder / "deep").mkdir()
    shutil.copy(folder / "goods.py", folder / "deep" / "fine.py")
    asked = ("eval", "deep/fine.py:ThresholdGoods", "--player", "random", "--episodes", "1", "--no-chance")
    assert run(*asked, "--record", "record")[0] == 0
    code, out, error = run("eval", "--from", "record")
    assert (code, error) == (0, "")
    assert "deep/fine.py:ThresholdGoods" in out
    named_files._note_of(folder / "deep" / "fine.py").unlink()
    file_modules._modules.clear()
    assert f"would run the file {folder}/deep/fine.py" in run("eval", "--from", "record")[2]


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


def allowed(file):
    allow_file(file)
    return f"{file}:ThresholdGoods"


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


def test_a_game_that_has_no_name_is_described_by_its_declared_one(folder):
    sys.path.append(str(folder))
    import goods

    assert describe(goods.ThresholdGoods()) == "threshold-goods"
