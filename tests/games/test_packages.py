"""Declarations of the games that come with Stratagem: each part is there, and is loaded by the table that reads it."""

import subprocess
import sys
from pathlib import Path

import pytest

import stratagem
from stratagem.games.base import Game
from stratagem.games.catalogue import GAMES, make_game
from stratagem.games.package import GamePackage
from stratagem.games.packages import PACKAGES
from stratagem.games.safety.base import Safety
from stratagem.games.safety.catalogue import SAFETY
from stratagem.learn.demonstrations.reasoning.catalogue import REASONERS
from stratagem.players.catalogue import PLAYERS
from stratagem.show.viewer.faces.base import GameFace
from stratagem.show.viewer.faces.catalogue import FACES

PARTS = {"rules": "rules", "safety": "safety", "players": "players", "demonstrations": "reasons", "face": "face"}
"""Field of a declaration by the file of a package."""


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_package_parts_are_of_their_kinds(package):
    assert all(callable(make) for make in package.games().values())
    assert all(issubclass(part, Safety) for part in package.parts("safety").values())
    assert all(issubclass(part, GameFace) for part in package.parts("face").values())
    for kind in ("players", "reasons"):
        assert all(callable(made) for part in package.parts(kind).values() for made in part.values())


def test_tables_have_the_parts_of_all_packages():
    assert [name for package in PACKAGES for name in package.games()] == list(GAMES)
    assert [name for package in PACKAGES for name in package.parts("safety")] == list(SAFETY)
    assert [name for package in PACKAGES for name in package.parts("reasons")] == list(REASONERS)
    assert [name for package in PACKAGES for name in package.parts("face")] == list(FACES)
    declared = [
        f"{family}/{name}" for one in PACKAGES for family, made in one.parts("players").items() for name in made
    ]
    assert declared == [name for name in PLAYERS if "/" in name]


def test_every_part_of_a_package_is_declared():
    """A file of a known role that nothing declares would never be read; public goods and senders name their safety."""
    declared = {
        text for one in PACKAGES for text in map(str, (one.rules, one.safety, one.players, one.reasons, one.face))
    }
    named = {game.safety.__module__ for game in map(make_game, ("public-goods", "sender-receiver"))}
    folder = Path(stratagem.__file__).parent / "games"
    files = [
        file
        for file in folder.glob("*/*.py")
        if file.stem in PARTS and (file.parent / "rules.py").exists() and file.parent.name not in ("spiel", "talk")
    ]
    modules = [f"stratagem.games.{file.parent.name}.{file.stem}" for file in files]
    assert len(modules) > 35
    places = " ".join(declared)
    assert not [
        name for name in modules if f"{name}:" not in places and name not in named | {"stratagem.games.matrix.rules"}
    ]


def test_games_load_no_player_and_no_face():
    program = "from stratagem.games import game_names; game_names(); import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "stratagem.games.kuhn.safety" not in loaded
    assert not [name for name in loaded if name.startswith(("stratagem.players", "stratagem.show", "stratagem.learn"))]


def test_single_place_holds_for_all_games_of_a_package():
    one = GamePackage(
        "mine", rules="stratagem.games.kuhn:Kuhn", safety={"kuhn": "stratagem.games.kuhn.safety:KuhnSafety"}
    )
    assert one.games() == {"mine": GAMES["kuhn"]}
    assert one.part_of("safety", "other", "kuhn") is SAFETY["kuhn"]
    assert one.part_of("safety", "other", "another") is None
    assert one.part_of("players", "mine", "mine") is None
    assert issubclass(GamePackage("x", rules="", face="stratagem.games.base:Game").part_of("face", "a", "b"), Game)
