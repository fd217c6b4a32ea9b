"""Games of the package written as data: their trees are those of the games' own rules, node by node."""

import re
from pathlib import Path

import numpy as np
import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.matrix.repeated import REPEATED
from stratagem.games.tree import GameTree
from stratagem.games.tree_walk import walk

EXAMPLES = Path(__file__).parents[2] / "examples" / "games"
LABELS = "matrix(payoffs=[[(1,2),(1,0),(0,0)],[(0,2),(2,0),(2,-1)]], labels=('U','D'), labels_second=('L','M','R'))"
MATRICES = sorted(REPEATED.keys() - {"matrix"})


def example(name: str, top: str = "", **changes: str) -> WrittenGame:
    """An example with further settings of the game, and with other values of keys, which must be there."""
    text = (EXAMPLES / f"{name}.toml").read_text()
    for key, value in changes.items():
        text, count = re.subn(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
        assert count == 1
    return WrittenGame(text=top + "\n" + text)


def lists(rows: object) -> object:
    """Tuples as lists, all the way down."""
    return [lists(row) for row in rows] if isinstance(rows, tuple) else rows


def matrix_text(text: str, rounds: int, continuation: float = 1.0) -> tuple[WrittenGame, str]:
    """A repeated matrix game as data, and the name of the same game of ours."""
    options = f"rounds={rounds}, continuation={continuation}"
    name = f"{text[:-1]}, {options})" if text.endswith(")") else f"{text}({options})"
    game = make_game(name)
    own = game.labels_second not in (None, game.labels)
    steps = [
        f'[[steps]]\ndo = "choose"\nname = "{role}s"\nby = "{role}"\nshown = "end"\noptions = {list(labels)}\n'
        for role, labels in zip(("first", "second"), game.labels_by_seat, strict=True)
    ]
    both = f'[[steps]]\ndo = "choose"\nname = "move"\noptions = {list(game.labels)}\n'
    over = '["first.firsts", "second.seconds"]' if own else '["first.move", "second.move"]'
    table = f'[[steps]]\ndo = "table"\nover = {over}\namounts = {lists(game.payoffs)}\n'
    top = f'name = "A matrix"\nrounds = {rounds}\ncontinuation = {continuation}\n'
    return WrittenGame(text=top + ("".join(steps) if own else both) + table), name


def assert_equal_trees(made: GameTree, known: GameTree, renamed: dict[str, str] | None = None) -> None:
    """Fail unless two trees have equal nodes, chance, payoffs and information sets, with actions by their new names.

    `renamed` has the names of the known game's actions in the made one, where they are others.
    """
    for column in ("parent", "mover", "information_set", "choice", "rounds"):
        assert np.array_equal(getattr(made, column), getattr(known, column)), column
    assert np.allclose(made.probability, known.probability, rtol=0, atol=1e-12)
    assert np.allclose(made.returns, known.returns, rtol=0, atol=1e-12)
    names = renamed or {}
    for one, other in zip(made.information_sets, known.information_sets, strict=True):
        assert one.actions == tuple(names.get(action, action) for action in other.actions)
        assert (one.seat, one.before) == (other.seat, other.before)


def test_kuhn_as_data_has_the_tree_of_kuhn():
    assert_equal_trees(walk(example("kuhn")), walk(make_game("kuhn(hands=1)")))


def test_kuhn_match_as_data_has_the_tree_of_the_match():
    made, known = example("kuhn", "rounds = 2\nturns = true\nforget = true"), make_game("kuhn(hands=2)")
    assert made.spec.independent_rounds == known.spec.independent_rounds == 2
    assert_equal_trees(walk(made, one_round=True), walk(known, one_round=True))
    assert [kind.numbers for kind in walk(made, one_round=True).kinds] == [(0,), (1,)]
    assert_equal_trees(walk(made), walk(known))


def test_leduc_as_data_has_the_tree_of_leduc():
    assert_equal_trees(walk(example("leduc")), walk(make_game("leduc")))


def test_liars_dice_of_three_faces_has_the_tree_of_openspiel():
    made = example("liars-dice", values="[1, 2, 3]", wild='"3"')
    known = walk(make_game("spiel:liars_dice(dice_sides=3)"))
    names = {f"{n}-{face}": f"bid {n}x{face}" for n in (1, 2) for face in (1, 2, 3)} | {"Liar": "liar"}
    assert_equal_trees(walk(made), known, names)


@pytest.mark.runs
def test_liars_dice_as_data_has_the_tree_of_liars_dice():
    assert_equal_trees(walk(example("liars-dice")), walk(make_game("liars-dice")))


@pytest.mark.parametrize("price", ["first", "second"])
@pytest.mark.parametrize(("seats", "rounds"), [(2, 1), (3, 1), pytest.param(2, 2, marks=pytest.mark.runs)])
def test_auction_as_data_has_the_tree_of_the_auction(price, seats, rounds):
    made = example("auction", f"seats = {seats}", rounds=str(rounds))
    made = WrittenGame(text=f'{made.text}price = "{price}"\n')
    known = make_game(f"auction(seats={seats}, rounds={rounds}, price={price!r})")
    assert_equal_trees(walk(made), walk(known), {"LOW": "1", "MEDIUM": "2", "HIGH": "3"})


@pytest.mark.long
@pytest.mark.parametrize("price", ["first", "second"])
def test_auction_of_three_seats_and_two_rounds_has_the_tree_of_the_auction(price):
    made = WrittenGame(text=f'{example("auction", "seats = 3").text}price = "{price}"\n')
    known = make_game(f"auction(seats=3, rounds=2, price={price!r})")
    assert_equal_trees(walk(made), walk(known), {"LOW": "1", "MEDIUM": "2", "HIGH": "3"})


@pytest.mark.parametrize(("rounds", "pie"), [(1, 10), (2, 4), pytest.param(2, 10, marks=pytest.mark.runs)])
def test_demands_on_a_pie_as_data_have_the_tree_of_the_negotiation(rounds, pie):
    made = example("pie", rounds=str(rounds), options=str([*range(pie + 1)]))
    made = WrittenGame(text=f"{made.text}sum = {pie}\n")
    assert_equal_trees(walk(made), walk(make_game(f"negotiation-v1(rounds={rounds}, pie={pie})")))


@pytest.mark.parametrize("text", [*MATRICES, LABELS])
def test_repeated_matrix_as_data_has_the_tree_of_the_matrix_game(text):
    for rounds, continuation in ((1, 1.0), (3, 1.0), (3, 0.75)):
        made, name = matrix_text(text, rounds, continuation)
        assert_equal_trees(walk(made), walk(make_game(name)))


def test_another_payoff_or_action_is_another_tree():
    known = walk(make_game("kuhn(hands=1)"))
    for text in (
        example("kuhn", values='["J", "Q", "K", "A"]').text,
        example("kuhn").text.replace('do = "bet"', 'do = "bet"\nsize = 2'),
        example("kuhn").text.replace('"PASS"', '"WAIT"'),
        example("kuhn").text.replace('do = "showdown"', 'do = "showdown"\norder = ["low"]'),
    ):
        with pytest.raises(AssertionError):
            assert_equal_trees(walk(WrittenGame(text=text)), known)


def test_game_of_the_page_is_the_example_and_is_written_in_twenty_lines():
    page = (EXAMPLES.parents[1] / "docs" / "how-to" / "write-a-game-as-data.md").read_text("utf-8")
    text, signals = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert WrittenGame(text=f"{text}\n{signals}").spec.signals == ("collusion",)
    assert text == (EXAMPLES / "cellar.toml").read_text("utf-8")
    assert sum(bool(line) for line in text.splitlines()) <= 20
    assert len(walk(WrittenGame(text=text))) > 100
