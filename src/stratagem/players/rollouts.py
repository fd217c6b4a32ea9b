"""Rollouts of a search: the return of an action in states that the seat may be in, against players of its choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.abilities import clock_of, standing_of
from stratagem.games.base import Seat, State, View
from stratagem.games.key import Key
from stratagem.players.base import Ask, Mix, Move, Player, draw
from stratagem.players.beliefs import worlds
from stratagem.players.search_state import DecisionSearch

_ALL = slice(None)


class World(NamedTuple):
    """State that the seat may be in, with a key for the players' draws, and the moves of the other seats now."""

    state: State[Any]
    key: Key
    moves: Mapping[Seat, str | None]


class Simulation(Protocol):
    """Settings of rollouts."""

    @property
    def num_chance_draws(self) -> int: ...
    @property
    def horizon_phases(self) -> int: ...
    @property
    def simulated(self) -> tuple[Player, ...]: ...


Returns = Callable[[str, slice], Sequence[float]]
"""Return of an action in each of these worlds."""


@dataclass(frozen=True)
class DecisionRollouts:
    """All rollouts of a decision, for a player that can play them on in one call."""

    seat: Seat
    turn: int
    worlds: Sequence[World]
    players: Sequence[Sequence[Player]]
    """By world, the players of all seats after the candidate."""
    until: int | None
    """Game time after which a rollout stops."""


@runtime_checkable
class PlaysOn(Protocol):
    """Player that plays all rollouts of a decision on in one call, with the returns of a rollout at a time."""

    def plays_on(self, batch: DecisionRollouts) -> Returns | None:
        """Return the returns of an action; None where this is not possible."""
        ...


class Rollouts:
    """Rollouts of one decision, and the stated probabilities of models in them, each computed once."""

    def __init__(self, search: Simulation, view: View[Any]) -> None:
        self.search = search
        self.seat = view.seat
        self._own, *self._others = search.simulated
        self._stated: dict[tuple[str, Seat, str], Mix] = {}
        self.worlds: Sequence[World] = ()
        """Worlds in which all candidates are played on."""
        self._turn = 0
        self._until: int | None = None
        self._returns: Returns = self.one_by_one

    def meet(self, ask: Ask) -> None:
        """Draw the worlds in which all candidates are played on."""
        self._turn = ask.turn
        self.worlds = list(self._draw_worlds(ask))
        if self.search.horizon_phases and self.worlds:
            self._until = clock_of(self.worlds[0].state, ask.turn) + self.search.horizon_phases
        if self.worlds and isinstance(self._own, PlaysOn):
            self._returns = self._own.plays_on(self.batch()) or self.one_by_one

    def batch(self) -> DecisionRollouts:
        """Return the rollouts of the decision, for a player that plays them on in one call."""
        seats = range(self.worlds[0].state.game.spec.seats)
        players = [[self._player(seat, world.key) for seat in seats] for world in self.worlds]
        return DecisionRollouts(self.seat, self._turn, self.worlds, players, self._until)

    def _draw_worlds(self, ask: Ask) -> Iterator[World]:
        number = self.search.num_chance_draws
        model = (
            DecisionSearch(ask.view, ask.key, 1, reply=self._reply) if ask.view.game.spec.private_information else None
        )
        states = [ask.redraw_state(ask.key.at("state"))] if model is None else list(worlds(ask, model, number))
        for n in range(number if states else 0):
            key = ask.key.at("draw", n)
            state = states[n % len(states)].fork(key.at("chance"))
            yield World(state, key, self._moves(state, key, self._turn, [s for s in state.to_act if s != self.seat]))

    def returns(self, action: str, which: slice = _ALL) -> Sequence[float]:
        """Return the return of an action in each of these worlds; nothing where there is none."""
        return self._returns(action, which)

    def one_by_one(self, action: str, which: slice = _ALL) -> list[float]:
        """Return the same, each world played on move by move."""
        return [self._return(world, action) for world in self.worlds[which]]

    def _return(self, world: World, action: str) -> float:
        state, turn = world.state.fork(), self._turn
        moves, total = {**world.moves, self.seat: action}, 0.0
        while True:
            total += state.play(moves).payoffs[self.seat]
            turn += 1
            if state.over:
                return total
            if self._until is not None and clock_of(state, turn) >= self._until:
                return total + (standing_of(state) or (0.0,) * state.game.spec.seats)[self.seat]
            moves = self._moves(state, world.key, turn, state.to_act)

    def _moves(self, state: State[Any], key: Key, turn: int, seats: Sequence[Seat]) -> dict[Seat, str | None]:
        return {seat: self.move(self._player(seat, key), state, seat, key, turn) for seat in seats}

    def _player(self, seat: Seat, key: Key) -> Player:
        if seat == self.seat:
            return self._own
        return self._others[key.at("opponent", seat).integer(len(self._others))]

    def _reply(self, state: State[Any], seat: Seat, key: Key) -> str | None:
        """Draw a past move of another seat, for the belief."""
        return self.move(self._player(seat, key), state, seat, key, 0)

    def move(self, player: Player, state: State[Any], seat: Seat, key: Key, turn: int) -> str | None:
        """Return the move of a player; None stands for one that is not legal."""
        view, traits = state.view(seat), player.traits
        shown = state if traits.sees_hidden or traits.searches else None
        ask = Ask(view, key, seat, turn, 0, shown)
        answer = player.turn(ask) if traits.price == 1 else None
        if isinstance(answer, Move):
            return answer.action if answer.action in view.choices else None
        mix = self._mix(player, view)
        if ask.key.at("illegal").unit() >= sum(mix.values()):  # of a fallible model
            return None
        return draw(mix, ask.key)

    def _mix(self, player: Player, view: View[Any]) -> Mix:
        place = player.name, view.seat, view.info_key
        if place not in self._stated:
            try:
                self._stated[place] = player.policy(view)
            except CannotCompute as error:
                raise BadParameter(
                    f"A rollout cannot wait for {player.name}: name a scripted `rollout_player` and scripted "
                    f"`opponents`. {error}"
                ) from error
        return self._stated[place]
