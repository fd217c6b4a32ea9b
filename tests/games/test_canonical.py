"""The canonical digest: equal for games under other names, orders and scales, and different for other games."""

import time
from functools import cache

import numpy as np
import pytest
from known_games import LARGE, SMALL, digest_of
from relabelled_trees import (
    laid_out,
    nested,
    relabelled,
    with_chance_in_steps,
    with_forced_moves,
    with_hidden_coins,
    with_one_payoff,
    with_other_chance,
    with_public_coin,
    with_told_set,
)

from stratagem.games import make_game
from stratagem.games.drawn.canonical import canonical_digest, known_digests
from stratagem.games.sequence_form import SequenceForm
from stratagem.games.tree_walk import walk

GAMES = [
    "kuhn(hands=1)",
    "spiel:kuhn_poker(players=3)",
    "spiel:leduc_poker(suit_isomorphism=true)",
    "spiel:liars_dice(dice_sides=2)",
    "auction(rounds=1)",
    "auction(rounds=1,price='second')",
    "ipd(rounds=1)",
    "ipd(rounds=3)",
    "icg(rounds=1)",
    "imp(rounds=1)",
    "c-ipd(rounds=1)",
    "public-goods(rounds=1)",
    "negotiation-v1(rounds=1)",
    "sender-receiver(states=3)",
    "spiel:tiny_hanabi",
]


@cache
def tree_of(text):
    return walk(make_game(text), one_round=True)


@cache
def nested_of(text):
    return nested(tree_of(text))


def digest(root, game):
    return canonical_digest(laid_out(root, game, game.spec.seats))


def test_games_of_the_catalogue_have_different_digests():
    assert len({canonical_digest(tree_of(text)) for text in GAMES}) == len(GAMES)


@pytest.mark.parametrize("text", GAMES)
def test_digest_is_that_of_the_same_game_under_other_names(text):
    game, root, seats = tree_of(text).game, nested_of(text), tree_of(text).game.spec.seats
    expected = canonical_digest(tree_of(text))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        assert digest(relabelled(root, rng, seats), game) == expected
    changes = [with_chance_in_steps, with_forced_moves, with_hidden_coins, with_public_coin]
    for change in changes:
        assert digest(relabelled(change(root), rng, seats), game) == expected, change.__name__


@pytest.mark.parametrize("text", GAMES)
def test_digest_follows_one_payoff(text):
    game, root, seats = tree_of(text).game, nested_of(text), tree_of(text).game.spec.seats
    rng = np.random.default_rng(4)
    found = {digest(with_one_payoff(root, rng, seats), game) for _ in range(5)}
    assert canonical_digest(tree_of(text)) not in found


@pytest.mark.parametrize("text", [text for text in GAMES if nested_of(text)[0] == -1])
def test_digest_follows_the_chances(text):
    other = digest(with_other_chance(nested_of(text)), tree_of(text).game)
    assert other != canonical_digest(tree_of(text))


@pytest.mark.parametrize("text", ["kuhn(hands=1)", "spiel:leduc_poker(suit_isomorphism=true)", "auction(rounds=1)"])
def test_digest_follows_what_a_seat_sees(text):
    tree = tree_of(text)
    nodes = np.bincount(tree.information_set[tree.information_set >= 0])
    columns = tree.information_sets.columns
    followed = np.unique(tree.set_of_slot[columns.before[columns.before >= 0]])
    last = [number for number in np.flatnonzero(nodes > 1).tolist() if number not in followed]
    assert len(last) > 3
    for number in last[:: max(1, len(last) // 10)]:
        assert digest(with_told_set(nested_of(text), number), tree.game) != canonical_digest(tree)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("kuhn(hands=1)", "kuhn-spiel"),
        ("leduc", "spiel:leduc_poker(suit_isomorphism=true)"),
        ("ipd(rounds=1)", "matrix(payoffs=[[(5,5),(13,3)],[(3,13),(9,9)]],rounds=1)"),
        ("ipd(rounds=1)", "matrix(payoffs=[[(3,300),(0,500)],[(5,0),(1,100)]],rounds=1)"),
        ("imp(rounds=1)", "spiel:matrix_mp"),
    ],
)
def test_one_game_of_two_makers_has_one_digest(one, other):
    assert canonical_digest(tree_of(one)) == canonical_digest(tree_of(other))


def test_seats_that_choose_at_once_have_no_order():
    """The seats exchanged, the tree lists the moves of the former second seat first."""
    payoffs = [[(4, 0), (1, 2), (0, 0)], [(3, 3), (2, 1), (5, 1)]]
    turned = [[(b, a) for a, b in column] for column in zip(*payoffs, strict=True)]
    labels = ["AB", "XYZ"]
    one, other = (
        canonical_digest(tree_of(f"matrix(payoffs={table},labels={own},labels_second={others},rounds=1)"))
        for table, own, others in ((payoffs, *map(list, labels)), (turned, *map(list, reversed(labels))))
    )
    assert one == other


def test_a_payoff_that_is_constant_but_for_rounding_is_constant():
    table = "matrix(payoffs=[[(1,{}),(0,{})],[(0,{}),(1,{})]],rounds=1)"
    one, other, third = (
        canonical_digest(tree_of(table.format(*values)))
        for values in ((0.3, 0.3, 0.3, 0.3), (0.3, 0.1 + 0.2, 0.3, 0.3), (0.3, 0.31, 0.3, 0.3))
    )
    assert one == other != third


def stored_digests():
    return {text: digest for digest, texts in known_digests().items() for text in texts}


def test_stored_digests_are_those_of_the_known_games():
    """Else the digest or a game has changed: `python tests/games/known_games.py` stores them again."""
    assert stored_digests().keys() == {*SMALL, *LARGE}
    assert {text: digest_of(text) for text in SMALL} == {text: stored_digests()[text] for text in SMALL}


@pytest.mark.long
def test_stored_digests_are_those_of_the_larger_known_games():
    assert {text: digest_of(text) for text in LARGE} == {text: stored_digests()[text] for text in LARGE}


def test_known_games_of_one_digest_are_one_game():
    shared = sorted(texts for texts in known_digests().values() if len(texts) > 1)
    assert shared == [
        ("imp(rounds=1)", "spiel:matrix_mp", "spiel:coordinated_mp"),
        ("kuhn(hands=1)", "kuhn-spiel"),
        ("spiel:goofspiel(num_cards=2,imp_info=true)", "spiel:goofspiel(num_cards=2,imp_info=false)"),
    ]


def test_a_digest_of_two_thousand_nodes_takes_little_time():
    tree = walk(make_game("spiel:leduc_poker(suit_isomorphism=true)"))
    assert len(tree) == 1936
    canonical_digest(tree)
    form, start = SequenceForm(tree), time.process_time()
    for _ in range(5):
        canonical_digest(tree, form)
    assert time.process_time() - start < 5 * 0.1  # five times what is meant: the machine may be busy
