"""Positions of a game as a walk of its tree meets them: who acts, what may be chosen, and where a move leads.

A game whose engine answers these questions itself is walked without views, by its method `Game.positions`. Every other
game is walked through its states, with chance enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add, attrgetter
from typing import Any, TypeVar

from stratagem.games.base import Branch, Game, Place, Position, Positions, RoundResult, Seat, SetOptions, State
from stratagem.games.enumeration import Tape, UnsettledDraw, fork_state, outcomes, starts
from stratagem.games.rounds import Outcome, round_outcomes, round_starts
from stratagem.games.tree_size import list_choices

S = TypeVar("S", bound="SharedSituation | None")
Record = tuple[tuple[Any, ...], ...]
"""Record of a state: by seat, what play has added."""
_MARK = (object(),)
"""Beginning of a record to which play may add; play may also begin it anew, with whatever element it likes."""
MOST_KEPT = 10_000
"""Outcomes that are kept at a time: some 5 MB."""


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
        state, _, chosen, returns, rounds = place
        branches: list[Branch] = []
        for chance, after, result in self._outcomes(state, (*chosen, move)):
            to_act = () if self._ends(result) else after.to_act
            total = tuple(map(add, returns, result.payoffs))
            branches.append((chance, (after, to_act, (), total, rounds + result.closed)))
        return join_branches(branches, returns, rounds)

    def state(self, at: State[Any]) -> State[Any]:
        """Return the position itself."""
        return at

    def _outcomes(self, state: State[Any], moves: tuple[str, ...]) -> Sequence[Outcome]:
        """Return the outcomes of a joint action, each with a state of its own."""
        actions: dict[Seat, str | None] = dict(zip(state.to_act, moves, strict=True))
        after = fork_state(state, state.chance if isinstance(state.chance, Tape) else Tape({}))
        try:
            return ((1.0, after, after.play(actions)),)  # most moves draw nothing
        except UnsettledDraw:
            return list(outcomes(state, actions) if self.number is None else round_outcomes(state, actions))

    def _ends(self, result: RoundResult) -> bool:
        """Return whether a round ends that is walked alone: what follows is another round."""
        return self.number is not None and result.closed


class SharedSituation:
    """Position of a game without its records: what decides how play goes on."""

    __slots__ = ("after", "state")

    def __init__(self, state: State[Any]) -> None:
        self.state = state
        """State whose records hold nothing but the mark."""
        self.after: dict[tuple[str, ...], list[Transition]] = {}
        """Outcomes of joint actions."""


Transition = tuple[float, SharedSituation | None, tuple[Record, ...], tuple[float, ...], bool]
"""Outcome of a joint action; a plain tuple, since many are made. Its parts, in their order:

