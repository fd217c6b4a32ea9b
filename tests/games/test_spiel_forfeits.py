"""Silence in games of OpenSpiel: who says nothing legal forfeits, and nobody gets more than the game pays."""

import json

import pytest
from spiel_play import playthrough

from stratagem.games.key import Key
from stratagem.games.spiel import spiel


@pytest.mark.parametrize(
    ("name", "payoffs"),
    [("nim", (-1, 1)), ("leduc_poker", (-13, 13)), ("kuhn_poker(players=3)", (-2, 1, 1)), ("bargaining", (0, 0))],
)
def test_silence_forfeits_the_game(name, payoffs):
    state = spiel(name).start(Key(0))
    result = state.play({0: None})
    assert result.payoffs == pytest.approx(payoffs)
    assert result.closed
    assert state.over
    assert state.to_act == ()
    again = state.game.load(json.loads(json.dumps(state.dump())), Key(0))
    assert again.over
    assert again.paid == state.paid


def test_where_all_are_silent_a_fixed_sum_is_shared_and_common_payoffs_stay_common():
    assert spiel("goofspiel").start(Key(0)).play({0: None, 1: None}).payoffs == (0.0, 0.0)
    assert spiel("goofspiel").start(Key(0)).play({0: None, 1: "[P1]Bid: 1"}).payoffs == (-1.0, 1.0)
    assert spiel("matrix_pd").start(Key(0)).play({0: None, 1: None}).payoffs == (0.0, 0.0)
    hanabi = spiel("hanabi").start(Key(0))
    assert len(set(hanabi.play({0: None}).payoffs)) == 1


def test_a_forfeit_takes_back_what_was_paid_on_the_way():
    game = spiel("coop_box_pushing")
    state, totals, _ = playthrough(game, seed=1, moves=5)
    assert any(totals)
    result = state.play({0: None, 1: None})
    assert [had + paid for had, paid in zip(totals, result.payoffs, strict=True)] == pytest.approx(
        [game.spec.bounds[0]] * 2
    )


def test_who_is_left_after_a_forfeit_gets_no_more_than_the_game_pays():
    payoffs = spiel("goofspiel(num_cards=3,players=3)").start(Key(0)).play({0: "[P0]Bid: 2", 1: None, 2: None}).payoffs
    assert payoffs == (1.0, -0.5, -0.5)
