"""Rules: a `Game` makes a `State`; a seat sees only its `View`; every legal action is a short literal string.

A view holds the facts that its seat may know and nothing else; choices, keys and texts are functions of those facts,
so what the facts do not contain cannot leak.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

from stratagem.base.errors import BadParameter, BadRecord, CannotCompute, IllegalAction
from stratagem.games.key import Chance

if TYPE_CHECKING:
    from stratagem.games.choices import Choices
    from stratagem.games.spec import GameSpec, OnIllegal

F = TypeVar("F")
Seat = int
Json = dict[str, Any]
Node = Any
"""A `pyspiel.State`; OpenSpiel has no type stubs."""


Said = tuple[int, Seat, Seat, str]
"""Message of a game with talk: number of its occasion, sender, reader (-1 for all), and text, empty for silence."""


class ActionPart(NamedTuple):
    """A classified piece of an action with its reward, such as one order of a sheet."""

    slot: str
    """Name of the piece; empty for a reward for the outcome of the whole game."""
    kind: str
    reward: float


class Claim(NamedTuple):
    """Statement about the state of a game, as its speaker knows it."""

    true: bool | None
    """None where the speaker does not know."""
    truths: tuple[str, ...]
    """Messages with the true statements of the same form, to the same readers."""
    readers: tuple[Seat, ...]
    """Other seats that read it."""


class Stakes(NamedTuple):
    """Two yardsticks of a seat, a round: what mutual cooperation pays, and what a passive opponent leaves it."""

    cooperative: float
    passive: float


class RoundResult(NamedTuple):
    """Result of one call of `play`."""

    payoffs: tuple[float, ...]
    closed: bool = True
    """True if the round has ended; within a sequential round there are no payoffs yet."""
    keep: tuple[bool, ...] | None = None
    """False for a seat whose transition is to be discarded; None keeps all."""
    parts: Mapping[Seat, tuple[ActionPart, ...]] | None = None
    """Classified pieces of the actions just played, by seat.

    A seat that did not act gets them for its latest action.
    """
    signals: Mapping[str, tuple[float | None, ...]] | None = None
    """The round's signals by seat that are facts of the game; None for a seat where one has no meaning this round."""


class View(Generic[F]):
    """Knowledge of one seat now: the facts, and everything that follows from them, computed on demand."""

    __slots__ = ("_choices", "facts", "game", "seat")

    def __init__(self, game: Game[F], seat: Seat, facts: F) -> None:
        self.game = game
        self.seat = seat
        self.facts = facts
        self._choices: Choices | None = None

    @property
    def choices(self) -> Choices:
        """Choices of this seat."""
        choices = self._choices
        if choices is None:
            choices = self._choices = self.game.choices(self.facts)
        return choices

    @property
    def state_key(self) -> str:
        """Key that is equal for situations that look the same to this seat, whatever their history."""
        return self.game.state_key(self.facts)

    @property
    def info_key(self) -> str:
        """Information set with perfect recall: all that this seat has seen and done."""
        return self.game.info_key(self.facts)

    @property
    def rules(self) -> str:
        """Rules in words for this seat; the same in every situation."""
        return self.game.rules(self.seat)

    @property
    def situation(self) -> str:
        """History and present position in words, as this seat sees them."""
        return self.game.situation(self.facts)


