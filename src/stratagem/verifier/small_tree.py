"""Ends of a small game, walked from its rules alone; best responses, gains and dominated actions on them.

Nothing here is shared with the audit but the rules of the games, so that a fault of the audit is not repeated. An end
of the game is a row: the probability of its chance, the slots of all moves on the way, and the payoffs. Where an
illegal reply loses the game, each situation has a last action more: None, which the rules play to its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, State
from stratagem.games.enumeration import outcomes
from stratagem.games.key import Key
from stratagem.games.rounds import round_outcomes, round_starts
from stratagem.games.tree_size import estimated_size

Floats = NDArray[np.float64]
MOST_ENDS = 300_000
"""Largest number of ends that are walked: a minute or two."""
_MOST_NODES = 100 * MOST_ENDS
"""Estimated size beyond which no walk begins: in a long game it would go on before it counts its first ends."""
ROUNDING = 1e-12
"""Difference of gains up to which the first of two actions is the best, as the audit declares it."""
SetKey = tuple[int, str]


class WalkedSet(NamedTuple):
    """Information set: what its seat sees, and its own last move before it."""

    seat: int
    info_key: str
    state_key: str
    round: int
    before: int
    """Slot of the seat's own last move; -1 at its first."""
    first: int
    """First slot of its actions."""
    actions: tuple[str | None, ...]
    default: str
    situation: str

    @property
    def legal(self) -> tuple[str | None, ...]:
        """Actions without the forfeit."""
        return tuple(action for action in self.actions if action is not None)


