"""Policies on game trees: mixtures, and best responses against OpenSpiel on its own games."""

import sys
from itertools import pairwise
from threading import Thread

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability, fictitious_play

from stratagem.games import make_game
from stratagem.games.spiel.tree_game import set_names, spiel_game
from stratagem.measure import tree_policy
from stratagem.measure.exploitability.exact import of_policy
from stratagem.measure.tree_policy import advantages, mix_policies, oracle_of, policy_on
from stratagem.players.tabular import TablePlayer


def drawn_policies(tree, rng, count):
    """Policies of any play, some of it never done."""
    rows = np.split(np.zeros(tree.slots[-1]), tree.slots[1:-1])
    for _ in range(count):
        drawn = [rng.random(len(row)) * (rng.random(len(row)) < 0.7) for row in rows]
        drawn = [row if row.sum() > 0.0 else np.ones(len(row)) for row in drawn]
        yield np.concatenate([row / row.sum() for row in drawn])


def seated(tree, policies):
    """The policy that is another one at each seat."""
    by_seat = np.array([policies[known.seat] for known in tree.information_sets])
    return by_seat[tree.set_of_slot, np.arange(tree.slots[-1])]


@pytest.mark.parametrize("text", ["kuhn(hands=1)", "leduc", "spiel:kuhn_poker(players=3)", "auction(rounds=1)"])
def test_mixture_earns_what_a_draw_a_game_earns(text):
    tree, rng = oracle_of(make_game(text)).tree, np.random.default_rng(4)
    *policies, other = drawn_policies(tree, rng, 4)
    shares = [0.2, 0.5, 0.3]
    whole = mix_policies(tree, policies, [2.0, 5.0, 3.0])
    assert np.add.reduceat(whole, tree.slots[:-1]) == pytest.approx(1.0)
    for seat in range(tree.game.spec.seats):
        table = [other] * tree.game.spec.seats
        apart = 0.0
        for share, policy in zip(shares, policies, strict=True):
            table[seat] = policy
            apart = apart + share * tree.expected_returns(seated(tree, table))[0]
        table[seat] = whole
        assert tree.expected_returns(seated(tree, table))[0] == pytest.approx(apart)


def test_mixture_draws_once_for_the_whole_game():
    """Half never bets and half always does: whoever has passed is of the first half, and folds as that one does."""
    game = make_game("kuhn(hands=1)")
    tree = oracle_of(game).tree
    answers = {card + more: _words(more) for card in "JQK" for more in (":", ":P", ":B", ":PB")}
    never, ever = (TablePlayer({key: {words[n]: 1.0} for key, words in answers.items()}) for n in (0, 1))
    found = mix_policies(tree, [policy_on(tree, player) for player in (never, ever)], [1.0, 1.0])
    keys = [known.view.info_key for known in tree.information_sets]
    rows = dict(zip(keys, found.reshape(-1, 2).tolist(), strict=True))
    assert {tuple(row) for key, row in rows.items() if key.endswith(":PB")} == {(1.0, 0.0)}
    assert {tuple(row) for key, row in rows.items() if not key.endswith(":PB")} == {(0.5, 0.5)}


def _words(more):
    return ("FOLD", "CALL") if more.endswith("B") else ("PASS", "BET")


def test_mean_of_best_responses_is_that_of_fictitious_play():
    spiel, oracle = pyspiel.load_game("kuhn_poker"), oracle_of(make_game("kuhn-spiel"))
    solver = fictitious_play.XFPSolver(spiel, save_oracles=True)
    for _ in range(8):
        solver.iteration()
    rounds = list(zip(*solver._oracles, strict=True))
    policies = [_policy(oracle.tree, spiel, pair) for pair in rounds]
    average = of_policy(oracle, mix_policies(oracle.tree, policies, [1.0] * len(policies))).exploitability
    assert average == pytest.approx(exploitability.exploitability(spiel, solver.average_policy()))
    assert average < of_policy(oracle, policies[-1]).exploitability


def decisions(spiel):
    """A node of each information state of a game of OpenSpiel."""
    found, pending = {}, [spiel.new_initial_state()]
    while pending:
        node = pending.pop()
        if not node.is_terminal():
            if not node.is_chance_node():
                found.setdefault(node.information_state_string(), node)
            pending.extend(node.child(action) for action in node.legal_actions())
    return found


