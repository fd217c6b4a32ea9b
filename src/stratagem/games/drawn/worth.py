"""Figures that say whether a game is worth playing: losses of simple players, sets that matter, actions that do not.

All figures are shares of each seat's payoff range, so they are those of any game with the same canonical digest but for
draws that no seat sees. Exploitability is NashConv over the number of seats, where all seats play alike.

Own later moves are the best ones where a decision is valued, and even chances for the myopic player.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from stratagem.games.base import Seat
from stratagem.games.drawn.solution import TARGET, ScaledForm, SeatResponse, TreeSolution, drawn_policies
from stratagem.games.sequence_form import Ends
from stratagem.games.tree import TERMINAL, GameTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_OPPONENTS = 4
"""Drawn opponents beside even chances: against those alone a message would never matter, as nobody reads it."""
_LEAST_REACH = 1e-4
"""Probability under even chances from which on an information set counts as reached."""
_ROUNDING = 1e-9
"""Difference, as a share of the range, that is rounding."""


@dataclass(frozen=True)
class SimplePlay:
    """A simple player in a game."""

    name: str
    exploitability: float
    """NashConv over the number of seats, where it has every seat."""
    loss: float
    """Mean over the seats of what it earns less than the solution there, against the solution in the other seats."""

    @property
    def cost(self) -> float:
        """The larger of both: the player is exploitable, or beaten."""
        return max(self.exploitability, self.loss)


@dataclass(frozen=True)
class Worth:
    """Figures that say whether a game is worth playing."""

    nodes: int
    information_sets: int
    payoff_ranges: tuple[float, ...]
    """Highest minus lowest payoff by seat, in points."""
    length: float
    """Expected number of decisions among several actions, where all actions are equally likely."""
    longest: int
    """Largest number of such decisions."""
    values: tuple[float, ...]
    """Expected payoff of the solution by seat, as a share of the range above its lowest payoff."""
    nash_conv_share: float
    """NashConv of the solution."""
    constant_sum: bool
    random: SimplePlay
    """The player to which all actions are alike."""
    myopic: SimplePlay
    """The player that takes the best action against even chances, its own later moves among them."""
    constants: tuple[SimplePlay, ...]
    """The players that always take the action of one number, or of one name and even chances elsewhere."""
    stakes: tuple[float, ...]
    """By reached information set, the largest first: what the best action earns more than the worst one.

    It is the largest figure against even chances and some drawn opponents.
    """
    least_stake: float
    """Smallest over the seats of their largest stake: 0 where a seat has nothing to decide."""
    idle_actions: tuple[str, ...]
    """Actions that are a best response nowhere, among those with an alternative.

    They are tried against even chances, drawn opponents, simple players, the solution, and opponents that favour them.
    An action that is strictly dominated at every set is idle, and as a rule one that is weakly dominated. Another one
    may be idle if it is best against an opponent that was not tried. Sets where all actions earn the same say nothing.
    """

    def count_sets(self, share: float) -> int:
        """Count the information sets at which the choice matters by this share of the range."""
        return sum(stake >= share - _ROUNDING for stake in self.stakes)


@dataclass(frozen=True)
class WorthMargins:
    """Least figures of a game that is worth playing, in shares of the payoff range."""

    random: float
    constant: float
    myopic: float
    sets: int
    """Information sets that must matter."""
    stake: float
    """Difference between its best and its worst action from which on a set matters."""


MARGINS: Mapping[str, WorthMargins] = {
    "low": WorthMargins(random=0.02, constant=0.01, myopic=0.005, sets=2, stake=0.02),
    "usual": WorthMargins(random=0.05, constant=0.03, myopic=0.02, sets=2, stake=0.05),
    "high": WorthMargins(random=0.08, constant=0.06, myopic=0.05, sets=4, stake=0.1),
}
"""Levels at which results are repeated. Kuhn and leduc poker are worth playing by the usual one."""


def refusal(worth: Worth, margins: WorthMargins) -> str:
    """Return why a game is not worth playing; empty where it is.

    Figures often meet a margin exactly, so rounding, which differs between processors, must not decide.
    """
    if worth.constant_sum and worth.nash_conv_share > TARGET:
        return "no equilibrium was found"
    if worth.random.cost < margins.random - _ROUNDING:
        return "random play loses too little"
    if min((one.cost for one in worth.constants), default=0.0) < margins.constant - _ROUNDING:
        return "a constant action loses too little"
    if worth.myopic.cost < margins.myopic - _ROUNDING:
        return "myopic play loses too little"
    if worth.count_sets(margins.stake) < margins.sets:
        return "too few information sets matter"
    if worth.least_stake < margins.stake - _ROUNDING:
        return "the choices of a seat do not matter"
    if worth.idle_actions:
        return "an action is never a best response"
    return ""


def measure_worth(tree: GameTree, scaled: ScaledForm, solution: TreeSolution) -> Worth:
    """Return the figures of a tree, for its sequence form and its solution."""
    trial = _Trial(tree, scaled, solution)
    even = even_policy(tree)
    random = trial.play("random", even, stakes=True)
    for number, policy in enumerate(drawn_policies(scaled.form, _OPPONENTS)):
        trial.play(f"drawn {number}", policy, stakes=True)
    trial.play("solution", solution.policy)
    myopic = trial.play("myopic", myopic_policy(scaled, even))
    constants = tuple(trial.play(name, policy) for name, policy in _constant_policies(tree, even).items())
    length, longest = _count_decisions(tree, even)
    reach = tree.reach(even)
    nodes = tree.information_set >= 0
    reached = np.bincount(tree.information_set[nodes], reach[nodes], len(tree.information_sets)) >= _LEAST_REACH
    seats = tree.information_sets.columns.seat[reached]
    stakes = trial.stakes[reached]
    paid = tree.returns[tree.mover == TERMINAL]
    return Worth(
        nodes=len(tree),
        information_sets=len(tree.information_sets),
        payoff_ranges=tuple((paid.max(axis=0) - paid.min(axis=0)).tolist()),
        length=length,
        longest=longest,
        values=solution.values,
        nash_conv_share=solution.nash_conv_share,
        constant_sum=solution.constant_sum,
        random=random,
        myopic=myopic,
        constants=constants,
        stakes=tuple(np.sort(stakes)[::-1].tolist()),
        least_stake=min(float(stakes[seats == seat].max(initial=0.0)) for seat in range(paid.shape[1])),
        idle_actions=trial.idle_actions(even),
    )


class _Trial:
    """Players that were tried in a tree, and what their opponents' best responses show."""

    def __init__(self, tree: GameTree, scaled: ScaledForm, solution: TreeSolution) -> None:
        self.tree = tree
        self.scaled = scaled
        self.solved = scaled.form.plans(solution.policy)
        self.solved_values = [one.value for one in scaled.all_figures(solution.policy)]
        self.stakes = np.zeros(len(tree.information_sets))
        self.useful = np.zeros(len(tree.set_of_slot), dtype=bool)
        """By slot: the action is a best response to a player that was tried."""
        self._chances = scaled.form.ends_of(np.ones_like(tree.returns))

    def play(self, name: str, policy: Floats, *, stakes: bool = False) -> SimplePlay:
        """Try a player in all seats, for its policy by the slots of the tree."""
        form, ranges = self.scaled.form, self.scaled.ranges
        plans = form.plans(policy)
        gains, losses = 0.0, 0.0
        for seat, spread in enumerate(ranges.tolist()):
            figures = self.scaled.figures(plans, seat)
            gains += max(figures.gain, 0.0) / spread
            at_home = [*self.solved[:seat], plans[seat], *self.solved[seat + 1 :]]
            losses += (self.solved_values[seat] - form.value(at_home, seat)) / spread
            if len(form.seats[seat].order):
                self._note_best(seat, figures, plans, stakes=stakes)
        return SimplePlay(name, gains / len(ranges), losses / len(ranges))

    def _note_best(self, seat: Seat, figures: SeatResponse, plans: Sequence[Floats], *, stakes: bool) -> None:
        """Note the best actions of a seat against a player in the other seats, and the stakes of its sets."""
        one = self.scaled.form.seats[seat]
        values = figures.values[1:]
        highest, lowest = np.maximum.reduceat(values, one.starts), np.minimum.reduceat(values, one.starts)
        reach = self._reach(self._chances, plans, seat) * self.scaled.ranges[seat]
        some = reach > 0.0
        stake = np.where(some, (highest - lowest) / np.where(some, reach, 1.0), 0.0)
        matters = np.repeat(stake > _ROUNDING, one.sizes)
        best = values >= np.repeat(highest - _ROUNDING * reach, one.sizes)
        self.useful[one.order[matters & best]] = True
        if stakes:
            sets = self.tree.set_of_slot[one.order[one.starts]]
            self.stakes[sets] = np.maximum(self.stakes[sets], stake)

    def _reach(self, chances: Ends, plans: Sequence[Floats], seat: Seat) -> Floats:
        """Return the probability by chance and the other seats of coming to each information set of a seat."""
        one = self.scaled.form.seats[seat]
        reach = self.scaled.form.gains(chances, list(plans), seat)
        one.respond(reach)  # every action ends somewhere, so that all of a set have its own probability
        return reach[1 + one.starts]

    def idle_actions(self, even: Floats) -> tuple[str, ...]:
        """Return the names of the actions that are a best response nowhere, of those that have an alternative."""
        names, number_of_slot = _name_slots(self.tree)
        choice = self.tree.information_sets.sizes[self.tree.set_of_slot] > 1
        offered = np.bincount(number_of_slot[choice], minlength=len(names)) > 0
        for number in np.flatnonzero(offered):
            slots = (number_of_slot == number) & choice
            if not self.useful[slots].any():
                self._favour(slots, even)
        used = np.bincount(number_of_slot[self.useful], minlength=len(names)) > 0
        return tuple(name for name, idle in zip(names, offered & ~used, strict=True) if idle)

    def _favour(self, slots: Ints, even: Floats) -> None:
        """Try opponents that are as kind as they can after some actions, and as hostile as they can after others."""
        tree, form = self.tree, self.scaled.form
        seats = tree.information_sets.columns.seat[tree.set_of_slot]
        for seat in np.unique(seats[slots]).tolist():
            after = (tree.slot >= 0) & (slots & (seats == seat))[tree.slot]
            for layer in list(tree.layers())[1:]:
                after[layer] |= after[tree.parent[layer]]
            middle = self.scaled.lowest[seat] + self.scaled.ranges[seat] / 2
            kindness = np.where(after, 1.0, -1.0) * (tree.returns[:, seat] - middle)
            ends = form.ends_of(np.repeat(kindness[:, None], len(form.seats), axis=1))
            plans = form.plans(even)
            for other, one in enumerate(form.seats):
                if other != seat and len(one.order):
                    kind = np.zeros(len(one.order))
                    kind[one.respond(form.gains(ends, plans, other))] = 1.0
                    plans[other] = one.plan(kind)
            self._note_best(seat, self.scaled.figures(plans, seat), plans, stakes=False)


