"""Monte Carlo tree search at our tables."""

import pytest

from stratagem.errors import BadParameter, CannotCompute
from stratagem.games.key import Key
from stratagem.games.kuhn import Kuhn
from stratagem.games.spiel import SPIEL_GAMES, spiel
from stratagem.players.base import Ask, Player
from stratagem.players.search import MCTS, mcts


def decide(player, state, key):
    seat = state.to_act[0]
    return player.turn(Ask(state.view(seat), key, seat, 0, 0, state)).action


def against_random(player, game, seat, seed):
    state, count, totals = game.start(Key(seed)), 0, [0.0, 0.0]
    while not state.over:
        key, mover = Key(seed).at(count), state.to_act[0]
        action = decide(player, state, key) if mover == seat else state.view(mover).choices.sample(key)
        paid = state.play({mover: action}).payoffs
        totals, count = [had + new for had, new in zip(totals, paid, strict=True)], count + 1
    return totals[seat]


def test_search_beats_random_play():
    for name in ("tic-tac-toe", "connect-four"):
        game = SPIEL_GAMES[name]()
        results = [against_random(MCTS(simulations=1000), game, seed % 2, seed) for seed in range(20)]
        assert sum(result > 0 for result in results) >= 17
        assert all(result >= 0 for result in results)


def test_a_decision_follows_from_its_key():
    state = SPIEL_GAMES["connect-four"]().start(Key(0))
    player = MCTS(simulations=20)
    moves = [decide(player, state, Key(seed)) for seed in range(30)]
    assert moves == [decide(player, state, Key(seed)) for seed in range(30)]
    assert len(set(moves)) > 1


def test_the_state_that_was_searched_is_untouched():
    state = SPIEL_GAMES["leduc"]().start(Key(0))
    before = state.dump()
    decide(MCTS(simulations=50), state, Key(1))
    assert state.dump() == before


def test_it_takes_the_win_in_one():
    state = SPIEL_GAMES["tic-tac-toe"]().start(Key(0))
    for move in ("A1", "A2", "B1", "B2"):
        state.play({state.to_act[0]: move})
    assert decide(MCTS(simulations=300), state, Key(5)) == "C1"


def test_it_plays_our_own_rules_through_their_twin():
    """It sees both cards, so facing a bet with the king it never folds, in the right words."""
    for seed in range(30):
        state = Kuhn(hands=2).start(Key(seed))
        state.play({0: "BET"})
        action = decide(MCTS(simulations=100), state, Key(seed))
        higher = "JQK".index(state.cards[1]) > "JQK".index(state.cards[0])
        assert action == ("CALL" if higher else "FOLD")


def test_what_it_cannot_play_is_refused_in_a_sentence():
    with pytest.raises(BadParameter, match="games of turns only"):
        decide(MCTS(), SPIEL_GAMES["goofspiel"]().start(Key(0)), Key(0))
    with pytest.raises(CannotCompute, match="pays on the way"):
        decide(MCTS(), spiel("hanabi").start(Key(0)), Key(0))


def test_names_and_traits():
    player = mcts("250")
    assert isinstance(player, Player)
    assert player == MCTS(simulations=250)
    assert player.name == "mcts:250"
    assert player.traits.sees_hidden
    with pytest.raises(CannotCompute, match="sample"):
        player.policy(SPIEL_GAMES["nim"]().start(Key(0)).view(0))
    for tail in ("", "0", "ten", "-3"):
        with pytest.raises(BadParameter, match="mcts:100"):
            mcts(tail)
