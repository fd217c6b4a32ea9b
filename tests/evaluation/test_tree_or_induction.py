"""The one decision between a game's tree and backward induction."""

import ast
from pathlib import Path

import pytest

import stratagem
from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.measure.exploitability.best_responder import best_responder
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.tree_policy import tree_or_induction
from stratagem.players.catalogue import make_player

SRC = Path(stratagem.__file__).parent


@pytest.mark.parametrize(
    ("text", "player", "on_tree"),
    [
        ("kuhn", "NashApprox", True),  # cards are hidden
        ("ipd(rounds=4)", "TitForTat", False),  # nothing is hidden, and rounds depend on each other
        ("auction", "Truthful", False),  # the tree is too large, and situations repeat
        ("leduc", "cfr:2", True),  # the player knows its policy on a whole tree
    ],
)
def test_decision_follows_what_the_game_hides_and_what_the_player_knows(text, player, on_tree):
    game = make_game(text)
    assert (tree_or_induction(game, make_player(player, game), 50_000) is not None) is on_tree


def test_too_large_a_tree_is_refused_where_situations_do_not_repeat():
    game = make_game("bargaining")
    with pytest.raises(CannotCompute, match="The tree of bargaining"):
        tree_or_induction(game, make_player("random", game), 50_000)


@pytest.mark.parametrize("module", ["best_responder", "exact"])
def test_decision_is_taken_in_one_place(module):
    tree = ast.parse((SRC / f"measure/exploitability/{module}.py").read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "tree_or_induction" in names
    assert not {"private_information", "independent_rounds"} & read


@pytest.mark.parametrize(("text", "player"), [("kuhn", "TightPassive"), ("ipd(rounds=3)", "TitForTat")])
def test_responder_and_figure_are_computed_by_the_same_decision(text, player, monkeypatch):
    asked = []

    def told(game, agent, budget):
        asked.append(game.spec.name)
        return tree_or_induction(game, agent, budget)

    for module in ("exact", "best_responder"):
        monkeypatch.setattr(f"stratagem.measure.exploitability.{module}.tree_or_induction", told)
    game = make_game(text)
    seated = make_player(player, game)
    exact(game, seated)
    best_responder(game, seated)
    assert len(asked) == 2
