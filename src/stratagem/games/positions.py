"""Positions of a game as a walk of its tree meets them: who acts, what may be chosen, and where a move leads.

A game whose engine answers these questions itself is walked without views, by its method `Game.positions`. Every other
game is walked through its states, with chance enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import add
from typing import Any, NamedTuple, Protocol

from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.enumeration import Tape, UnsettledDraw, fork_state, outcomes, starts
from stratagem.games.rounds import round_outcomes, round_starts
from stratagem.games.tree_size import list_choices

Position = Any
"""What an engine calls a position: a state of ours, or a node of OpenSpiel."""


class Place(NamedTuple):
    """Node of a tree: a position, and what the seats have chosen in it so far."""

    at: Position
    """The position; at a chance node the branches of the draw."""
    to_act: tuple[Seat, ...] | None
    """Seats that choose in the position; none at the end, and None at a chance node."""
    chosen: tuple[Any, ...]
    """Moves of the seats that chose before in the same position."""
    returns: tuple[float, ...]
    """Payoffs so far, by seat."""
    rounds: int
    """Rounds that were closed so far."""


Branch = tuple[float, Place]
"""Outcome of chance: its probability, and where it leads."""


class SetOptions(NamedTuple):
    """What a seat may choose in an information set."""

    actions: tuple[str, ...]
    moves: tuple[Any, ...]
    """Names of the actions that `Positions.after` knows."""


class Positions(Protocol):
    """Positions of one game, or of one of its rounds."""

    def starts(self) -> Sequence[Branch]:
        """Return the beginnings of the game, with their probabilities."""
        ...

    def key(self, at: Position, seat: Seat) -> str:
        """Return the `info_key` of a seat's view."""
        ...

    def options(self, at: Position, seat: Seat) -> SetOptions:
        """Return the choices of a seat that is to act; asked once for each information set."""
        ...

    def after(self, place: Place, moves: tuple[Any, ...]) -> Sequence[Branch]:
        """Return where a move of every seat to act leads, with the probability of each outcome."""
        ...

    def state(self, at: Position) -> State[Any]:
        """Return the state of a position; it is forked, never played on."""
        ...


class StatePositions:
    """Positions of any game: its states, with enumerated chance."""

    def __init__(self, game: Game[Any], number: int | None) -> None:
        self.game = game
        self.number = number
        """Number of the round that is walked; None for the whole game."""

    def starts(self) -> list[Branch]:
        """Return the initial states."""
        first = starts(self.game) if self.number is None else round_starts(self.game, self.number)
        nothing = (0.0,) * self.game.spec.seats
        return [(chance, Place(state, state.to_act, (), nothing, 0)) for chance, state in first]

    def key(self, at: State[Any], seat: Seat) -> str:
        """Return the key of the seat's view."""
        return at.view(seat).info_key

    def options(self, at: State[Any], seat: Seat) -> SetOptions:
        """Return the choices of the seat's view, which name its moves."""
        actions = tuple(list_choices(at.view(seat)))
        return SetOptions(actions, actions)

    def after(self, place: Place, moves: tuple[str, ...]) -> list[Branch]:
        """Return the states after a joint action."""
        actions = dict(zip(place.at.to_act, moves, strict=True))
        return [
            (chance, self._reach(place, after, result)) for chance, after, result in self._outcomes(place.at, actions)
        ]

    def state(self, at: State[Any]) -> State[Any]:
        """Return the position itself."""
        return at

    def _outcomes(
        self, state: State[Any], actions: Mapping[Seat, str | None]
    ) -> Iterator[tuple[float, State[Any], RoundResult]] | tuple[tuple[float, State[Any], RoundResult]]:
        tape = state.chance if isinstance(state.chance, Tape) else Tape({})
        after = fork_state(state, tape)
        try:
            return ((1.0, after, after.play(actions)),)  # most moves draw nothing
        except UnsettledDraw:
            return outcomes(state, actions) if self.number is None else round_outcomes(state, actions)

    def _reach(self, place: Place, after: State[Any], result: RoundResult) -> Place:
        returns = tuple(map(add, place.returns, result.payoffs))
        over = self.number is not None and result.closed  # what follows is another round
        return Place(after, () if over else after.to_act, (), returns, place.rounds + result.closed)


def positions_of(game: Game[Any], number: int | None) -> Positions:
    """Return the positions of a game, or of one of its rounds."""
    own = game.positions() if number is None else None
    return StatePositions(game, number) if own is None else own


def first_place(positions: Positions, seats: int) -> Place:
    """Return the root of a tree."""
    return _join_branches(positions.starts(), (0.0,) * seats, 0)


def next_place(positions: Positions, place: Place, move: Any) -> Place:
    """Return the node after the move of the seat that chooses next at a node."""
    at, to_act, chosen, returns, rounds = place
    moves = (*chosen, move)
    if len(moves) < len(to_act):  # type: ignore[arg-type]  # a seat is to choose
        return Place(at, to_act, moves, returns, rounds)
    return _join_branches(positions.after(place, moves), returns, rounds)


def _join_branches(branches: Sequence[Branch], returns: tuple[float, ...], rounds: int) -> Place:
    """Return the node of a draw: a chance node, unless there is one outcome."""
    return branches[0][1] if len(branches) == 1 else Place(branches, None, (), returns, rounds)
