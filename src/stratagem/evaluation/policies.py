"""What exact figures walk over: the players' stated probabilities, and the situations that differ in their future.

Situations after as many moves count as one when their rounds and all seats' state keys agree, where the game and the
players' memories allow that; otherwise they are as many as the states themselves.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product
from typing import Any

from stratagem.errors import CannotCompute, StratagemError
from stratagem.games.base import Game, Seat, State, View
from stratagem.players.base import Mix, Player, is_probability


def stated(player: Player, view: View[Any]) -> Mix:
    """What a player says that it does here, without the actions it never takes; refused where that is no policy."""
    try:
        mix = {action: p for action, p in player.policy(view).items() if p != 0.0}
        sound = is_probability(mix) and all(action in view.choices for action in mix)
    except StratagemError as error:
        raise CannotCompute(str(error)) from error
    except Exception as error:  # a player's fault, whatever it is, ends no evaluation
        said = f"{type(error).__name__}: {error}"
        raise CannotCompute(f"{player.name} raised {said!r} when asked for its probabilities.") from error
    if not sound:
        raise CannotCompute(f"{player.name} states {mix} at {view.info_key!r}, which is no mixture of legal actions.")
    return mix


class Policies:
    """The players by seat, each asked once in each situation, and a budget of situations."""

    def __init__(self, game: Game[Any], players: Sequence[Player], budget: int) -> None:
        self.game = game
        self.players = players
        self.budget = budget
        memories = [player.traits.memory for player in players]
        self.merging = game.spec.markov and all(depth is not None and depth <= 1 for depth in memories)
        self._known: dict[tuple[Seat, str], Mix] = {}

    def mix(self, state: State[Any], seat: Seat) -> Mix:
        """What the player at `seat` does now."""
        view = state.view(seat)
        key = (seat, view.info_key)
        if key not in self._known:
            self._known[key] = stated(self.players[seat], view)
        return self._known[key]

    def joint(self, state: State[Any], seats: Sequence[Seat]) -> Iterator[tuple[float, dict[Seat, str | None]]]:
        """Every joint action of these seats, with its probability."""
        for combination in product(*(self.mix(state, seat).items() for seat in seats)):
            probability = 1.0
            for _, p in combination:
                probability *= p
            yield probability, {seat: action for seat, (action, _) in zip(seats, combination, strict=True)}

    def situation(self, state: State[Any]) -> Hashable:
        """States with the same situation, after as many moves, have the same future between these players."""
        if not self.merging:
            return repr(state.dump())
        keys = (state.view(seat).state_key for seat in range(self.game.spec.seats))
        return state.to_act, state.round, *keys

    def spend(self) -> None:
        """Count one more situation, and refuse when there are too many."""
        self.budget -= 1
        if self.budget < 0:
            raise CannotCompute(f"{self.game.spec.name} between these players is too large to be computed exactly.")


class Layer:
    """The situations that as many moves lead to, each once, in the order in which they were met."""

    __slots__ = ("_places", "_policies", "states")

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._places: dict[Hashable, int] = {}
        self.states: list[State[Any]] = []

    def place(self, state: State[Any]) -> int:
        """Where the situation of `state` stands among the layer's."""
        key = self._policies.situation(state)
        place = self._places.setdefault(key, len(self.states))
        if place == len(self.states):
            self._policies.spend()
            self.states.append(state)
        return place
