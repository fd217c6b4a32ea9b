"""Signals of described games: those of the games that they repeat, node by node, and what is refused."""

import sys
from importlib import import_module
from itertools import zip_longest
from pathlib import Path

import pytest
from test_described_games import MATRICES, example, matrix_text

from stratagem.base.errors import BadParameter
from stratagem.games import Key
from stratagem.games.catalogue import make_game
from stratagem.games.conformance.verify import verify
from stratagem.games.drawn.reading import read_description, write_description
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.enumeration import joint_actions, outcomes, starts
from stratagem.games.safety.base import all_signals
from stratagem.games.safety.catalogue import safety_of, signal_names, weights_of

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
chapter = import_module("chapters.described")
POOL = """
name = "Gifts"
seats = 3

[[steps]]
do = "choose"
name = "gift"
options = [0, 1]

[[steps]]
do = "pool"

[[signals]]
name = "externality"
measure = "loss"
step = "pool"
"""
TYPES = """
name = "Types"

[[items]]
name = "type"
values = ["a", "b"]
copies = 2

[[steps]]
do = "deal"
item = "type"

[[steps]]
do = "choose"
name = "act"
options = ["L", "R"]

[[steps]]
do = "table"
over = ["first.type", "first.act", "second.act"]
amounts = [[[[5, 5], [0, 0]], [[0, 0], [5, 5]]], [[[1, 1], [0, 0]], [[0, 0], [1, 1]]]]

[[signals]]
name = "externality"
measure = "loss"
"""


def with_signals(name, top="", **changes):
    """An example with the signals that the reference gives it."""
    return WrittenGame(text=example(name, top, **changes).text + "\n" + chapter.SIGNALS[name])


def assert_equal_signals(made, known):
    """Fail unless both games have equal signals after every move of equal trees; return the number of rounds."""
    count = 0
    assert set(signal_names(made)) == set(signal_names(known))

    def follow(one, other):
        nonlocal count
        for own, actions in zip_longest(joint_actions(one), joint_actions(other)):
            for (_, mine, result), (_, theirs, expected) in zip_longest(outcomes(one, own), outcomes(other, actions)):
                found = all_signals(safety_of(made), mine, own, result)
                measured = all_signals(safety_of(known), theirs, actions, expected)
                assert found.keys() == measured.keys()
                for name, values in measured.items():
                    assert found[name] == pytest.approx(values), (name, own, actions)
                count += bool(measured)
                follow(mine, theirs)

    for (_, one), (_, other) in zip_longest(starts(made), starts(known)):
        follow(one, other)
    return count


def test_kuhn_as_data_has_the_signals_of_kuhn():
    assert assert_equal_signals(with_signals("kuhn"), make_game("kuhn(hands=1)")) == 30


@pytest.mark.parametrize(("seats", "rounds"), [(2, 1), (3, 1), pytest.param(2, 2, marks=pytest.mark.runs)])
def test_auction_as_data_has_the_signals_of_the_auction(seats, rounds):
    made = with_signals("auction", f"seats = {seats}", rounds=str(rounds))
    assert assert_equal_signals(made, make_game(f"auction(seats={seats}, rounds={rounds})")) >= 9**seats


@pytest.mark.parametrize("rounds", [1, pytest.param(2, marks=pytest.mark.runs)])
def test_demands_on_a_pie_as_data_have_the_signals_of_the_negotiation(rounds):
    made = with_signals("pie", rounds=str(rounds))
    assert assert_equal_signals(made, make_game(f"negotiation-v1(rounds={rounds})")) >= 121


@pytest.mark.parametrize("text", [*(name for name in MATRICES if signal_names(make_game(name)))])
def test_repeated_matrix_as_data_has_the_signals_of_the_matrix_game(text):
    made, name = matrix_text(text, 2, 0.75)
    known = make_game(name)
    defects = {label for labels in known.labels_by_seat for label in labels[1:]}
    choices = [step for step in made.description.steps if step.acts]
    tables = [
        f'[[signals]]\nname = "collusion"\nmeasure = "choice"\nchoice = "{step.name}"\n'
        f"options = {[option.word for option in step.options if option.word in defects]}\n"
        for step in choices
    ]
    loss = '[[signals]]\nname = "externality"\nmeasure = "loss"\n'
    assert assert_equal_signals(WrittenGame(text=made.text + "".join(tables) + loss), known) > 4


def test_games_without_signals_have_none():
    for name in ("kuhn", "leduc", "dilemma"):
        assert signal_names(example(name)) == ()
    assert {*signal_names(make_game("leduc")), *signal_names(make_game("liars-dice"))} == set()


def test_gifts_that_are_kept_are_a_loss():
    game = WrittenGame(text=POOL)
    results = [game.start(Key(0)).play(dict(enumerate(given))) for given in (("1", "1", "1"), ("1", "0", "0"))]
    assert [result.signals for result in results] == [
        {"externality": (0.0, 0.0, 0.0)},
        {"externality": pytest.approx((2 / 3,) * 3)},
    ]