- its probability;
- the situation that follows; None at the end;
- the records after the move: those that play has added to begin with the mark;
- the payoffs, by seat;
- True if the round was closed.
"""


class SharedPositions(StatePositions):
    """Positions of a game that declares its records: each situation is played once, whatever led to it.

    Where a state class declares `record_fields`, if only none, `play` is asked once for all positions that differ in
    these fields alone. Its draws must name no path twice. Subclasses do not inherit the declaration.

    A position is its situation and its state. A situation that is met for the first time is None, and its state is
    played as that of any game: in some games none is ever met again.
    """

    def __init__(self, game: Game[Any], number: int | None, *, from_first: bool = False) -> None:
        super().__init__(game, number)
        self.from_first = from_first
        """True if a situation also is one when it is met for the first time, as checks need it."""
        self.records = records_of(game) or ()
        others = [name for name in game.state.state_fields if name not in self.records]
        self._named = attrgetter("round", "to_act", *others)
        self._blank = (_MARK,) * game.spec.seats
        self._known: dict[Any, SharedSituation | None] = {}
        self._num_kept = 0

    def start(self) -> Place:
        found = super().start()
        if found[1] is None:
            return ([(chance, self._meet(place)) for chance, place in found[0]], *found[1:])
        return self._meet(found)

    def key(self, at: Position, seat: Seat) -> str:
        return super().key(at[1], seat)

    def options(self, at: Position, seat: Seat) -> SetOptions:
        return super().options(at[1], seat)

    def state(self, at: Position) -> State[Any]:
        return super().state(at[1])

    def children(self, place: Place, moves: Sequence[str]) -> list[Place]:
        (situation, state), _, chosen, returns, rounds = place
        if situation is None:
            return [self._meet(after) for after in super().children((state, *place[1:]), moves)]
        places = []
        for move in moves:
            joint = (*chosen, move)
            found = situation.after.get(joint)
            if found is None:
                found = self._play(situation, joint)
            branches = [
                (
                    chance,
                    (
                        None if after is None else (after, self._add_records(state, after.state, records)),
                        () if after is None else after.state.to_act,
                        (),
                        tuple(map(add, returns, payoffs)),
                        rounds + closed,
                    ),
                )
                for chance, after, records, payoffs, closed in found
            ]
            places.append(join_branches(branches, returns, rounds))
        return places

    def _meet(self, place: Place) -> Place:
        """Return the place of a state, or the draw among some, with the situations that were met before."""
        state, to_act = place[0], place[1]
        if to_act is None:
            return ([(chance, self._meet(after)) for chance, after in state], *place[1:])
        if not to_act:
            return (None, *place[1:])
        situation = None
        if type(state) is self.game.state:  # a game may make states of another class, which has not declared records
            name = self._named(state)
            if name not in self._known and not self.from_first:
                self._keep(name, None)
            elif (situation := self._known.get(name)) is None:
                situation = self._keep(name, SharedSituation(self._without_records(state.fork())))
        return ((situation, state), *place[1:])

    def _play(self, situation: SharedSituation, moves: tuple[str, ...]) -> list[Transition]:
        """Play a joint action in a situation, and keep its outcomes."""
        found = []
        for chance, after, result in self._outcomes(situation.state, moves):
            ends = after.over or self._ends(result)
            records = () if ends else tuple([getattr(after, name) for name in self.records])
            found.append((chance, None if ends else self._situation(after), records, result.payoffs, result.closed))
        situation.after[moves] = found
        self._num_kept += len(found)
        return found

    def _situation(self, state: State[Any]) -> SharedSituation:
        """Return the situation of a state, which is changed."""
        name = self._named(state)
        return self._known.get(name) or self._keep(name, SharedSituation(self._without_records(state)))

    def _keep(self, name: Any, situation: S) -> S:
        if self._num_kept > MOST_KEPT:  # the walk goes by depth, so old situations are rarely met again
            self._known.clear()
            self._num_kept = 0
        self._num_kept += 1
        self._known[name] = situation
        return situation

    def _without_records(self, state: State[Any]) -> State[Any]:
        """Return a state, from which its records are taken."""
        for record in self.records:
            setattr(state, record, self._blank)
        state.chance = Tape({})  # draws name no path twice
        return state

    def _add_records(self, before: State[Any], situation: State[Any], records: tuple[Record, ...]) -> State[Any]:
        """Return the state of a situation that follows a state."""
        state = situation.fork()
        for name, record in zip(self.records, records, strict=True):
            old = getattr(before, name)
            joined = [was + now[1:] if now[:1] == _MARK else now for was, now in zip(old, record, strict=True)]
            setattr(state, name, tuple(joined))
        return state


def records_of(game: Game[Any]) -> tuple[str, ...] | None:
    """Return the records of a game's states, which their own class declares: a subclass may read those of its base."""
    kind = getattr(game, "state", object)  # a game that makes its states itself names no class
    found: tuple[str, ...] | None = vars(kind).get("record_fields")
    return found


def positions_of(game: Game[Any], number: int | None) -> Positions:
    """Return the positions of a game, or of one of its rounds."""
    own = game.positions() if number is None else None
    if own is not None:
        return own
    return StatePositions(game, number) if records_of(game) is None else SharedPositions(game, number)


def places_after(positions: Positions, place: Place, moves: Sequence[Any]) -> list[Place]:
    """Return the nodes after each of these moves of the seat that chooses next at a node."""
    at, to_act, chosen, returns, rounds = place
    if to_act is None or len(chosen) + 1 == len(to_act):
        return positions.children(place, moves)
    return [(at, to_act, (*chosen, move), returns, rounds) for move in moves]


def join_branches(branches: Sequence[Branch], returns: tuple[float, ...], rounds: int) -> Place:
    """Return the node of a draw that comes after these payoffs: a chance node, unless there is one outcome."""
    return branches[0][1] if len(branches) == 1 else (branches, None, (), returns, rounds)
