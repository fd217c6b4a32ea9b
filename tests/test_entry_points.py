"""Another package brings a game and a player: declared in its metadata, found by name, held to every rule."""

import json
import subprocess
import sys
from typing import NamedTuple

import pytest

from forks import COMMAND, forked_program

PYPROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "coin-match"
version = "0.3"

[tool.setuptools]
py-modules = ["coin_match"]

[project.entry-points."stratagem.games"]
coin-match = "coin_match:CoinMatch"

[project.entry-points."stratagem.players"]
"coin-match/Heads" = "coin_match:Heads"
"""

MODULE = '''
from collections.abc import Mapping
from dataclasses import dataclass
from stratagem.games import Flat, Game, GameSpec, RoundResult, State, View
from stratagem.players.base import Scripted

class Coins(State[int]):
    def view(self, seat):
        return View(self.game, seat, seat)

    def play(self, actions):
        if self.over or set(actions) != set(self.to_act) or not set(actions.values()) <= {"HEADS", "TAILS", None}:
            raise self.refuse(actions)
        won = 1.0 if actions[0] == actions[1] else -1.0
        self.end()
        return RoundResult((won, -won))

@dataclass(frozen=True)
class CoinMatch(Game[int]):
    """Matching pennies, once."""
    state = Coins
    spec = GameSpec(
        name="coin-match", family="coin-match", summary="Match the coin.", rounds=1, simultaneous=True,
        utility="zero-sum", bounds=(-1.0, 1.0), chance=False, private_information=False, symmetric=False,
        on_illegal="null")

    def choices(self, facts):
        return Flat(("HEADS", "TAILS"))

    def rules(self, seat):
        return "Seat 0 wins if both coins show the same."

    def situation(self, facts):
        return "Nobody has shown a coin."

class Heads(Scripted[int]):
    """Shows heads."""
    family = "coin-match"

    def strategy(self, view):
        return "HEADS"
'''

PROGRAM = """
import json
from stratagem.games import describe, game_names, make_game
from stratagem.games.conformance import verify
from stratagem.players.catalogue import make_player, player_names
from stratagem.games.key import Key

game = make_game("coin-match")
player = make_player("Heads", game)
view = game.start(Key(0)).view(0)
print(json.dumps({
    "listed": "coin-match" in game_names() and "kuhn" in game_names(),
    "describes": describe(game),
    "report": verify(game, episodes=8).to_json(),
    "player": player.name,
    "plays": player.policy(view),
    "players": player_names(game),
}))
"""


class Run(NamedTuple):
    """Outcome of a program."""

    returncode: int
    stdout: str
    stderr: str


def write_package(folder):
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "coin_match.py").write_text(MODULE)


def write_installed(target):
    """Files of an installed package: the module, and its metadata with the entry points."""
    info = target / "coin_match-0.3.dist-info"
    info.mkdir(parents=True)
    (target / "coin_match.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin-match\nVersion: 0.3\n")
    (info / "entry_points.txt").write_text(
        "[stratagem.games]\ncoin-match = coin_match:CoinMatch\n\n"
        "[stratagem.players]\ncoin-match/Heads = coin_match:Heads\n"
    )


def python(source, *words, path):
    """Run source where the packages of a folder are found; its errors stand in a file of their own."""
    errors = path / "errors.txt"
    own = f"import os, sys; sys.path.insert(0, {str(path)!r})\n"
    own += f"os.dup2(os.open({str(errors)!r}, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)\n"
    status, printed = forked_program(own + source, *words, work=path, scratch=path)
    return Run(status, printed, errors.read_text(encoding="utf-8"))


def check(target):
    run = python(PROGRAM, path=target)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["listed"]
    assert found["describes"] == "coin-match"
    assert found["report"]["ok"], found["report"]
    assert found["player"] == "coin-match/Heads"
    assert found["plays"] == {"HEADS": 1.0}
    assert "Heads" in found["players"]
    assert "TitForTat" not in found["players"]


def test_an_installed_package_is_found_and_conforms(tmp_path):
    write_installed(tmp_path)
    check(tmp_path)


@pytest.mark.long
def test_pip_installs_it_without_a_network(tmp_path):
    """Every day the package is there as pip leaves it."""
    pytest.importorskip("setuptools", minversion="77")
    source, target = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    write_package(source)
    flags = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "--quiet")
    command = [sys.executable, "-m", "pip", "install", *flags, "--target", str(target), str(source)]
    installed = subprocess.run(command, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    check(target)


def test_a_game_that_calls_itself_by_no_name_of_a_game_is_refused(tmp_path):
    write_installed(tmp_path)
    entries = tmp_path / "coin_match-0.3.dist-info" / "entry_points.txt"
    entries.write_text("[stratagem.games]\npennies = coin_match:CoinMatch\nnumber = builtins:int\n")
    run = stratagem(tmp_path, "play", "pennies", "--players", "random", "random")
    assert run.returncode == 2
    assert "The game pennies is 'coin-match' in its spec, and no game is registered by this name: let the" in run.stderr
    assert "number makes int, which is no game." in stratagem(tmp_path, "games", "number").stderr


def test_without_the_package_the_name_is_unknown(tmp_path):
    run = python("from stratagem.games import make_game\nmake_game('coin-match')", path=tmp_path)
    assert run.returncode != 0
    assert "There is no game called 'coin-match'" in run.stderr


def test_the_game_is_as_short_as_we_say():
    """A game of one's own takes less than 40 lines."""
    game = MODULE[MODULE.index("class Coins") : MODULE.index("class Heads")]
    assert len([line for line in game.splitlines() if line.strip()]) < 40


