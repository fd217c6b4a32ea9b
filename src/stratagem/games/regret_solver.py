"""Counterfactual regret minimisation on the sequence form of a game, for any number of seats.

In a game of two seats with constant sum the average policy comes near an equilibrium, and its exploitability says how
near. In other games it comes near a coarse correlated equilibrium as a joint play, and need not be an equilibrium
policy by policy: NashConv says what the seats could still gain.

| method | regrets | average | source |
| --- | --- | --- | --- |
| `cfr` | summed | each iteration alike | Zinkevich et al. 2007 |
| `cfr+` | never below 0 | iteration t weighs t | Tammelin 2014 |
| `dcfr` | old ones count less: 3/2, 0 | iteration t weighs (t / (t + 1))^2 | Brown and Sandholm 2019 |

The seats are updated one after the other. There is no sampled form: a pass over all sequences costs about a seventieth
of a pass over the nodes, and a game that is too large to be walked has no tree to sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadParameter
from stratagem.games.base import Seat
from stratagem.games.sequence_form import SequenceForm
from stratagem.games.tree import GameTree

Floats = NDArray[np.float64]
METHODS = ("cfr+", "dcfr", "cfr")
"""Methods, the default first."""
_GAIN, _LOSS, _AVERAGE = 1.5, 0.0, 2.0
"""Exponents of the discounts of positive and negative regrets, and of the average: alpha, beta, gamma of the source."""


def check_method(method: str) -> None:
    """Refuse a method that is none of the solver's."""
    if method not in METHODS:
        raise BadParameter(f"A solver has the methods {', '.join(METHODS)}, not {method!r}.")


class TreeSolver:
    """Solver of a game tree; `iterate` improves its average policy."""

    def __init__(self, tree: GameTree, method: str = METHODS[0]) -> None:
        check_method(method)
        self.form = SequenceForm(tree)
        self.method = method
        self.iterations = 0
        self.policies = [1.0 / np.repeat(one.sizes, one.sizes).astype(np.float64) for one in self.form.seats]
        self._uniform = [policy.copy() for policy in self.policies]
        self.plans = [one.plan(policy) for one, policy in zip(self.form.seats, self.policies, strict=True)]
        self.regrets = [np.zeros(len(policy)) for policy in self.policies]
        """By seat and slot: what the action would have gained over the policies so far, as the method counts it."""
        self.sums = [np.zeros(len(policy)) for policy in self.policies]
        """By seat and slot: probabilities of the sequences, added up as the method weighs them."""

    def iterate(self, times: int = 1) -> None:
        """Update every seat so many times."""
        for _ in range(times):
            self.iterations += 1
            for seat in range(len(self.form.seats)):
                if len(self.policies[seat]):
                    self._update(seat)

    def _update(self, seat: Seat) -> None:
        one, form = self.form.seats[seat], self.form
        regrets, policy = self.regrets[seat], self.policies[seat]
        regrets += one.follow(policy, form.gains(form.ends, self.plans, seat))
        self._add_to_average(seat)
        positive = np.maximum(regrets, 0.0)
        if self.method == "cfr+":
            self.regrets[seat] = positive
        elif self.method == "dcfr":
            t = float(self.iterations)
            gain, loss = t**_GAIN, t**_LOSS
            regrets *= np.where(regrets > 0.0, gain / (gain + 1.0), loss / (loss + 1.0))
            positive = np.maximum(regrets, 0.0)
        totals = one.by_set(positive)
        some = totals > 0.0
        policy[:] = self._uniform[seat]
        np.divide(positive, totals, out=policy, where=some)
        self.plans[seat] = one.plan(policy)

    def _add_to_average(self, seat: Seat) -> None:
        """Add the policy that was just played, by its own probability of coming to each set."""
        sums, plan = self.sums[seat], self.plans[seat][1:]
        if self.method == "cfr+":
            sums += self.iterations * plan
        else:
            sums += plan
            if self.method == "dcfr":
                sums *= (self.iterations / (self.iterations + 1.0)) ** _AVERAGE

    def average(self) -> Floats:
        """Return the average policy by the slots of the tree; where a seat never came, all actions are alike."""
        averages = []
        for one, sums, uniform in zip(self.form.seats, self.sums, self._uniform, strict=True):
            totals = one.by_set(sums) if len(sums) else sums
            averages.append(np.where(totals > 0.0, sums / np.where(totals > 0.0, totals, 1.0), uniform))
        return self.form.join(averages)

    def gaps(self) -> tuple[float, ...]:
        """Return what each seat could still gain over the average policy by its best response; NashConv is the sum."""
        form, seats = self.form, range(len(self.form.seats))
        plans = form.plans(self.average())
        return tuple(form.best_response(form.ends, plans, seat).value - form.value(plans, seat) for seat in seats)
