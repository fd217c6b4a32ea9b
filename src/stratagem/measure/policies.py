"""Basis of exact figures: the players' stated probabilities, and the situations that differ in their future.

Situations after as many moves count as one when their rounds and all seats' state keys agree, where the game and the
players' memories allow that; otherwise they are as many as the states themselves.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.games.base import Game, RoundResult, Seat, State, View
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.rounds import round_outcomes, round_starts
from stratagem.measure.prompts import AskedOnce
from stratagem.players.base import Mix, Player

_CLOSE = 1e-9
"""Deviation of a sum of probabilities from 1 that is rounding; a larger one would be an error of every exact figure."""
_LINES = 10
"""Outcomes of chance that may be followed for each situation of the budget."""
T = TypeVar("T")


Stated = Mapping[str | None, float]
"""Policy of a player in a situation; None is the null action, without a legal reply."""


def stated_policies(player: Player, views: Sequence[View[Any]]) -> list[Stated]:
    """Return the stated policy of a player in each situation, without zero probabilities.

    Refused where it is no distribution. A model is asked once in each prompt.

    A player that answers many situations at once has a method `policies` beside `policy`.
    """
    try:
        mixes = AskedOnce(player).policies(views)
        return [_whole(player, view, mix) for view, mix in zip(views, mixes, strict=True)]
    except StratagemError as error:
        raise CannotCompute(str(error)) from error
    except (Exception, SystemExit) as error:  # a player's fault, whatever it is, ends no evaluation
        policy_stated = f"{type(error).__name__}: {error}"
        raise CannotCompute(f"{player.name} raised {policy_stated!r} when asked for its probabilities.") from error


def _whole(player: Player, view: View[Any], mix: Mix) -> Stated:
    """Complete a mixture with the null action; a player without a legal reply may be asked again."""
    policy_stated: dict[str | None, float] = {action: p for action, p in mix.items() if p != 0.0}
    total = math.fsum(policy_stated.values())
    lack = 1.0 - total if player.traits.fallible and total < 1.0 else 0.0
    if any(action not in view.choices for action in policy_stated) or min(policy_stated.values(), default=0.0) < 0.0:
        raise _no_mixture(player, view, mix)
    if not abs(total + lack - 1.0) < _CLOSE:  # also where the sum is no number
        raise _no_mixture(player, view, mix)
    return policy_with_retries(policy_stated, lack, view.game.spec.retries)


def policy_with_retries(mix: Stated, lack: float, retries: int) -> Stated:
    """Return the policy of a player that is asked again after a reply without an action, of probability `lack`."""
    if not lack:
        return mix
    tries = math.fsum(lack**attempt for attempt in range(retries + 1))
    return {**{action: p * tries for action, p in mix.items()}, None: lack ** (retries + 1)}


def _no_mixture(player: Player, view: View[Any], mix: Mix) -> CannotCompute:
    return CannotCompute(f"{player.name} states {mix} at {view.info_key!r}, which is no mixture of legal actions.")


def merges(game: Game[Any], player: Player) -> bool:
    """Return whether situations with equal state keys have the same future with this player at the table."""
    memory = player.traits.memory
    return game.spec.markov and memory is not None and memory <= 1


class Policies:
    """Players by seat, each asked once in each situation, and a budget of situations."""

    def __init__(
        self,
        game: Game[Any],
        players: Sequence[Player],
        budget: int,
        *,
        merge: bool = True,
        round_number: int | None = None,
    ) -> None:
        """`merge` False keeps situations apart that only their past tells apart; `round_number` walks one round."""
        self.game = game
        self.round_number = round_number
        self.players = players
        self.budget = budget
        self._lines = _LINES * max(budget, 5_000)
        traits = [player.traits for player in players]
        self.merging = merge and all(merges(game, player) for player in players)
        self._prices = [t.price for t in traits]
        self._known: dict[tuple[Seat, str], Stated] = {}

    def prepare(self, states: Sequence[State[Any]], but: Seat | None = None) -> None:
        """Ask expensive players about all these situations at once, except at the seat `but`, which is not followed."""
        unknown: dict[Player, dict[tuple[Seat, str], View[Any]]] = {}
        for state in states:
            for seat in state.to_act:
                if self._prices[seat] > 1 and seat != but:
                    view = state.view(seat)
                    if (key := (seat, view.info_key)) not in self._known:
                        unknown.setdefault(self.players[seat], {})[key] = view
        for player, views in unknown.items():
            self.spend(player.traits.price * len(views))
            self._known.update(zip(views, stated_policies(player, list(views.values())), strict=True))

    def mix(self, state: State[Any], seat: Seat) -> Stated:
        """Return the policy of the player at `seat` here."""
        view = state.view(seat)
        key = (seat, view.info_key)
        if key not in self._known:
            (self._known[key],) = stated_policies(self.players[seat], [view])
        return self._known[key]

    def joint(self, state: State[Any], seats: Sequence[Seat]) -> Iterator[tuple[float, dict[Seat, str | None]]]:
        """Yield every joint action of these seats, with its probability."""
        mixes = [self.mix(state, seat) for seat in seats]
        if math.prod(map(len, mixes)) > self._lines:  # each has an outcome at least, so the walk would end in vain
            raise self._too_large()
        for combination in product(*(mix.items() for mix in mixes)):
            probability = 1.0
            for _, p in combination:
                probability *= p
            yield probability, {seat: action for seat, (action, _) in zip(seats, combination, strict=True)}

    def outcomes(
        self, state: State[Any], actions: Mapping[Seat, str | None]
    ) -> Iterator[tuple[float, State[Any], RoundResult]]:
        """Yield every outcome of a move with its probability, within the budget."""
        return self._count_lines((outcomes if self.round_number is None else round_outcomes)(state, actions))

    def ends(self, reached: State[Any], result: RoundResult) -> bool:
        """Return whether nothing follows a move: the game is over, or the round that is walked."""
        return reached.over or (self.round_number is not None and result.closed)

    def starts(self) -> Iterator[tuple[float, State[Any]]]:
        """Yield every initial state with its probability, within the budget, since many may be one situation."""
        number = self.round_number
        return self._count_lines(starts(self.game) if number is None else round_starts(self.game, number))

    def _count_lines(self, lines: Iterator[T]) -> Iterator[T]:
        for line in lines:
            self._lines -= 1
            if self._lines < 0:
                raise self._too_large()
            yield line

    def situation(self, state: State[Any]) -> Hashable:
        """Return the key of a situation.

        After as many moves, states with equal keys have the same future between these players.
        """
        if not self.merging:
            return repr(state.dump())
        keys = (state.view(seat).state_key for seat in range(self.game.spec.seats))
        return state.to_act, state.round, *keys

    def spend(self, price: int = 1) -> None:
        """Count one more situation, and refuse when there are too many."""
        self.budget -= price
        if self.budget < 0:
            raise self._too_large()

    def _too_large(self) -> CannotCompute:
        return CannotCompute(
            f"{self.game.spec.name} between these players is too large to be computed exactly: raise the "
            "`effort` of the method exact (in recipes `exact_budget`), or make the game smaller by its options."
        )


class Layer:
    """Situations after the same number of moves, each once, in the order in which they were met."""

    __slots__ = ("_indices", "_policies", "states")

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._indices: dict[Hashable, int] = {}
        self.states: list[State[Any]] = []

    def index(self, state: State[Any]) -> int:
        """Return the index of `state`'s situation in the layer."""
        key = self._policies.situation(state)
        place = self._indices.setdefault(key, len(self.states))
        if place == len(self.states):
            self._policies.spend()
            self.states.append(state)
        return place
