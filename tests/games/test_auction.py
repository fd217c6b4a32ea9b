"""The auction: what a seat does not see is drawn anew, values of past rounds too."""

from collections import Counter

import pytest

from stratagem.games import Key, make_game
from stratagem.games.auction import VALUES


@pytest.mark.parametrize("price", ["first", "second"])
def test_values_of_past_rounds_are_redrawn_for_the_others(price):
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
