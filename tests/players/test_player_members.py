"""Members of players: every wrapper tells the player inside, one walk reaches it, and nobody asks otherwise."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import stratagem
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.base import Move, Scripted, Traits, stated_by
from stratagem.players.catalogue import make_player
from stratagem.players.members import PlayerBase, WrapperPlayer, innermost, layers, members_of
from stratagem.players.rings import RINGS
from stratagem.players.talkers import TALKERS

SOURCE = Path(stratagem.__file__).parent
ASKED = {name for name in vars(PlayerBase) if name[0] != "_"} | {"player", "speaker", "mode"}
"""Members of which a player is asked, and former ways to ask."""


def asked_by_name(file: Path) -> Iterator[str]:
    """Yield the calls of `getattr` and `hasattr` that ask for a member of a player."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and name.value in ASKED:
                yield f"{file.relative_to(SOURCE)}:{node.lineno}"


@pytest.mark.runs
def test_members_of_players_are_asked_in_one_file():
    found = {place.partition(":")[0] for file in SOURCE.rglob("*.py") for place in asked_by_name(file)}
    assert found == {"players/members.py"}


@pytest.mark.parametrize(
    ("text", "game", "depth"),
    [
        ("noise(TitForTat)", "ipd", 2),
        ("delay(noise(TitForTat))", "ipd", 3),
        ("noise(disguise(random))", "kuhn", 3),
        *((f"{talker}(TitForTat)", "talk(ipd)", 2) for talker in TALKERS),
        *((f"{ring}(random)", "talk(auction)", 2) for ring in RINGS),
    ],
)
def test_layers_of_a_wrapper_reach_the_innermost_player(text, game, depth):
    player = make_player(text, make_game(game))
    found = list(layers(player))
    assert len(found) == depth
    assert innermost(player) is found[-1]
    assert all(isinstance(layer, WrapperPlayer) for layer in found[:-1])
    assert members_of(found[-1]).inner is None


def every_subclass(kind: type) -> Iterator[type]:
    for sub in kind.__subclasses__():
        yield sub
        yield from every_subclass(sub)


def test_every_class_that_has_a_player_inside_tells_it():
    """A class of the package with a field `player` and a turn is a wrapper."""
    kinds = {kind for kind in every_subclass(PlayerBase) if kind.__module__.startswith("stratagem.")}
    holding = {kind for kind in kinds if "player" in getattr(kind, "__dataclass_fields__", {})}
    assert holding
    assert all(issubclass(kind, WrapperPlayer) for kind in holding)


class Bare:
    """Player of somebody else, without a base."""

    name, traits = "bare", Traits()

    def turn(self, ask):
        return Move(ask.view.choices.first)

    def policy(self, view):
        return {view.choices.first: 1.0}


class Around(Bare):
    """Wrapper of somebody else, without a base, that states probabilities in batches."""

    name, family, talks = "around", "kuhn", True

    def __init__(self, player):
        self.player = player

    def policies(self, views):
        return [{"batch": 1.0} for _ in views]

    def on_tree(self, tree):
        return tree


def test_members_of_a_player_without_the_base_are_its_own_or_the_defaults():
    view = make_game("kuhn").start(Key(0)).view(0)
    bare, around = Bare(), Around(Bare())
    assert members_of(bare).family == "any"
    assert not members_of(bare).talks
    assert members_of(bare).on_tree is members_of(bare).inner is members_of(bare).model_use() is None
    assert stated_by(bare, [view]) == [bare.policy(view)]
    assert members_of(around).family == "kuhn"
    assert members_of(around).talks
    assert members_of(around).on_tree("tree") == "tree"
    assert stated_by(around, [view]) == [{"batch": 1.0}]
    assert innermost(around) is around.player


@dataclass(frozen=True)
class Mirror(Scripted):
    """Scripted player with a field that has the name of a member."""

    inner: object
    on_tree: int = 3

    def strategy(self, view):
        return view.choices.first


def test_a_scripted_player_may_have_a_field_with_the_name_of_a_member():
    assert Mirror(Bare()).on_tree == 3
    assert Mirror(inner=Bare()).inner.name == "bare"