def _policy(tree, spiel, pair):
    """Return the policy of two functions of OpenSpiel's states, one a seat."""
    rows = {}
    for name, node in decisions(spiel).items():
        odds = dict(pair[node.current_player()](node))
        rows[name] = [odds.get(action, 0.0) for action in node.legal_actions()]
    return np.array([p for known in tree.information_sets for p in rows[known.view.info_key]])


@pytest.mark.parametrize("text", ["kuhn-spiel", "leduc", "spiel:kuhn_poker(players=3)", "blind-auction"])
def test_best_responses_are_those_of_openspiel_on_its_own_game(text):
    game = make_game(text)
    oracle, spiel = oracle_of(game), game.twin().spiel
    (policy,) = drawn_policies(oracle.tree, np.random.default_rng(5), 1)
    rows = np.split(policy, oracle.tree.slots[1:-1])
    keys = [known.view.info_key for known in oracle.tree.information_sets]
    legal = {name: node.legal_actions() for name, node in decisions(spiel).items()}
    table = {key: list(zip(legal[key], row, strict=True)) for key, row in zip(keys, rows, strict=True)}
    for seat in range(game.spec.seats):
        response = pyspiel.TabularBestResponse(spiel, seat, table)
        value = response.value_from_state(spiel.new_initial_state())
        assert oracle.best_response(policy, seat).value == pytest.approx(value)


def test_best_response_is_played_on_the_tree():
    """Its actions, put into the policy, earn its value."""
    oracle = oracle_of(make_game("auction(rounds=2)"))
    tree = oracle.tree
    (policy,) = drawn_policies(tree, np.random.default_rng(6), 1)
    for seat, kind in ((0, False), (1, True)):
        found = oracle.best_response(policy, seat, advantage=kind)
        seats = np.array([known.seat for known in tree.information_sets])[tree.set_of_slot]
        played = np.where(seats == seat, 0.0, policy)
        played[found.slots] = 1.0
        paid = tree.expected_returns(played)[0]
        earned = paid[seat] - (paid[1 - seat] if kind else 0.0)
        assert earned == pytest.approx(found.value)


@pytest.mark.parametrize(
    "text", ["kuhn(hands=1)", "leduc", "ipd(rounds=3)", "spiel:kuhn_poker(players=3)", "auction(rounds=2)"]
)
def test_openspiel_finds_the_same_best_responses_on_the_tree(text):
    """For both objectives: values, and actions where the seat can come."""
    oracle = oracle_of(make_game(text))
    tree = oracle.tree
    names, slots = set_names(tree), tree.slots.tolist()
    (policy,) = drawn_policies(tree, np.random.default_rng(7), 1)
    rows = [policy[first:after].tolist() for first, after in pairwise(slots)]
    table = {name: list(enumerate(row)) for name, row in zip(names, rows, strict=True)}
    for seat in range(tree.game.spec.seats):
        for kind in (False, True):
            found = oracle.best_response(policy, seat, advantage=kind)
            spiel = spiel_game(tree, advantages(tree) if kind else None)
            response = pyspiel.TabularBestResponse(spiel, seat, table)
            assert found.value == pytest.approx(response.value_from_state(spiel.new_initial_state()), abs=1e-12)
            chosen = response.get_best_response_actions()
            sets = [number for number, known in enumerate(tree.information_sets) if known.seat == seat]
            assert found.slots.tolist() == [slots[number] + chosen.get(names[number], 0) for number in sets]


def test_advantages_are_payoffs_less_the_mean_of_the_others():
    tree = oracle_of(make_game("spiel:kuhn_poker(players=3)")).tree
    found, paid = advantages(tree)[-1], tree.returns[-1]
    assert found == pytest.approx([paid[0] - paid[1:].mean(), paid[1] - paid[::2].mean(), paid[2] - paid[:2].mean()])


def test_threads_share_the_cached_oracles(monkeypatch):
    games, faults = [make_game(f"ipd(rounds={rounds})") for rounds in range(1, 16)], []
    monkeypatch.setattr(tree_policy, "tree_of", lambda game, budget, one_round: [game] * 5000)  # of ten there is room

    def ask(first):
        try:
            for number in range(1000):
                game = games[(7 * number + 3 * first) % len(games)]
                assert oracle_of(game, 10**9).tree[0] is game  # a budget of no other test
        except (KeyError, RuntimeError, AssertionError) as error:
            faults.append(repr(error))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [Thread(target=ask, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert faults == []
