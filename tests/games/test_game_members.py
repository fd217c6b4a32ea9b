"""Members of a game that its wrappers declare, and that no code outside of them asks for by class."""

import ast
from pathlib import Path

import pytest

import stratagem
from stratagem.games import make_game
from stratagem.games.catalogue import game_names
from stratagem.games.talk import Talk, talk_in, without_talk

SRC = Path(stratagem.__file__).parent


def names_in(node):
    """Return the names in the second argument of `isinstance`."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def test_no_code_outside_of_talk_asks_whether_a_game_is_talk_by_its_class():
    asked = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in sorted(SRC.rglob("*.py"))
        if path.parent != SRC / "games" / "talk" and "Talk" in path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
        and names_in(node.args[1]) & {"Talk", "TalkState", "TalkRules"}
    ]
    assert asked == []


@pytest.mark.parametrize("name", [name for name in game_names() if name != "matrix"])  # it needs payoffs
def test_game_without_talk_goes_around_nothing(name):
    game = make_game(name)
    assert (game.inner, game.has_talk, talk_in(game)) == (None, False, None)
    assert without_talk(game) is game


def test_talk_goes_around_its_game():
    talk = make_game("talk(kuhn(hands=1))")
    assert isinstance(talk, Talk)
    assert (talk.has_talk, talk_in(talk)) == (True, talk)
    assert talk.inner == without_talk(talk) == make_game("kuhn(hands=1)")
