"""The sequence form of a tree, and counterfactual regret minimisation on it, against the tree and OpenSpiel."""

import numpy as np
import pyspiel
import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import make_game
from stratagem.games.regret_solver import METHODS, TreeSolver
from stratagem.games.sequence_form import SequenceForm
from stratagem.games.spiel.tree_game import set_names, spiel_game
from stratagem.games.tree import TERMINAL
from stratagem.games.tree_walk import walk

GAMES = [
    "kuhn(hands=1)",
    "leduc",
    "ipd(rounds=2)",
    "spiel:kuhn_poker(players=3)",
    "auction(rounds=1)",
    "spiel:tiny_hanabi",
]


def drawn_policy(tree, seed):
    policy = np.random.default_rng(seed).random(len(tree.set_of_slot)) + 0.01
    return policy / np.repeat(np.add.reduceat(policy, tree.slots[:-1]), np.diff(tree.slots))


@pytest.fixture(scope="module", params=GAMES)
def tree(request):
    return walk(make_game(request.param), one_round=True)


def test_values_of_the_sequence_form_are_those_of_the_tree(tree):
    form, policy = SequenceForm(tree), drawn_policy(tree, 3)
    expected, _ = tree.expected_returns(policy)
    plans = form.plans(policy)
    assert [form.value(plans, seat) for seat in range(len(form.seats))] == pytest.approx(expected.tolist())


def test_a_policy_is_taken_apart_and_joined_again(tree):
    form, policy = SequenceForm(tree), drawn_policy(tree, 4)
    assert form.join([policy[one.order] for one in form.seats]).tolist() == policy.tolist()


def test_a_best_response_earns_its_value_and_no_other_action_earns_more(tree):
    form, policy = SequenceForm(tree), drawn_policy(tree, 5)
    seats = np.array([known.seat for known in tree.information_sets])[tree.set_of_slot]
    for seat in range(len(form.seats)):
        best = form.best_response(form.ends, form.plans(policy), seat)
        played = np.where(seats == seat, 0.0, policy)
        played[best.slots] = 1.0
        assert tree.expected_returns(played)[0][seat] == pytest.approx(best.value)
        for slot in np.flatnonzero((seats == seat) & (played == 0.0))[:40]:
            other = played.copy()
            first, after = tree.slots[tree.set_of_slot[slot]], tree.slots[tree.set_of_slot[slot] + 1]
            other[first:after] = 0.0
            other[slot] = 1.0
            assert tree.expected_returns(other)[0][seat] <= best.value + 1e-12


def test_ends_after_equal_sequences_are_one(tree):
    form = SequenceForm(tree)
    assert len(form.ends[0].paid) <= (tree.mover == TERMINAL).sum()
    if len(form.seats) == 2 and tree.game.spec.name == "kuhn":
        assert len(form.ends[0].paid) == 30


@pytest.mark.parametrize(
    ("method", "spiel"), [("cfr", pyspiel.CFRSolver), ("cfr+", pyspiel.CFRPlusSolver)], ids=["cfr", "cfr+"]
)
def test_policies_are_those_of_openspiel_iteration_by_iteration(tree, method, spiel):
    solver, theirs, names = TreeSolver(tree, method), spiel(spiel_game(tree)), set_names(tree)
    for iteration in range(12):
        solver.iterate()
        theirs.evaluate_and_update_policy()
        if iteration in (0, 1, 11):
            table = theirs.tabular_average_policy().policy_table()
            policy = [probability for name in names for _, probability in table[name]]
            assert solver.average() == pytest.approx(np.array(policy), abs=1e-9)


VALUES = {"kuhn(hands=1)": -1 / 18, "leduc": -0.0856064}
"""Value for the first seat: Kuhn 1950; Leduc poker by sequence-form linear programming, as in OpenSpiel's tests."""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", VALUES)
def test_solvers_come_near_the_known_value(text, method):
    solver = TreeSolver(walk(make_game(text), one_round=True), method)
    found = []
    for times in (30, 270):
        solver.iterate(times)
        found.append(sum(solver.gaps()))
    assert found[1] < 0.4 * found[0]
    form = solver.form
    value = form.value(form.plans(solver.average()), 0)
    assert abs(value - VALUES[text]) <= sum(solver.gaps())
    assert min(solver.gaps()) >= -1e-12


def test_discounts_are_those_of_the_source():
    """Two iterations by hand: Brown and Sandholm 2019, with alpha 1.5, beta 0 and gamma 2."""
    tree = walk(make_game("kuhn(hands=1)"))
    solver = TreeSolver(tree, "dcfr")
    plain = TreeSolver(tree, "cfr")
    solver.iterate()
    plain.iterate()
    gains, losses = (plain.regrets[0] > 0.0), (plain.regrets[0] < 0.0)
    assert solver.regrets[0][gains] == pytest.approx(plain.regrets[0][gains] / 2.0)
    assert solver.regrets[0][losses] == pytest.approx(plain.regrets[0][losses] / 2.0)
    assert solver.sums[0] == pytest.approx(plain.sums[0] / 4.0)
    before = solver.regrets[0].copy()
    policy, plans = solver.policies[0].copy(), [plan.copy() for plan in solver.plans]
    step = solver.form.seats[0].follow(policy, solver.form.gains(solver.form.ends, plans, 0))
    solver.iterate()
    gain = 2.0**1.5
    weights = np.where(before + step > 0.0, gain / (gain + 1.0), 0.5)
    assert solver.regrets[0] == pytest.approx(weights * (before + step))


def test_three_seats_have_a_gap_each_and_a_wrong_method_is_named():
    solver = TreeSolver(walk(make_game("spiel:kuhn_poker(players=3)")))
    before = solver.gaps()
    solver.iterate(100)
    assert len(before) == 3
    assert sum(solver.gaps()) < 0.1 * sum(before)
    with pytest.raises(BadParameter, match=r"methods cfr\+, dcfr, cfr, not 'fp'"):
        TreeSolver(solver.form.tree, "fp")