class Game(ABC, Generic[F]):
    """Rules of a game with their parameters; subclasses are frozen dataclasses, so two equal games play alike."""

    state: ClassVar[type[State[Any]]]
    """Class of the game's states."""
    safety: ClassVar[type[Any] | None] = None
    """Subclass of `Safety` with the game's pools, demonstrators and safety signals; None takes that of its family."""
    drawn_by: ClassVar[type[Any] | str | None] = None
    """Name of an ES module beside the class's file that draws the game, or a `GameFace`; None takes its family's."""
    language: ClassVar[type[Any] | None] = None
    """Subclass of `games.talk.Language` with the sentences of the game's talk; None takes that of its family."""
    inner: Game[Any] | None = None
    """Game that this one goes around; None of a game that is no wrapper."""
    has_talk: ClassVar[bool] = False
    """True of a game whose seats also send messages before its turns: `games.talk.talk_in` returns its talk."""
    largest: ClassVar[Mapping[str, float]] = {}
    """Largest number, and number of elements of a list, by parameter, where the user does not name the game."""

    @property
    def figure_name(self) -> str:
        """First part of the names of its figures and files; games of one registry name may differ in it."""
        return self.spec.name

    @property
    @abstractmethod
    def spec(self) -> GameSpec:
        """Declared facts of the game."""

    def start(self, chance: Chance) -> State[F]:
        """Start a new table whose every draw comes from `chance`."""
        state = self.state(self, chance)
        if state.to_act:  # it would be lost: `begin` sets it
            raise BadParameter(
                f"{self.spec.name} sets `to_act` in `__init__`, where `begin` then lets all seats act: set it in "
                "`begin`."
            )
        state.begin()
        if not state.to_act:  # its payoffs could not be paid
            raise BadParameter(
                f"{self.spec.name} has a deal in which no seat is to act: let a seat act in every deal, if only with "
                "one choice."
            )
        return state

    def load(self, data: Json, chance: Chance) -> State[F]:
        """Load the state that `dump` wrote; later draws come from `chance`."""
        state = self.state(self, chance)
        state.restore(data)
        return state

    @abstractmethod
    def choices(self, facts: F) -> Choices:
        """Return the choices of a seat that knows these facts."""

    @abstractmethod
    def rules(self, seat: Seat) -> str:
        """Return the rules in words for this seat."""

    @abstractmethod
    def situation(self, facts: F) -> str:
        """Return the history and the present position in words."""

    def info_key(self, facts: F) -> str:
        """Return the information set: by default, everything that the seat knows."""
        return repr(facts)

    def state_key(self, facts: F) -> str:
        """Return the key of what matters for the future.

        States of one round that agree in it at every seat have the same future.
        """
        return self.info_key(facts)

    def vocabulary(self) -> tuple[str, ...]:
        """Return the words of the texts that a disguise renames; by default those of the actions are found in play.

        `games.disguise.substitution` says how words are written. Raises `CannotCompute` where there are no other words.
        """
        return ()

    def all_actions(self) -> tuple[str, ...]:
        """Return the actions of all positions, in a fixed order; by default those that a walk of the game finds.

        The actions of a sheet are its lines, and the empty text where a slot may stay empty. `games.all_actions` walks.
        """
        return ()

    def default_action(self, facts: F) -> str:
        """Return the action that is played for an absent seat: by default the first legal action."""
        return self.choices(facts).first

    def positions(self) -> Positions | None:
        """Return the positions of the game for a walk without views, if its engine knows them; None walks states."""
        return None

    def twin(self) -> Twin | None:
        """Return the same game in OpenSpiel, if there is one: the oracle for checks and best responses."""
        return None


class State(ABC, Generic[F]):
    """One episode: made by its game, used once, forkable at any time.

    `state_fields` names the attributes of a state. They are numbers, strings, tuples and None, never changed in place,
    so forks and dumps need no code of their own.
    """

    __slots__ = ("chance", "game", "over", "round", "to_act")
    state_fields: ClassVar[tuple[str, ...]] = ()
    record_fields: ClassVar[tuple[str, ...] | None] = None
    """Fields with a tuple a seat that play only adds to and never reads; see `games.positions.SharedPositions`."""

    def __init__(self, game: Game[F], chance: Chance) -> None:
        self.game = game
        self.chance = chance
        self.round = 0
        self.over = False
        self.to_act: tuple[Seat, ...] = ()
        """Seats that must choose now, in ascending order; empty when the game is over."""

    def begin(self) -> None:
        """Make the first draws of the game; by default all seats are to act."""
        self.to_act = tuple(range(self.game.spec.seats))

    @property
    def on_illegal(self) -> OnIllegal:
        """Consequence here for a seat without a legal action: by default that which the spec declares."""
        return self.game.spec.on_illegal

    @abstractmethod
    def view(self, seat: Seat) -> View[F]:
        """Return the view of `seat`: a pure function of state and seat that later play does not change."""

    @abstractmethod
    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        """Play one action for each seat in `to_act`; None stands for a seat without a legal action."""

    def fork(self, chance: Chance | None = None) -> Self:
        """Fork the state: an independent copy; with `chance`, later draws come from there."""
        copy = type(self)(self.game, chance or self.chance)
        copy.round, copy.over, copy.to_act = self.round, self.over, self.to_act
        for name in self.state_fields:
            setattr(copy, name, getattr(self, name))
        return copy

    def dump(self) -> Json:
        """Return the JSON from which `Game.load` makes this state again."""
        return {name: _as_lists(getattr(self, name)) for name in ("round", "over", "to_act", *self.state_fields)}

    def restore(self, data: Json) -> None:
        """Take over what `dump` wrote."""
        for name in ("round", "over", "to_act", *self.state_fields):
            if name not in data:
                raise BadRecord(f"This is no state of {self.game.spec.name}: {name!r} is missing.")
            setattr(self, name, _as_tuples(data[name]))
        if type(self.round) is not int or type(self.over) is not bool or not self._may_act():
            raise BadRecord(
                f"This is no state of {self.game.spec.name}: round {self.round!r}, over {self.over!r}, to_act "
                f"{self.to_act!r}."
            )

    def _may_act(self) -> bool:
        """Return whether these are seats, each named once, and none when the game is over."""
        seats = self.to_act if isinstance(self.to_act, tuple) else (None,)
        known = all(type(seat) is int and 0 <= seat < self.game.spec.seats for seat in seats)
        return known and len(set(seats)) == len(seats) and bool(seats) != self.over

    def files(self) -> Iterator[tuple[str, str]]:
        """Name and text of files that show this game elsewhere, such as pictures; by default there are none."""
        return iter(())

    def end(self) -> None:
        """End the game."""
        self.over, self.to_act = True, ()

    def resample(self, seat: Seat, chance: Chance) -> Self:
        """Draw anew everything that `seat` cannot see; the result is indistinguishable to it from this state."""
        if self.game.spec.perfect_information:
            return self.fork(chance)
        raise CannotCompute(f"{self.game.spec.name} cannot redraw what a seat does not see.")

    def refuse(self, actions: Mapping[Seat, str | None]) -> IllegalAction:
        """Return the error for actions that do not fit: the wrong seats, or an action that is not among the choices."""
        name = self.game.spec.name
        if set(actions) != set(self.to_act):
            return IllegalAction(f"In {name} the seats to act are {list(self.to_act)}, not {sorted(actions)}.")
        for seat, action in actions.items():
            choices = self.view(seat).choices
            if action is not None and action not in choices:
                return IllegalAction(f"In {name} seat {seat} cannot play {action!r}: it may play {choices.summary()}.")
        return IllegalAction(f"In {name} these actions cannot be played together: {dict(actions)}.")


