"""Dominated actions of a game, exactly, by bounds on what can follow each action.

Action a is weakly dominated by b at an information set I if, with u the seat's payoff from there on,

    max u(h, a) <= min u(h, b)   for every history h of I and every action that others choose at once,

and somewhere b can pay more than a. It is strictly dominated if the inequality is strict everywhere. The maximum and
the minimum go over all later actions of everybody, one's own among them; chance is averaged. The criterion is
sufficient: what it names is dominated against every opponent, but an action may be dominated for subtler reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, State
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key
from stratagem.games.rounds import round_outcomes
from stratagem.games.tree_size import estimated_size

BUDGET = 50_000
"""Largest number of situations to walk: some seconds."""
_FAR_BEYOND = 4
"""Multiple of the budget from which on an estimate of the number refuses a game, without a walk."""


class Bounds(NamedTuple):
    """Smallest and largest value that can follow."""

    low: float
    high: float


Options = Mapping[str, Bounds]
"""Bounds of every action in one history, against one choice of the seats that act at once."""


class DominatedPlay(NamedTuple):
    """A dominated action, and one that is better."""

    action: str
    by: str
    strict: bool
    """True if the other is better in every history, and not only as good."""


def dominated_actions(game: Game[Any], budget: int = BUDGET) -> dict[str, list[DominatedPlay]]:
    """Return the dominated actions by information key; `CannotCompute` after `budget` situations.

    Where the rounds of a game know nothing of each other, one round is walked. Seats that share a key share its
    histories, as they share the policy there.
    """
    alone = game.spec.independent_rounds > 0
    if estimated_size(game, Key(0), one_round=alone, leaves=False) > _FAR_BEYOND * budget:
        raise _too_many(game)
    walk = _DominanceWalk(budget, game.spec.seats)
    for _, state in starts(game):
        walk.bounds(state)
    named = {key: list(_dominated_actions(histories)) for key, histories in walk.sets.items()}
    return {key: dominated for key, dominated in named.items() if dominated}


def _too_many(game: Game[Any]) -> CannotCompute:
    return CannotCompute(f"{game.spec.name} has too many situations to look for dominated actions.")


class _DominanceWalk:
    """Bounds of all situations, and by information key those of the actions in every history."""

    def __init__(self, budget: int, seats: int) -> None:
        self.budget = budget
        self._nothing = [Bounds(0.0, 0.0)] * seats
        self.sets: dict[str, list[Options]] = {}

    def bounds(self, state: State[Any]) -> list[Bounds]:
        """Return the bounds of each seat's future payoffs."""
        seats = range(state.game.spec.seats)
        if state.over:
            return self._nothing
        self.budget -= 1
        if self.budget < 0:
            raise _too_many(state.game)
        views = {seat: state.view(seat) for seat in state.to_act}
        played = {
            joint: self._after(state, dict(zip(views, joint, strict=True)))
            for joint in product(*(view.choices for view in views.values()))
        }
        for index, (seat, view) in enumerate(views.items()):
            self.sets.setdefault(view.info_key, []).extend(_by_others(played, index, seat))
        return [_hull([after[seat] for after in played.values()]) for seat in seats]

    def _after(self, state: State[Any], actions: dict[Seat, str | None]) -> list[Bounds]:
        """Return the mean over chance of a joint action's payoffs plus the bounds of what follows."""
        alone = state.game.spec.independent_rounds > 0
        branches = [
            (chance, result.payoffs, self._nothing if alone and result.closed else self.bounds(after))
            for chance, after, result in (round_outcomes if alone else outcomes)(state, actions)
        ]
        return [
            Bounds(
                *(
                    sum(chance * (payoffs[seat] + then[seat][end]) for chance, payoffs, then in branches)
                    for end in (0, 1)
                )
            )
            for seat in range(state.game.spec.seats)
        ]


def _hull(every: Sequence[Bounds]) -> Bounds:
    return Bounds(min(each.low for each in every), max(each.high for each in every))


def _by_others(played: Mapping[tuple[str, ...], list[Bounds]], index: int, seat: Seat) -> Iterator[Options]:
    """Yield one seat's actions side by side, for each choice of the seats that act at once."""
    options: dict[tuple[str, ...], dict[str, Bounds]] = {}
    for joint, after in played.items():
        options.setdefault(joint[:index] + joint[index + 1 :], {})[joint[index]] = after[seat]
    yield from options.values()


_LEAST = 1e-9
"""Rounding error; smaller differences are zero."""


def _dominated_actions(histories: Sequence[Options]) -> Iterator[DominatedPlay]:
    """Yield every action that another dominates; strictly, where one does."""
    actions = list(histories[0])
    for action in actions:
        better = {other: _margin(histories, action, other) for other in actions if other != action}
        known = {other: margin for other, margin in better.items() if margin is not None}
        if known:
            other = max(known, key=known.__getitem__)
            yield DominatedPlay(action, other, strict=known[other] > _LEAST)


def _margin(histories: Sequence[Options], action: str, other: str) -> float | None:
    """Return the least advantage of the other action; None where it does not dominate, or never pays more."""
    least = min(options[other].low - options[action].high for options in histories)
    more = any(options[other].high - options[action].low > _LEAST for options in histories)
    return least if least >= -_LEAST and more else None