def _name_slots(tree: GameTree) -> tuple[list[str], Ints]:
    """Return the names of all actions, and the number of the name of each slot."""
    columns = tree.information_sets.columns
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(name, len(numbers)) for name in one.actions] for one in columns.options]
    slots = chain.from_iterable(rows[option] for option in columns.option.tolist())
    return list(numbers), np.fromiter(slots, dtype=np.int64, count=len(tree.set_of_slot))


def even_policy(tree: GameTree) -> Floats:
    """Return the policy to which all actions are alike."""
    even: Floats = 1.0 / tree.information_sets.sizes[tree.set_of_slot]
    return even


def myopic_policy(scaled: ScaledForm, even: Floats) -> Floats:
    """Return the best actions against even chances of all, evenly where several are."""
    form, plans, policies = scaled.form, scaled.form.plans(even), []
    for seat, one in enumerate(form.seats):
        over = one.follow(even[one.order], form.gains(form.ends, plans, seat)) if len(one.order) else plans[seat][1:]
        highest = np.repeat(np.maximum.reduceat(over, one.starts), one.sizes) if len(over) else over
        best = (over >= highest - _ROUNDING * scaled.ranges[seat]).astype(np.float64)
        policies.append(best / one.by_set(best) if len(best) else best)
    return form.join(policies)