BROKEN = """[stratagem.games]
torn = torn_package:Game
hollow = torn_number:NOTHING

[stratagem.players]
ipd/Torn = torn_package:Player
angry = torn_number:angry

[stratagem.metrics]
torn figure = torn_package:Figure
"""


@pytest.fixture(scope="module")
def torn(tmp_path_factory):
    """A package that cannot be imported, beside a module that holds the wrong things."""
    target = tmp_path_factory.mktemp("torn")
    info = target / "torn_package-1.dist-info"
    info.mkdir()
    (target / "torn_package.py").write_text("raise RuntimeError('it wants a licence')\n")
    (target / "torn_number.py").write_text("NOTHING = 7\ndef angry():\n    raise OSError('no such thing')\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torn-package\nVersion: 1\n")
    (info / "entry_points.txt").write_text(BROKEN)
    return target


def stratagem(target, *arguments):
    return python(COMMAND, *arguments, path=target)


@pytest.mark.parametrize(
    "arguments",
    [
        ("games",),
        ("games", "kuhn"),
        ("players", "ipd"),
        ("eval", "ipd", "--player", "TitForTat", "--opponents", "AlwaysDefect", "--episodes", "1", "--no-chance"),
    ],
    ids=str,
)
def test_a_broken_package_stops_nothing_else(torn, arguments):
    run = stratagem(torn, *arguments)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("games torn", "The game torn of the package torn-package is broken: torn_package:Game says RuntimeError"),
        ("games hollow", "torn_number:NOTHING says TypeError"),
        ("play ipd --players Torn", "The player ipd/Torn of the package torn-package is broken"),
        ("play ipd --players angry", "torn_number:angry says OSError: no such thing."),
        ("games tron", "did you mean torn"),
    ],
)
def test_a_broken_name_says_what_is_wrong_with_it(torn, arguments, sentence):
    run = stratagem(torn, *arguments.split())
    assert run.returncode == 2
    assert sentence in " ".join(run.stderr.split())
    assert "Traceback" not in run.stderr


def test_a_broken_metric_says_so_and_is_in_no_list(torn):
    run = stratagem(torn, "eval", "ipd", "--player", "TitForTat", "--metric", "torn figure")
    assert run.returncode == 2
    assert "The metric torn figure of the package torn-package is broken" in " ".join(run.stderr.split())
    program = "from stratagem.measure.metrics import METRICS as m; print(len(m), 'torn figure' in list(m), *m)"
    listed = python(program, path=torn)
    assert listed.stdout.startswith("35 False payoff pool_advantage"), listed.stderr


