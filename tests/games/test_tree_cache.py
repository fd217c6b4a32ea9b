"""Stored trees: read as they were walked, for the same rules and parameters alone, within their room."""

import os
from dataclasses import fields
from functools import partial

import numpy as np
import pytest

import stratagem as sg
from stratagem.base.errors import CannotCompute
from stratagem.games import catalogue, tree_cache
from stratagem.games.catalogue import make_game
from stratagem.games.kuhn import Kuhn
from stratagem.games.matrix.rules import MatrixGame
from stratagem.games.regret_solver import TreeSolver
from stratagem.games.spiel.bridge import SpielGame
from stratagem.games.spiel.face import PlainFace
from stratagem.games.talk import Talk
from stratagem.games.tree_cache import tree_of
from stratagem.games.tree_walk import walk

GAMES = ("leduc", "kuhn(hands=2)", "auction(rounds=2)", "ipd(rounds=3)", "talk(game=prisoners-dilemma(rounds=1))")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache, which stores trees of any size."""
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    monkeypatch.setattr(tree_cache, "LEAST_NODES", 1)
    return tmp_path / "trees"


@pytest.fixture
def unwalked(monkeypatch):
    """Refuse to walk from now on."""

    def refuse():
        monkeypatch.setattr(tree_cache, "walk", lambda *args, **options: pytest.fail("it was walked again"))

    return refuse


@pytest.mark.parametrize("text", GAMES)
def test_a_tree_is_read_as_it_was_walked(text, unwalked):
    game = make_game(text)
    walked = tree_of(game)
    unwalked()
    read = tree_of(make_game(text))
    for column in fields(walked):
        ours, theirs = getattr(walked, column.name), getattr(read, column.name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype
            assert isinstance(theirs, np.memmap)
            np.testing.assert_array_equal(ours, theirs)
    assert read.digest == walked.digest == walk(game).digest
    for one, other in zip(walked.information_sets, read.information_sets, strict=True):
        assert (one.seat, one.actions, one.before, one.turn) == (other.seat, other.actions, other.before, other.turn)
        assert one.state.dump() == other.state.dump()


def test_a_stored_tree_is_solved_like_a_walked_one(unwalked):
    game = make_game("leduc")
    solvers = [TreeSolver(tree_of(game))]
    unwalked()
    solvers.append(TreeSolver(tree_of(game)))
    for solver in solvers:
        solver.iterate(5)
    assert solvers[0].gaps() == solvers[1].gaps()


def test_other_parameters_are_another_tree():
    first, second = (tree_of(make_game(f"auction(rounds=1, price={price})")) for price in ("first", "second"))
    assert first.digest != second.digest == tree_of(make_game("auction(rounds=1, price=second)")).digest


def test_other_rules_are_another_tree(monkeypatch, folder):
    tree_of(make_game("leduc"))
    monkeypatch.setattr(tree_cache, "rules_stamp", lambda: "the rules of tomorrow")
    tree_of(make_game("leduc"))
    assert len(list(folder.iterdir())) == 2


def test_the_stamp_of_the_rules_follows_their_files(monkeypatch, tmp_path):
    rules = tmp_path / "games" / "rules.py"
    rules.parent.mkdir()
    rules.write_text("LIMIT = 1")
    monkeypatch.setattr(tree_cache, "__file__", str(rules.parent / "tree_cache.py"))
    stamps = [tree_cache.rules_stamp.__wrapped__()]
    rules.write_text("LIMIT = 10")
    stamps.append(tree_cache.rules_stamp.__wrapped__())
    assert stamps[0] != stamps[1]


class Mine(Kuhn):
    """A game of a user's."""


def stored(folder, game):
    """Return the folders that the tree of a game adds to the cache."""
    before = set(folder.glob("*"))
    tree_of(game)
    return set(folder.glob("*")) - before


@pytest.mark.parametrize("game", [Mine(hands=1), Talk(game=Mine(hands=1), before="round", intents=("state",))])
def test_a_game_of_a_users_is_not_stored(folder, game):
    assert not stored(folder, game)
    assert stored(folder, Kuhn(hands=1))


def test_rounds_of_a_game_are_not_stored(folder):
    tree_of(make_game("kuhn"), one_round=True)
    assert not folder.exists()


EFG = """EFG 2 R "" { "A" "B" } ""
p "" 1 1 "" { "a" "b" } 0
 t "" 1 "" { %d 0 }
 t "" 2 "" { 0 0 }
"""


def test_a_game_that_openspiel_reads_from_a_file_is_not_stored(tmp_path, folder):
    file = tmp_path / "own.efg"
    file.write_text(EFG % 7)
    sg.allow(str(file))
    game = make_game(f"spiel:efg_game(filename={file})")
    assert not stored(folder, game)
    assert not stored(folder, Talk(game=game, words=("a",)))


class OwnFace(PlainFace):
    """Action names of a user's."""


def test_a_game_with_action_names_of_a_users_is_not_stored(folder):
    assert not stored(folder, SpielGame(text="kuhn_poker", face=OwnFace(text="kuhn_poker")))
    assert stored(folder, SpielGame(text="kuhn_poker", face=PlainFace(text="kuhn_poker")))


def test_what_another_package_sets_under_a_name_is_in_the_key(monkeypatch):
    def register(payoff):
        table = (((payoff, 1), (0, 0)), ((0, 0), (1, 3)))
        monkeypatch.setitem(catalogue.REGISTRY.table, "stag", partial(MatrixGame, name="stag", payoffs=table, rounds=1))
        catalogue.usual_of.cache_clear()
        return tree_of(make_game("stag"))

    assert [register(payoff).returns.max() for payoff in (5, 9)] == [5, 9]


@pytest.mark.parametrize("harm", ["cut", "empty", "lost", "options", "other options"])
def test_a_broken_tree_is_walked_again(folder, harm):
    game = make_game("leduc")
    digest = tree_of(game).digest
    (stored,) = folder.iterdir()
    if harm == "cut":
        (stored / "parent.npy").write_bytes((stored / "parent.npy").read_bytes()[:90])
    elif harm == "empty":
        (stored / "parent.npy").write_bytes(b"")
    elif harm == "lost":
        (stored / "set-node.npy").unlink()
    else:
        (stored / "options.json").write_text("[" if harm == "options" else "[1]")
    assert tree_of(game).digest == digest
    assert isinstance(tree_of(game).parent, np.memmap)


def test_a_stored_tree_beyond_the_budget_is_refused():
    game = make_game("spiel:kuhn_poker(players=3)")
    tree_of(game)
    with pytest.raises(CannotCompute, match="has 601 nodes, beyond the budget of 600"):
        tree_of(game, 600)


def test_the_tree_that_was_not_used_for_longest_makes_room(folder, monkeypatch):
    trees = {}
    for age, text in enumerate(("leduc", "auction(rounds=2)", "ipd(rounds=3)")):
        (trees[text],) = stored(folder, make_game(text))
        os.utime(trees[text], (1000 + age, 1000 + age))
    tree_of(make_game("leduc"))  # used again, so it stays
    size = sum(file.stat().st_size for file in folder.rglob("*.npy"))
    monkeypatch.setattr(tree_cache, "MOST_BYTES", size)
    assert len(stored(folder, make_game("kuhn(hands=2)"))) == 1
    assert not trees["auction(rounds=2)"].exists()
    assert trees["leduc"].exists()


def test_a_cache_that_cannot_be_written_changes_nothing(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "file"))
    assert len(tree_of(make_game("leduc"))) == 9451


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    monkeypatch.delenv("STRATAGEM_CACHE")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert len(tree_of(make_game("leduc"))) == 9451