def _constant_policies(tree: GameTree, even: Floats) -> dict[str, Floats]:
    """Return the players that always take the action of one number, or of one name, each policy once."""
    sizes, set_of_slot = tree.information_sets.sizes, tree.set_of_slot
    place = np.arange(len(set_of_slot)) - tree.slots[set_of_slot]
    found: dict[str, Floats] = {}
    for number in range(int(sizes.max(initial=0))):
        found[f"action {number + 1}"] = (place == np.minimum(number, sizes - 1)[set_of_slot]).astype(np.float64)
    names, number_of_slot = _name_slots(tree)
    for number, name in zip(count(), names):
        chosen = number_of_slot == number
        offered = np.bincount(set_of_slot[chosen], minlength=len(sizes)) > 0
        found[name] = np.where(offered[set_of_slot], chosen.astype(np.float64), even)
    once = {policy.tobytes(): name for name, policy in reversed(found.items())}
    return {name: policy for name, policy in found.items() if once[policy.tobytes()] == name}


def _count_decisions(tree: GameTree, even: Floats) -> tuple[float, int]:
    """Return the expected number of decisions under even chances, and the largest number."""
    decides = (tree.mover >= 0) & (tree.num_children > 1)
    depth = decides.astype(np.int64)
    for layer in list(tree.layers())[1:]:
        depth[layer] += depth[tree.parent[layer]]
    return float(tree.reach(even)[decides].sum()), int(depth.max())
