"""Games, players and more from a file without an install: found, loaded once, refused, and never loaded by a record."""

import shutil
import sys

import pytest
from user_files import BOTS, EXAMPLES, user_folder

from stratagem.base.consent.table import allow
from stratagem.games.catalogue import describe, make_game
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.losses.catalogue import read_loss

BARE = """
from stratagem.games import Game
class Plain(Game):
    state = spec = choices = rules = situation = None
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    yield from user_folder(tmp_path, monkeypatch)


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
    allow("deep/fine.py")
    game = make_game("deep/fine.py:ThresholdGoods(seats=4)")
    monkeypatch.chdir("/")
    assert describe(game) == "fine.py:ThresholdGoods(seats=4)"
    assert make_game(describe(game)) == game


def test_two_files_of_one_name_have_two_names(folder):
    (folder / "deep").mkdir()
    shutil.copy(folder / "goods.py", folder / "deep" / "goods.py")
    for file in ("goods.py", "deep/goods.py"):
        allow(file)
    other, own = (make_game(f"{file}:ThresholdGoods") for file in ("deep/goods.py", "goods.py"))
    assert type(own) is not type(other)
    assert describe(own) == "goods.py:ThresholdGoods"
    assert make_game(describe(other)) == other != own


def test_a_file_named_like_a_module_is_another_module(folder):
    shutil.copy(folder / "goods.py", folder / "random.py")
    allow("random.py")
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
        ("nosuch random", "write one in a file and name it FILE.py:CLASS or FILE.toml"),
        ("goods.py:ThresholdGoods nosuch", "write one in a file and name it FILE.py:CLASS, as in"),
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
        "from stratagem.measure.metrics import Metric\n"
        "from stratagem.measure.statistics import Estimate\n"
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
        "from stratagem.learn.losses.cross_entropy import CrossEntropy\n"
        "from stratagem.language.prompting.plain import Plain\n"
        "class Loss(CrossEntropy): pass\nclass Terse(Plain): pass\n"
    )
    allow("fine.py")
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


def test_a_record_does_not_load_a_file(run, folder, as_new_process):
    play = ("play", "goods.py:ThresholdGoods", "--players", "bots.py:Steady", "--record", folder / "record")
    assert run(*play)[0] == 0
    as_new_process()
    sys.modules.pop("goods")
    for command in (("eval", "--from", "record"), ("show", "record", "--episode", "1", "--files", "files")):
        code, _, error = run(*command)
        assert code == 2
        assert f"would run the file {folder}/goods.py" in error
        assert f"say `stratagem trust {folder}`, or add --allow-file {folder}/goods.py" in error
    assert "goods" not in sys.modules
    assert run("eval", "--from", folder / "record", "--allow-file", "goods.py")[0] == 0
    as_new_process()
    sys.modules.pop("goods")
    assert run("eval", "--from", folder / "record")[0] == 2, "that it was allowed once allows nothing"
    assert run("trust", folder)[0] == 0
    assert run("eval", "--from", folder / "record")[0] == 0


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


def test_a_record_of_an_evaluation_finds_a_file_where_its_command_named_it(run, folder, as_new_process):
    (folder / "deep").mkdir()
    shutil.copy(folder / "goods.py", folder / "deep" / "fine.py")
    asked = ("eval", "deep/fine.py:ThresholdGoods", "--player", "random", "--episodes", "1", "--no-chance")
    assert run(*asked, "--record", "record")[0] == 0
    code, out, error = run("eval", "--from", "record")
    assert (code, error) == (0, "")
    assert "deep/fine.py:ThresholdGoods" in out
    as_new_process()
    assert f"would run the file {folder}/deep/fine.py" in run("eval", "--from", "record")[2]


def test_a_game_that_has_no_name_is_described_by_its_declared_one(folder):
    sys.path.append(str(folder))
    import goods

    assert describe(goods.ThresholdGoods()) == "threshold-goods"
