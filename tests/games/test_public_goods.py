"""Payoffs of the linear public goods game: `1 - c_i + (m / n) sum c_j` (Ledyard 1995)."""

from itertools import product

import pytest

from stratagem.errors import BadParameter, IllegalAction
from stratagem.games import Key, make_game
from stratagem.prompting.catalogue import make_style

GAVE, KEPT = "CONTRIBUTE", "KEEP"


def played(text, *rounds):
    """The payoffs of each round, and the state after the last."""
    state = make_game(text).start(Key(0))
    return [state.play(dict(enumerate(actions))).payoffs for actions in rounds], state


@pytest.mark.parametrize(("seats", "multiplier"), [(2, 1.5), (3, 2.0), (4, 3.0)])
def test_payoffs_are_those_of_the_formula(seats, multiplier):
    text = f"public-goods(seats={seats}, multiplier={multiplier}, rounds={2**seats})"
    profiles = list(product((GAVE, KEPT), repeat=seats))
    paid, state = played(text, *profiles)
    for actions, payoffs in zip(profiles, paid, strict=True):
        share = multiplier / seats * actions.count(GAVE)
        assert payoffs == pytest.approx([share + (action == KEPT) for action in actions])
    assert state.over


def test_it_is_a_dilemma():
    (all_give, one_keeps, all_keep), _ = played("public-goods", (GAVE,) * 3, (KEPT, GAVE, GAVE), (KEPT,) * 3)
    assert all_give == pytest.approx((2.0, 2.0, 2.0))
    assert one_keeps == pytest.approx((7 / 3, 4 / 3, 4 / 3))
    assert all_keep == (1.0, 1.0, 1.0)


def test_who_says_nothing_keeps():
    (silent,), _ = played("public-goods", (None, GAVE, GAVE))
    assert silent == pytest.approx((7 / 3, 4 / 3, 4 / 3))


def test_each_seat_is_told_of_itself_first():
    _, state = played("public-goods", (KEPT, GAVE, GAVE))
    assert [state.view(seat).facts.gave for seat in range(3)] == [
        ((False, True, True),), ((True, True, False),), ((True, False, True),)
    ]  # fmt: skip
    assert "1. you kept; the others: contributed, contributed" in state.view(0).situation


def test_histories_that_end_alike_have_one_brief_prompt():
    style = make_style("brief")
    _, one = played("public-goods", (KEPT, KEPT, KEPT), (GAVE, KEPT, GAVE))
    _, other = played("public-goods", (GAVE, GAVE, GAVE), (GAVE, GAVE, KEPT))
    assert style.messages(one.view(0)) == style.messages(other.view(0))
    assert style.messages(one.view(0)) != style.messages(one.view(1))


@pytest.mark.parametrize("option", ["seats=1", "rounds=0", "multiplier=-1", "multiplier=nan"])
def test_what_is_no_game_is_refused(option):
    with pytest.raises(BadParameter):
        make_game(f"public-goods({option})")


@pytest.mark.parametrize("actions", [{0: GAVE, 1: GAVE}, {0: "GIVE", 1: GAVE, 2: GAVE}, {0: GAVE, 1: GAVE, 3: GAVE}])
def test_what_cannot_be_played_is_refused(actions):
    with pytest.raises(IllegalAction):
        make_game("public-goods").start(Key(0)).play(actions)