@dataclass
class EndsWalk:
    """Ends of a game, or of one of its rounds where rounds know nothing of each other."""

    game: Game[Any]
    kind: int = 0
    sets: list[WalkedSet] = field(default_factory=list)
    histories: dict[str, list[Mapping[str | None, tuple[float, float]]]] = field(default_factory=dict)
    """By information key: the bounds of each action in each history, for the search of dominated actions."""

    def __post_init__(self) -> None:
        self._known: dict[tuple[int, str, int], int] = {}
        self._ends: list[tuple[float, tuple[int, ...], tuple[float, ...], int]] = []
        spec = self.game.spec
        self._alone, self._slots, self._seats = spec.independent_rounds > 0, 0, spec.seats
        fixed = spec.utility in ("zero-sum", "constant-sum") and not spec.simultaneous
        self._forfeit: tuple[None, ...] = (None,) if spec.on_illegal == "forfeit" and fixed else ()
        if estimated_size(self.game, Key(0), 20, one_round=self._alone) > _MOST_NODES:
            raise CannotCompute(self._too_large())
        nothing = (0.0,) * self._seats
        for chance, state in round_starts(self.game, self.kind):
            self._walk(state, chance, (), nothing, 0, (-1,) * self._seats)
        self.chance = np.array([end[0] for end in self._ends])
        depth = max(len(end[1]) for end in self._ends)
        self.path = np.array([[*end[1], *[-1] * (depth - len(end[1]))] for end in self._ends], dtype=np.int64)
        self.payoffs = np.array([end[2] for end in self._ends])
        self.rounds = np.array([end[3] for end in self._ends], dtype=np.float64)
        owners = [known.seat for known in self.sets for _ in known.actions]
        self.seat_of_slot = np.array([*owners, -1])  # the last is that of no move

    def _walk(
        self,
        state: State[Any],
        chance: float,
        path: tuple[int, ...],
        paid: tuple[float, ...],
        rounds: int,
        last: tuple[int, ...],
    ) -> list[tuple[float, float]]:
        """Add the ends after a state, and return the bounds of what each seat still wins."""
        views = {seat: state.view(seat) for seat in state.to_act}
        numbers = {seat: self._number(state, seat, last[seat]) for seat in views}
        after: dict[tuple[str | None, ...], list[tuple[float, float]]] = {}
        for joint in product(*((*view.choices, *self._forfeit) for view in views.values())):
            moves = dict(zip(views, joint, strict=True))
            slots = {seat: self._slot(numbers[seat], action) for seat, action in moves.items()}
            here = tuple(slots.get(seat, last[seat]) for seat in range(self._seats))
            bounds = [(0.0, 0.0)] * self._seats
            played: dict[int, str | None] = dict(moves)
            for share, then, result in (round_outcomes if self._alone else outcomes)(state, played):
                total = tuple(map(sum, zip(paid, result.payoffs, strict=True)))
                closed = rounds + result.closed
                if then.over or (self._alone and result.closed):
                    self._ends.append((chance * share, (*path, *slots.values()), total, closed))
                    later = [(0.0, 0.0)] * self._seats
                else:
                    later = self._walk(then, chance * share, (*path, *slots.values()), total, closed, here)
                bounds = [
                    (low + share * (now + a), high + share * (now + b))
                    for (low, high), now, (a, b) in zip(bounds, result.payoffs, later, strict=True)
                ]
            if None not in joint:  # nobody means to forfeit, so it dominates nothing and is no bound
                after[joint] = bounds
        if len(self._ends) > MOST_ENDS:
            raise CannotCompute(self._too_large())
        for index, (seat, view) in enumerate(views.items()):
            options: dict[tuple[str | None, ...], dict[str | None, tuple[float, float]]] = {}
            for joint, found in after.items():
                options.setdefault(joint[:index] + joint[index + 1 :], {})[joint[index]] = found[seat]
            self.histories.setdefault(view.info_key, []).extend(options.values())
        ends = list(zip(*after.values(), strict=True))
        return [(min(low for low, _ in one), max(high for _, high in one)) for one in ends]

    def _too_large(self) -> str:
        return f"{self.game.spec.name} has more than {MOST_ENDS:,} ends, too many to walk again."

    def _number(self, state: State[Any], seat: int, before: int) -> int:
        view = state.view(seat)
        key = (seat, view.info_key, before)
        if key not in self._known:
            self._known[key] = len(self.sets)
            actions = (*view.choices, *self._forfeit)
            default = self.game.default_action(view.facts)
            self.sets.append(
                WalkedSet(
                    seat, view.info_key, view.state_key, state.round, before, self._slots, actions, default,
                    view.situation,
                )
            )  # fmt: skip
            self._slots += len(actions)
        return self._known[key]

    def _slot(self, number: int, action: str | None) -> int:
        return self.sets[number].first + self.sets[number].actions.index(action)

    def scale(self) -> None:
        """Count payoffs in shares of each seat's payoff range, and all rounds as one."""
        ranges = self.payoffs.max(axis=0) - self.payoffs.min(axis=0)
        self.payoffs = self.payoffs / np.where(ranges > 0.0, ranges, 1.0)
        self.rounds = np.ones_like(self.rounds)

    def value(self, policy: Floats, paid: Floats) -> tuple[float, Floats]:
        """Return the expected payment under a policy by slots, and its derivative by slot."""
        chances = np.append(policy, 1.0)[self.path]
        ones = np.ones((len(chances), 1))
        before = np.hstack([ones, np.cumprod(chances, axis=1)])[:, :-1]
        behind = np.hstack([ones, np.cumprod(chances[:, ::-1], axis=1)])[:, :-1][:, ::-1]
        weight = self.chance * paid
        slopes = np.bincount((self.path + 1).ravel(), (before * behind * weight[:, None]).ravel(), len(policy) + 1)
        return float((weight * chances.prod(axis=1)).sum()), slopes[1:].astype(np.float64)

    def best_response(self, policy: Floats, seat: int) -> list[int]:
        """Return the slots of a best response: of actions that are equal up to rounding the first."""
        own = self.seat_of_slot[self.path] == seat
        others = np.where(own, 1.0, np.append(policy, 1.0)[self.path]).prod(axis=1)
        last = np.where(own, self.path, -1)
        place = np.where(own.any(axis=1), last[np.arange(len(last)), _last_true(own)], -1)
        gains = np.bincount(place + 1, self.chance * others * self.payoffs[:, seat], self._slots + 1)
        chosen = []
        for known in reversed(self.sets):  # a set is met after the one before it
            if known.seat == seat:
                options = gains[known.first + 1 : known.first + 1 + len(known.actions)]
                best = int(np.flatnonzero(options >= options.max() - ROUNDING)[0])
                chosen.append(known.first + best)
                gains[known.before + 1] += options.max()
        return chosen

    def gain(self, policy: Floats, responses: Sequence[Sequence[int]]) -> tuple[float, Floats]:
        """Return the mean gain of responses a round, and its derivative by the slots of the policy."""
        own, slopes = self.value(policy, self.payoffs.sum(axis=1))
        total, slopes = -own, -slopes
        for seat, slots in enumerate(responses):
            mine = self.seat_of_slot[:-1] == seat
            played = np.where(mine, 0.0, policy)
            played[list(slots)] = 1.0
            value, slope = self.value(played, self.payoffs[:, seat])
            total, slopes = total + value, slopes + np.where(mine, 0.0, slope)
        length, lengthens = self.value(policy, self.rounds)
        gain = total / (self._seats * length)
        return gain, (slopes / self._seats - gain * lengthens) / length

    def find_reached(self, policy: Floats) -> set[int]:
        """Return the sets that are reached under a policy."""
        chances = np.append(policy, 1.0)[self.path]
        reach = np.hstack([np.ones((len(chances), 1)), np.cumprod(chances, axis=1)])[:, :-1]
        firsts = [known.first for known in self.sets]
        met = np.unique(self.path[(reach > 0.0) & (self.path >= 0)])
        return {int(number) for number in np.searchsorted(firsts, met, side="right") - 1}

    def find_dominated(self) -> dict[str, dict[str | None, bool]]:
        """Return by information key the dominated actions, and whether another is better in every history."""
        found: dict[str, dict[str | None, bool]] = {}
        for key, histories in self.histories.items():
            for action, other in permutations(histories[0], 2):
                margin = min(one[other][0] - one[action][1] for one in histories)
                more = max(one[other][1] - one[action][0] for one in histories)
                if margin >= -1e-9 and more > 1e-9:
                    known = found.setdefault(key, {})
                    known[action] = known.get(action, False) or margin > 1e-9
        return found

    def seats_as(self, first: EndsWalk) -> tuple[int, ...] | None:
        """Return the seats of a first kind of round that the seats of this one stand for; None where none fit."""
        theirs = {(known.seat, known.info_key) for known in first.sets}
        for order in permutations(range(self._seats)):
            if {(order[known.seat], known.info_key) for known in self.sets} == theirs:
                return order
        return None


def _last_true(marks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the last place of each row that is marked."""
    places: NDArray[np.int64] = marks.shape[1] - 1 - np.argmax(marks[:, ::-1], axis=1)
    return places
