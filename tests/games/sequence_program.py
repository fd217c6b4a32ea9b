"""Sequence-form linear programs of a tree of two seats with zero sum, by scipy."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from stratagem.games.sequence_form import SequenceForm


def plan_constraints(one):
    """Return E and e of a seat's plans: E x = e, x >= 0 (von Stengel 1996)."""
    before = np.concatenate([layer.before for layer in one.layers])[one.starts]
    rows, columns, values = [0], [0], [1.0]
    for number, (first, size, sequence) in enumerate(zip(one.starts, one.sizes, before, strict=True), start=1):
        rows += [number] * (size + 1)
        columns += [sequence, *range(first + 1, first + size + 1)]
        values += [-1.0, *[1.0] * size]
    right = np.zeros(len(one.starts) + 1)
    right[0] = 1.0
    return coo_array((values, (rows, columns)), shape=(len(right), len(one.order) + 1)).tocsr(), right


def payoff_matrix(form, seat=0):
    """Return what a seat earns, by its sequence and that of the other."""
    own = form.ends[seat]
    rows = np.repeat(own.sequences, np.diff(own.starts, append=len(own.order)))
    shape = (len(form.seats[seat].order) + 1, len(form.seats[1 - seat].order) + 1)
    return coo_array((own.paid, (rows, own.last[1 - seat])), shape=shape).tocsr()


def equilibrium(tree):
    """Return the value for seat 0 and its plan: max f q over x, q with E x = e and F' q <= A' x."""
    from scipy.sparse import block_array

    form = SequenceForm(tree)
    own, begin = plan_constraints(form.seats[0])
    other, end = plan_constraints(form.seats[1])
    payoffs = payoff_matrix(form)
    cost = np.concatenate([np.zeros(own.shape[1]), -end])
    found = linprog(
        cost,
        A_ub=block_array([[-payoffs.T, other.T]]),
        b_ub=np.zeros(payoffs.shape[1]),
        A_eq=block_array([[own, coo_array((own.shape[0], len(end)))]]),
        b_eq=begin,
        bounds=[(0, None)] * own.shape[1] + [(None, None)] * len(end),
    )
    return -found.fun, found.x[: own.shape[1]]


def best_value(form, seat, plan):
    """Return what a seat earns by its best plan against a plan of the other."""
    own, begin = plan_constraints(form.seats[seat])
    found = linprog(-(payoff_matrix(form, seat) @ plan), A_eq=own, b_eq=begin, bounds=(0, None))
    return -found.fun


def policy_of_plan(one, plan):
    """Return the policy of a plan, by the seat's own slots; evenly where it does not come."""
    before = plan[np.concatenate([layer.before for layer in one.layers])]
    even = 1.0 / np.repeat(one.sizes, one.sizes)
    return np.where(before > 1e-12, plan[1:] / np.where(before > 1e-12, before, 1.0), even)