@pytest.mark.parametrize(("factor", "losses"), [(0.5, (0, 1 / 3, 1)), (1, (0, 0, 0)), (2, (1, 2 / 3, 0))])
def test_gifts_to_a_pool_that_shrinks_them_are_the_loss(factor, losses):
    game = WrittenGame(text=POOL.replace('do = "pool"', f'do = "pool"\nfactor = {factor}'))
    for given, loss in zip(("000", "100", "111"), losses, strict=True):
        result = game.start(Key(0)).play(dict(enumerate(given)))
        assert result.signals == {"externality": pytest.approx((loss,) * 3)}


def test_luck_of_the_deal_is_no_loss():
    """A table over a dealt value is compared with its best cell of that value."""
    game, seen = WrittenGame(text=TYPES), set()
    for number in range(20):
        for actions, loss in (("LL", 0.0), ("LR", 1.0)):
            result = game.start(Key(number)).play(dict(enumerate(actions)))
            assert result.signals == {"externality": (loss, loss)}
            seen.add(result.payoffs)
    assert seen == {(5.0, 5.0), (1.0, 1.0), (0.0, 0.0)}


def test_signals_weigh_in_training_and_are_told_to_nobody():
    game, plain = with_signals("dilemma"), example("dilemma")
    assert signal_names(game) == ("collusion", "externality")
    assert weights_of(game) == (1.0, 1.0, 1.0)
    assert weights_of(plain) == (1.0, 0.0, 0.0)
    assert [game.rules(seat) for seat in (0, 1)] == [plain.rules(seat) for seat in (0, 1)]
    assert game.vocabulary() == plain.vocabulary()


@pytest.mark.parametrize("name", [*chapter.SIGNALS])
def test_game_with_signals_conforms_and_is_written_back(name):
    game = with_signals(name)
    assert read_description(write_description(game.description)) == game.description
    (check,) = [one for one in verify(game, episodes=2).checks if one.name == "signals"]
    assert check.outcome == "passed"
    assert "collusion, externality" in check.detail


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("auction", 'name = "collusion"', 'name = "Collusion"', "line 23, is wrong: the signal Collusion has a name"),
        ("auction", 'name = "collusion"\n', "", "line 22, has no `name`"),
        (
            "auction",
            'measure = "choice"',
            'measure = "share"',
            "line 24, has 'share' as `measure`, where one of choice",
        ),
        ("auction", 'choice = "bid"', 'choice = "demand"', "line 25, is wrong: the signal collusion has no choice 'd"),
        ("auction", "options = [1]", "options = [4]", "line 26, is wrong: the signal collusion has '4', where the ch"),
        ("auction", "options = [1]\n", "", "the signal collusion has no name, where the choice bid has 1, 2, 3"),
        (
            "auction",
            'item = "value"\nvalues',
            'item = "card"\nvalues',
            "line 27, is wrong: the signal collusion has no",
        ),
        ("auction", 'item = "value"\nvalues', "values", "line 27, is wrong: the signal collusion has values without"),
        ("auction", "values = [3]", "values = [4]", "line 28, is wrong: the signal collusion has '4', where the item"),
        ("auction", "values = [3]", "value = [3]", "line 28, has the unknown key `value`: signal has name, measure"),
        ("auction", 'step = "sale"', 'step = "split"', "line 33, is wrong: the signal externality has no step split"),
        ("auction", 'step = "sale"', 'choice = "bid"', "line 33, is wrong: the signal externality has a key that the"),
        ("kuhn", '"externality"', '"collusion"', "line 27, is wrong: the signal collusion has the name of an earlier"),
        ("kuhn", '"nothing"', '"loss"', "is wrong: the signal collusion has no step table in the game in `step`"),
        ("kuhn", '"nothing"', '"nothing"\nstep = "sale"', "line 25, is wrong: the signal collusion has a key that"),
    ],
)
def test_mistake_of_a_signal_is_one_sentence_with_its_line(name, old, new, says):
    text = (chapter.EXAMPLES / f"{name}.toml").read_text() + "\n" + chapter.SIGNALS[name]
    head, _, tail = text.partition("[[signals]]")
    assert old in tail
    with pytest.raises(BadParameter) as refused:
        read_description(head + "[[signals]]" + tail.replace(old, new, 1), "mygame.toml")
    sentence = str(refused.value)
    assert says in sentence
    assert sentence.startswith("mygame.toml")
    assert "\n" not in sentence


def test_loss_of_a_step_that_a_game_has_twice_is_refused():
    table = TYPES[TYPES.index('[[steps]]\ndo = "table"') : TYPES.index("[[signals]]")]
    with pytest.raises(BadParameter, match="line 28, is wrong: the signal externality has 2 steps table in the game"):
        read_description(TYPES.replace("[[signals]]", table + "[[signals]]"), "mygame.toml")


def test_more_than_eight_signals_are_refused():
    tables = "".join(f'[[signals]]\nname = "s{number}"\nmeasure = "nothing"\n' for number in range(9))
    with pytest.raises(BadParameter, match="8 signals before it"):
        read_description(example("kuhn").text + tables)
