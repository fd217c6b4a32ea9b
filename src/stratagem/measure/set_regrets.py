"""Regret of a policy in each information set, where all seats play it, beside the best response's answer.

    regret(I) = r(I) [max_a Q(I, a) - sum_a p(a|I) Q(I, a)]

where r is the probability that play reaches I, and Q the seat's expected payoff after an action if it plays its best
response from there on and all others play p. By the performance difference lemma (Kakade and Langford 2002) the regrets
of a seat add up to the gain of its best response, so all regrets, divided by the number of seats, add up to the
exploitability.

    leak(I) = exploitability(p) - exploitability of the same exploiters against p with the row of an equilibrium at I
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stratagem.games.base import Seat
from stratagem.games.sequence_form import BestResponse, Ints, sum_by_place
from stratagem.games.tree import GameTree
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.questions import TreeQuestions
from stratagem.measure.tree_policy import Floats, Oracle


@dataclass(frozen=True, eq=False)
class SetRegrets:
    """Figures of a policy by information set, in the game's unit a round, and the best responses behind them."""

    reach: Floats
    """Probability that play reaches the set."""
    regrets: Floats
    """Part of the exploitability that the seat would gain by its best response."""
    leaks: Floats | None
    """Part of the exploitability that goes if the equilibrium is played at this set alone; None without one."""
    answers: Ints
    """Index of the best response's action."""
    responses: Sequence[BestResponse]

    @property
    def total(self) -> float:
        """Sum of the regrets, which is the exploitability."""
        return float(self.regrets.sum())


def set_regrets(oracle: Oracle, policy: Floats, equilibrium: Floats | None = None) -> SetRegrets:
    """Return the figures of a policy that all seats play, by information set."""
    tree = oracle.tree
    seats = range(tree.game.spec.seats)
    reach = tree.reach(policy)
    responses = [oracle.best_response(policy, seat) for seat in seats]
    regrets = np.sum([_of_seat(tree, policy, reach, response) for response in responses], axis=0)
    scale = len(seats) * tree.expected_returns(policy)[1]
    return SetRegrets(
        reach=_by_set(tree, reach),
        regrets=regrets / scale,
        leaks=None if equilibrium is None else _leaks(oracle, policy, equilibrium, responses),
        answers=_answers(tree, responses),
        responses=responses,
    )


def action_regrets(oracle: Oracle, policy: Floats) -> Floats:
    """Return by slot max_b Q(I, b) - Q(I, a); 0 at sets that chance and the others never reach."""
    tree, result = oracle.tree, np.zeros(len(policy))
    for seat in range(tree.game.spec.seats):
        response = oracle.best_response(policy, seat)
        own = _own(tree, seat)
        others = tree.reach(np.where(own, 1.0, policy))
        worth, reached = _worth(tree, policy, others, response), _by_set(tree, others)[tree.set_of_slot]
        best = np.maximum.reduceat(worth, tree.slots[:-1])[tree.set_of_slot]
        result = np.where(own & (reached > 0.0), (best - worth) / np.where(reached > 0.0, reached, 1.0), result)
    return result


def _of_seat(tree: GameTree, policy: Floats, reach: Floats, response: BestResponse) -> Floats:
    """Return the regrets of one seat, 0 at the sets of others."""
    own, best = _own(tree, response.seat), np.zeros(len(policy))
    best[response.slots] = 1.0
    lost = np.where(own, (best - policy) * _worth(tree, policy, reach, response), 0.0)
    return sum_by_place(tree.set_of_slot, lost, len(tree.information_sets))


def _worth(tree: GameTree, policy: Floats, reach: Floats, response: BestResponse) -> Floats:
    """Return by slot what the action leads to if the seat plays its best response after it, weighted by reach."""
    played = np.where(_own(tree, response.seat), 0.0, policy)
    played[response.slots] = 1.0
    values = tree.values(played, tree.returns[:, response.seat])
    moved = tree.slot >= 0
    return sum_by_place(tree.slot[moved], reach[tree.parent[moved]] * values[moved], len(policy))


def _own(tree: GameTree, seat: Seat) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which slots are a seat's."""
    return np.array([known.seat == seat for known in tree.information_sets])[tree.set_of_slot]


def _by_set(tree: GameTree, by_node: Floats) -> Floats:
    """Add the values of the nodes of each information set."""
    moved = tree.information_set >= 0
    return sum_by_place(tree.information_set[moved], by_node[moved], len(tree.information_sets))


def _leaks(oracle: Oracle, policy: Floats, equilibrium: Floats, responses: Sequence[BestResponse]) -> Floats:
    """Return what the exploiters lose by the row of the equilibrium: the gain is linear in each row."""
    tree = oracle.tree
    questions = TreeQuestions(tree, tree.information_sets, np.arange(len(tree.information_sets)))
    _, slopes = ResponseGain(oracle, questions)(policy, [response.slots for response in responses])
    return sum_by_place(tree.set_of_slot, (policy - equilibrium) * slopes, len(tree.information_sets))


def _answers(tree: GameTree, responses: Sequence[BestResponse]) -> Ints:
    answers = np.zeros(len(tree.information_sets), dtype=np.int64)
    for response in responses:
        numbers = tree.set_of_slot[response.slots]
        answers[numbers] = response.slots - tree.slots[numbers]
    return answers
