"""Positions of a game as a walk of its tree meets them: who acts, what may be chosen, and where a move leads.

A game whose engine answers these questions itself is walked without views, by its method `Game.positions`. Every other
game is walked through its states, with chance enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Any

from stratagem.games.base import Branch, Game, Place, Positions, RoundResult, Seat, SetOptions, State
from stratagem.games.enumeration import Tape, UnsettledDraw, fork_state, outcomes, starts
from stratagem.games.rounds import round_outcomes, round_starts
from stratagem.games.tree_size import list_choices


class StatePositions:
    """Positions of any game: its states, with enumerated chance."""

    def __init__(self, game: Game[Any], number: int | None) -> None:
        self.game = game
        self.number = number
        """Number of the round that is walked; None for the whole game."""

    def start(self) -> Place:
        """Return the initial states."""
        first = starts(self.game) if self.number is None else round_starts(self.game, self.number)
        nothing = (0.0,) * self.game.spec.seats
        branches: list[Branch] = [(chance, (state, state.to_act, (), nothing, 0)) for chance, state in first]
        return join_branches(branches, nothing, 0)

    def key(self, at: State[Any], seat: Seat) -> str:
        """Return the key of the seat's view."""
        return at.view(seat).info_key

    def options(self, at: State[Any], seat: Seat) -> SetOptions:
        """Return the choices of the seat's view, which name its moves."""
        actions = tuple(list_choices(at.view(seat)))
        return SetOptions(actions, actions)

    def children(self, place: Place, moves: Sequence[str]) -> list[Place]:
        """Return the states after each joint action."""
        return [self._after(place, move) for move in moves]

    def _after(self, place: Place, move: str) -> Place:
        state, to_act, chosen, returns, rounds = place
        actions: dict[Seat, str | None] = dict(zip(to_act or (), (*chosen, move), strict=True))
        after = fork_state(state, state.chance if isinstance(state.chance, Tape) else Tape({}))
        try:
            result = after.play(actions)  # most moves draw nothing
        except UnsettledDraw:
            found = outcomes(state, actions) if self.number is None else round_outcomes(state, actions)
            branches = [(chance, self._reach(one, result, returns, rounds)) for chance, one, result in found]
            return join_branches(branches, returns, rounds)
        return self._reach(after, result, returns, rounds)

    def state(self, at: State[Any]) -> State[Any]:
        """Return the position itself."""
        return at

    def _reach(self, after: State[Any], result: RoundResult, returns: tuple[float, ...], rounds: int) -> Place:
        over = self.number is not None and result.closed  # what follows is another round
        total = tuple(map(add, returns, result.payoffs))
        return after, () if over else after.to_act, (), total, rounds + result.closed


def positions_of(game: Game[Any], number: int | None) -> Positions:
    """Return the positions of a game, or of one of its rounds."""
    own = game.positions() if number is None else None
    return StatePositions(game, number) if own is None else own


def places_after(positions: Positions, place: Place, moves: Sequence[Any]) -> list[Place]:
    """Return the nodes after each of these moves of the seat that chooses next at a node."""
    at, to_act, chosen, returns, rounds = place
    if to_act is None or len(chosen) + 1 == len(to_act):
        return positions.children(place, moves)
    return [(at, to_act, (*chosen, move), returns, rounds) for move in moves]


def join_branches(branches: Sequence[Branch], returns: tuple[float, ...], rounds: int) -> Place:
    """Return the node of a draw that comes after these payoffs: a chance node, unless there is one outcome."""
    return branches[0][1] if len(branches) == 1 else (branches, None, (), returns, rounds)