DECLARATION = """
from stratagem.games.package import GamePackage
PACKAGE = GamePackage(
    "coin-match", rules="coin_match:CoinMatch", safety="coin_parts:CoinSafety", players="coin_parts:PLAYERS",
    reasons="coin_parts:REASONS", face="coin_parts:CoinFace")
"""
PARTS = """
from pathlib import Path
from coin_match import Heads
from stratagem.games import Safety
from stratagem.show.viewer.faces.base import GameFace

class CoinSafety(Safety):
    pools = {"train": ("Heads",), "exploit": ("Tails",)}
    demonstrators = {"Heads": 1.0}

class Tails(Heads):
    def strategy(self, view):
        return "TAILS"

def broken():
    raise OSError("no coin")

PLAYERS = {"Heads": Heads, "Tails": Tails, "Broken": broken}
REASONS = {"Heads": lambda view, action: (("It is heads.",),), "Tails": lambda view, action: 1 / 0}

class CoinFace(GameFace):
    module = Path(__file__).with_name("coin.js")
"""
PROGRAM_OF_PARTS = """
import json, sys
from stratagem.games import make_game
from stratagem.games.key import Key
game = make_game("coin-match")
early = "coin_parts" in sys.modules
from stratagem.games.safety.catalogue import safety_of
from stratagem.learn.demonstrations.reasoning.catalogue import reasoning
from stratagem.players.catalogue import make_player, player_names
from stratagem.show.viewer.faces.catalogue import face_of
view = game.start(Key(0)).view(0)
try:
    reasoning("Tails", view, "TAILS", Key(0))
except Exception as error:
    failed = str(error)
print(json.dumps({
    "early": early,
    "safety": type(safety_of(game)).__name__,
    "train": [player.name for player in map(lambda name: make_player(name, game), safety_of(game).pools["train"])],
    "players": player_names(game),
    "tails": make_player("tails", game).policy(view),
    "elsewhere": "Tails" in player_names(make_game("kuhn")),
    "reasons": reasoning("Heads", view, "HEADS", Key(0)),
    "failed": failed,
    "face": face_of(game).module.name,
}))
"""


@pytest.fixture
def declared(tmp_path):
    """A package whose one entry point leads to a declaration of all parts."""
    write_installed(tmp_path)
    (tmp_path / "coin_package.py").write_text(DECLARATION)
    (tmp_path / "coin_parts.py").write_text(PARTS)
    (tmp_path / "coin.js").write_text("export const mount = 0;\n")
    entries = tmp_path / "coin_match-0.3.dist-info" / "entry_points.txt"
    entries.write_text("[stratagem.games]\ncoin-match = coin_package:PACKAGE\n")
    return tmp_path


def test_one_entry_point_brings_all_parts_of_a_game(declared):
    run = python(PROGRAM_OF_PARTS, path=declared)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found.pop("players")[:3] == ["Heads", "Tails", "Broken"]
    assert found.pop("failed").startswith(
        "The reasoning Tails of the package coin-match is broken: coin_package:PACKAGE"
    )
    assert found == {
        "early": False,
        "safety": "CoinSafety",
        "train": ["coin-match/Heads"],
        "tails": {"TAILS": 1.0},
        "elsewhere": False,
        "reasons": "It is heads.",
        "face": "coin.js",
    }


def test_broken_part_of_a_package_is_one_sentence(declared):
    run = stratagem(declared, "play", "coin-match", "--players", "Broken", "Heads")
    assert run.returncode == 2
    said = " ".join(run.stderr.split())
    assert "The player coin-match/Broken of the package coin-match is broken: coin_package:PACKAGE says OSError" in said
    (declared / "coin_parts.py").write_text("raise RuntimeError('no mint')")
    run = stratagem(declared, "play", "coin-match", "--players", "random", "random")
    assert run.returncode == 2
    assert "of the package coin-match is broken: coin_package:PACKAGE says RuntimeError: no mint." in run.stderr
    (declared / "coin_package.py").write_text(DECLARATION.replace('"coin-match"', '"pennies"'))
    run = stratagem(declared, "games", "coin-match")
    assert (
        "says LookupError: 'it declares pennies, and not coin-match'" in run.stderr
        or "it declares pennies" in run.stderr
    )


def test_group_of_a_single_part_is_deprecated(tmp_path):
    write_installed(tmp_path)
    (tmp_path / "coin_parts.py").write_text(PARTS)
    (tmp_path / "coin.js").write_text("export const mount = 0;\n")
    entries = tmp_path / "coin_match-0.3.dist-info" / "entry_points.txt"
    safety, faces = (f"\n[stratagem.{group}]\ncoin-match = coin_parts:Coin" for group in ("safety", "faces"))
    entries.write_text(f"{entries.read_text()}{safety}Safety\n{faces}Face\n")
    program = (
        "import warnings; warnings.simplefilter('always', DeprecationWarning)\n"
        "from stratagem.games import make_game; from stratagem.games.safety.catalogue import safety_of\n"
        "from stratagem.show.viewer.faces.catalogue import face_of\n"
        "game = make_game('coin-match'); print(type(safety_of(game)).__name__, type(face_of(game)).__name__)"
    )
    run = python(program, path=tmp_path)
    assert run.stdout.split() == ["CoinSafety", "CoinFace"], run.stderr
    for group in ("safety", "faces"):
        assert f"coin-match stands in stratagem.{group}, a group that is deprecated: declare it in a" in run.stderr
