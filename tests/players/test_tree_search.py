"""Monte Carlo tree search at our tables."""

import pytest

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.auction import Auction
from stratagem.games.catalogue import GAMES, make_game
from stratagem.games.key import Key
from stratagem.games.kuhn import Kuhn
from stratagem.games.spiel import SPIEL_GAMES, spiel
from stratagem.players.base import Ask, Player
from stratagem.players.search_state import SearchState
from stratagem.players.tree_search import ISMCTS, MCTS, ismcts, mcts, obstacle, searchable


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


@pytest.mark.parametrize(("one_round", "payoff"), [(False, 6.0), (True, 2.0)])
def test_simulation_adds_up_the_payoffs_of_all_rounds_or_of_one(one_round, payoff):
    game = make_game("matrix(payoffs=[[(2, 2)]], labels=('ONLY',), rounds=3)")
    assert SearchState(game.start(Key(0)), Key(1), None, one_round=one_round).play_out() == [payoff, payoff]


def test_search_beats_random_play():
    for name in ("tic-tac-toe", "connect-four"):
        game = SPIEL_GAMES[name]()
        results = [against_random(MCTS(simulations=300), game, seed % 2, seed) for seed in range(20)]
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


@pytest.mark.parametrize("name", sorted(GAMES.keys() - {"matrix"}))
def test_search_plays_any_game_or_says_why_not(name):
    """With a given key it always gives the same legal action."""
    state = make_game(name).start(Key(1))
    for player in (MCTS(simulations=4), ISMCTS(simulations=4)):
        reason = obstacle(state.game, hidden=player.kind == "ismcts")
        if reason:
            with pytest.raises(BadParameter, match="cannot play"):
                player.check(state.game)
        else:
            player.check(state.game)
            actions = {decide(player, state, Key(2)) for _ in range(2)}
            assert len(actions) == 1
            assert actions <= set(state.view(state.to_act[0]).choices)
        assert searchable(state.game, hidden=player.kind == "ismcts") == (not reason)


def test_games_that_cannot_be_searched_are_those_with_too_many_actions_or_no_redraw():
    games = {name: make_game(name) for name in GAMES if name != "matrix"}
    assert {name for name, game in games.items() if not searchable(game, hidden=True)} == {
        *("diplomacy", "liars-dice", "blind-auction")
    }
    assert {name for name, game in games.items() if not searchable(game)} == {"diplomacy"}


def test_information_set_search_sees_no_cards():
    """It decides the same whatever the other holds; the search from the true state does not."""
    cheated = 0
    for game in (Kuhn(hands=1), SPIEL_GAMES["leduc"](), Auction(rounds=1)):
        for seed in range(10):
            state = game.start(Key(seed))
            seat = state.to_act[0]
            others = [state.resample(seat, Key(number)) for number in range(6)]
            for kind, most in ((ISMCTS, 1), (MCTS, 6)):
                actions = {decide(kind(simulations=30), other, Key(seed)) for other in others}
                assert len(actions) <= most
                cheated += kind is MCTS and len(actions) > 1
    assert cheated


def test_search_takes_the_better_of_two_unseen_moves():
    """In the prisoner's dilemma of one round defection is better against every reply."""
    game = make_game("matrix(payoffs=[[[3,3],[0,5]],[[5,0],[1,1]]], labels=[C,D], rounds=1)")
    for kind in (MCTS, ISMCTS):
        moves = [decide(kind(simulations=40), game.start(Key(0)), Key(seed)) for seed in range(10)]
        assert moves.count("D") >= 9


def test_a_game_that_pays_on_the_way_is_searched_through_our_states():
    state = spiel("hanabi").start(Key(0))
    assert decide(MCTS(simulations=2), state, Key(0)) in state.view(state.to_act[0]).choices


def test_names_and_traits():
    player = mcts("250")
    assert isinstance(player, Player)
    assert player == MCTS(simulations=250)
    assert player.name == "mcts:250"
    assert player.traits.sees_hidden
    with pytest.raises(CannotCompute, match="sample"):
        player.policy(SPIEL_GAMES["nim"]().start(Key(0)).view(0))
    assert ismcts("20").name == "ismcts:20"
    assert not ismcts("20").traits.sees_hidden
    for tail in ("", "0", "ten", "-3"):
        for make in (mcts, ismcts):
            with pytest.raises(BadParameter, match="mcts:100"):
                make(tail)
