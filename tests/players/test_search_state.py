"""Simulations of a search: who explores and who draws, with which keys, and what a node knows."""

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.search_state import DecisionSearch

PENNIES = "matrix(payoffs=[[[1,-1],[-1,1]],[[-1,1],[1,-1]]], labels=[H,T], rounds=1)"


def searched(text, simulations, seed=7, **options):
    """The state at the start of a game, and a search of its first seat that has made its simulations."""
    state = make_game(text).start(Key(0))
    search = DecisionSearch(state.view(0), Key(seed), simulations, **options)
    search.action(lambda n: state.fork(Key(n)))
    return state, search


def visits(state, search, seat):
    return search.visits(search.place(state, state.view(seat)))


def test_every_draw_of_every_simulation_has_a_key_of_its_own():
    """With one key for several, all simulations would have the same future."""
    drawn = []

    def reply(state, seat, key):
        drawn.append((seat, key.value))
        return state.view(seat).choices.sample(key)

    searched("ipd(rounds=4)", 6, reply=reply)
    assert {seat for seat, _ in drawn} == {0, 1}, "beyond the tree the model plays for every seat"
    assert len({key for _, key in drawn}) == len(drawn) > 24


def test_seats_that_choose_at_once_explore_in_turn():
    state, search = searched(PENNIES, 60)
    own, other = (sum(visits(state, search, seat).values()) for seat in (0, 1))
    assert 28 <= own <= 30
    assert 28 <= other <= 30


def test_seat_that_does_not_explore_draws_by_its_visits():
    """Against one that always takes its first action, the other would soon take the best answer alone."""
    state, search = searched(PENNIES, 400)
    for seat in (0, 1):
        counts = visits(state, search, seat)
        assert 0.2 < counts[0] / sum(counts.values()) < 0.8


def test_search_is_the_same_in_any_unit_of_payoffs():
    counts = []
    for unit in (1, 1000):
        text = PENNIES.replace("1,", f"{unit},").replace("1]", f"{unit}]")
        counts.append(visits(*searched(text, 60), 0))
    assert counts[0] == counts[1]


def test_node_is_of_what_a_seat_knows_or_of_what_all_seats_know():
    game = make_game("kuhn(hands=1)")
    state = game.start(Key(1))
    search = DecisionSearch(state.view(0), Key(7), 1)
    first = search.place(state, state.view(0))
    world = next(one for n in range(20) if (one := state.resample(0, Key(n))).cards != state.cards)
    assert search.place(world, world.view(0)) == first
    seeing = DecisionSearch(state.view(0), Key(7), 1, sees_all=True)
    assert seeing.place(world, world.view(0)) != seeing.place(state, state.view(0))


def third_hand(known):
    """Kuhn poker at the start of its third hand, with the facts of the first hand for the first seat."""
    for seed in range(20):
        state = make_game("kuhn(hands=3)").start(Key(seed))
        for _ in range(4):
            state.play({state.to_act[0]: "PASS"})
        if state.view(0).info_key == known:
            return state
    raise AssertionError(known)


def test_node_of_the_same_facts_in_another_round_is_another():
    """Later payoffs differ, so their values are not mixed."""
    first, search = searched("kuhn(hands=3)", 1)
    third = third_hand(first.view(0).info_key)
    assert search.place(third, third.view(0)) != search.place(first, first.view(0))


def test_table_has_the_action_of_the_round_with_most_visits():
    for seed in range(30):
        first, search = searched("kuhn(hands=3)", 100, seed)
        third = third_hand(first.view(0).info_key)
        many, few = (visits(state, search, 0) for state in (first, third))
        (best,), others = ([n for n in counts if counts[n] == max(counts.values())] for counts in (many, few))
        if best not in others:
            break
    assert sum(many.values()) > sum(few.values()) >= 4
    assert best not in others, "the rounds agree, so that nothing is tested"
    assert search.table(2)[0, first.view(0).info_key] == tuple(first.view(0).choices)[best]


def test_table_has_what_was_visited_often_for_its_number_of_actions():
    state, search = searched("kuhn(hands=1)", 80, sees_all=True)
    total, known = sum(visits(state, search, 0).values()), state.view(0).info_key
    assert (0, known) in search.table(total // 2)
    assert (0, known) not in search.table(total // 2 + 1)


def test_world_of_another_information_set_is_refused():
    state = make_game("kuhn(hands=1)").start(Key(0))
    other = next(one for n in range(20) if (one := state.game.start(Key(n))).cards[0] != state.cards[0])
    with pytest.raises(CannotCompute, match="redraws a state into another information set"):
        DecisionSearch(state.view(0), Key(7), 3).action(lambda n: other.fork(Key(n)))
