"""The auction: what a seat does not see is drawn anew, values of past rounds too."""

from collections import Counter

import pytest

from stratagem.games import Key, make_game
from stratagem.games.auction import VALUES


@pytest.mark.parametrize("price", ["first", "second"])
def test_values_of_past_rounds_are_redraw_view_the_others(price):
    game = make_game(f"auction(seats=3, rounds=4, price={price})")
    state = game.start(Key(1))
    for bids in (("LOW", "HIGH", "LOW"), ("HIGH", "HIGH", "LOW")):
        state.play(dict(enumerate(bids)))
    drawn: Counter[tuple[int, ...]] = Counter()
    for number in range(900):
        redrawn = state.resample(0, Key(number))
        assert redrawn.view(0).facts == state.view(0).facts
        rows = [redrawn.past[seat][1] for seat in range(3)]
        assert [row.payoff for row in rows] == list(
            game.payoffs(tuple(r.value for r in rows), tuple(r.bid for r in rows))
        )
        assert [(row.bid, row.others) for row in rows] == [(s[1].bid, s[1].others) for s in state.past]
        drawn[rows[1].value, rows[2].value] += 1
    assert len(drawn) == len(VALUES) ** 2
    assert all(60 < count < 140 for count in drawn.values())


def test_values_of_each_round_are_redrawn_apart_and_the_seats_own_are_kept():
    """The other's values of two past rounds and of this one are independent: all 27 are met."""
    state = make_game("auction(rounds=4)").start(Key(1))
    for bids in (("LOW", "HIGH"), ("HIGH", "HIGH")):
        state.play(dict(enumerate(bids)))
    drawn: Counter[tuple[int, ...]] = Counter()
    for number in range(1350):
        redrawn = state.resample(1, Key(number))
        assert redrawn.view(1).facts == state.view(1).facts
        drawn[redrawn.past[0][0].value, redrawn.past[0][1].value, redrawn.values[0]] += 1
    assert len(drawn) == len(VALUES) ** 3
    assert all(20 < count < 90 for count in drawn.values())


@pytest.mark.parametrize(("price", "payoffs"), [("first", (0.0, 0.5, 0.0)), ("second", (0.0, 0.5, 0.0))])
def test_equal_highest_bids_share_the_gain(price, payoffs):
    """Two of three bid 2 and value the item at 2 and 3: each has half, and the second-highest bid is 2 as well."""
    assert make_game(f"auction(seats=3, price={price})").payoffs((2, 3, 3), (2, 2, 1)) == payoffs


def test_winner_pays_its_bid_or_the_second_highest():
    """Vickrey 1961."""
    values, bids = (3, 1, 2), (3, 1, 2)
    assert make_game("auction(seats=3)").payoffs(values, bids) == (0.0, 0.0, 0.0)
    assert make_game("auction(seats=3, price=second)").payoffs(values, bids) == (1.0, 0.0, 0.0)