Position = Any
"""Position of an engine: a state of ours, or a node of OpenSpiel."""


Place = tuple[Position, tuple[Seat, ...] | None, tuple[Any, ...], tuple[float, ...], int]
"""Node of a tree; a plain tuple, since a walk makes one for every node. Its parts, in their order:

- the position; at a chance node the branches of the draw;
- the seats that choose in the position: none at the end, and None at a chance node;
- the moves of the seats that chose before in the same position;
- the payoffs so far, by seat;
- the rounds that were closed so far.
"""
Branch = tuple[float, Place]
"""Outcome of chance: its probability, and where it leads."""


class SetOptions(NamedTuple):
    """Choices of a seat in an information set."""

    actions: tuple[str, ...]
    moves: tuple[Any, ...]
    """Names of these actions in `Positions.children`, in the same order."""


class Positions(Protocol):
    """Positions of one game, or of one of its rounds."""

    def start(self) -> Place:
        """Return the root: the first position, or the draw of it."""
        ...

    def key(self, at: Position, seat: Seat) -> str:
        """Return the `info_key` of a seat's view."""
        ...

    def options(self, at: Position, seat: Seat) -> SetOptions:
        """Return the choices of a seat that is to act; asked once for each information set."""
        ...

    def children(self, place: Place, moves: Sequence[Any]) -> list[Place]:
        """Return where each of these moves of the last seat to act leads: to a position, or to a draw among some."""
        ...

    def state(self, at: Position) -> State[Any]:
        """Return the state of a position; it is forked, never played on."""
        ...


class Twin(Protocol):
    """Translation between one of our games and OpenSpiel's, in both directions.

    It is the source of best responses and searches, and what our rules are checked against.
    """

    @property
    def game(self) -> Game[Any]:
        """Our game, as it stands against OpenSpiel's (one hand of a match of many, say)."""
        ...

    @property
    def spiel(self) -> Any:
        """The `pyspiel.Game`."""
        ...

    def view(self, node: Node) -> View[Any]:
        """Return the view of our seat where the player to move at `node` stands."""
        ...

    def action(self, node: Node, spiel_action: int) -> str:
        """Return our name for an action of the player to move at `node`."""
        ...

    def node(self, state: State[Any]) -> Node:
        """OpenSpiel's state for ours, hidden cards included."""
        ...

    def seat(self, state: State[Any], player: int) -> int:
        """Which of our seats is OpenSpiel's `player` in the position that `node` gives for `state`."""
        ...


def pending(seats: int) -> RoundResult:
    """Return the result of a move within a round: no payoffs yet."""
    return RoundResult((0.0,) * seats, closed=False)


def _as_lists(value: Any) -> Any:
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list) else value
