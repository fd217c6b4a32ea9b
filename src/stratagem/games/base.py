"""Rules: a `Game` makes a `State`; a seat sees only its `View`; every legal action is a short literal string.

A view holds the facts that its seat may know and nothing else; choices, keys and texts are functions of those facts,
so what the facts do not contain cannot leak.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from stratagem.errors import BadRecord, CannotCompute, IllegalAction
from stratagem.games.key import Chance

if TYPE_CHECKING:
    from stratagem.games.choices import Choices
    from stratagem.games.spec import GameSpec
    from stratagem.games.twin import Twin

F = TypeVar("F")
Seat = int
Json = dict[str, Any]


class Part(NamedTuple):
    """A classified piece of an action with its reward, such as one order of a sheet."""

    slot: str
    """Which piece; empty for what is said of how it all ended."""
    kind: str
    reward: float


class Stakes(NamedTuple):
    """Two yardsticks of a seat, a round: what mutual cooperation pays, and what a passive opponent leaves it."""

    cooperative: float
    passive: float


class RoundResult(NamedTuple):
    """What one call of `play` brought about."""

    payoffs: tuple[float, ...]
    closed: bool = True
    """Whether the round has ended; within a sequential round nothing is paid yet."""
    keep: tuple[bool, ...] | None = None
    """False for a seat whose transition is to be discarded; None keeps all."""
    parts: Mapping[Seat, tuple[Part, ...]] | None = None
    """Of the actions that were just played; what a seat is given that did not act belongs to its latest action."""
    signals: Mapping[str, tuple[float | None, ...]] | None = None
    """The round's safety signals by seat; None for a seat where the signal has no meaning this round."""


class View(Generic[F]):
    """What one seat knows now: the facts, and everything that follows from them, computed when asked for."""

    __slots__ = ("facts", "game", "seat")

    def __init__(self, game: Game[F], seat: Seat, facts: F) -> None:
        self.game = game
        self.seat = seat
        self.facts = facts

    @property
    def choices(self) -> Choices:
        """What this seat may do."""
        return self.game.choices(self.facts)

    @property
    def state_key(self) -> str:
        """Equal for situations that look the same to this seat, however they came about."""
        return self.game.state_key(self.facts)

    @property
    def info_key(self) -> str:
        """The information set with perfect recall: all that this seat has seen and done."""
        return self.game.info_key(self.facts)

    @property
    def rules(self) -> str:
        """The rules as this seat is told them; the same in every situation."""
        return self.game.rules(self.seat)

    @property
    def situation(self) -> str:
        """What has happened and what stands, as this seat sees it."""
        return self.game.situation(self.facts)


class Game(ABC, Generic[F]):
    """A set of rules with its parameters; subclasses are frozen dataclasses, so two equal games play alike."""

    state: ClassVar[type[State[Any]]]
    """The class of its states."""

    @property
    @abstractmethod
    def spec(self) -> GameSpec:
        """What the game declares about itself."""

    def start(self, chance: Chance) -> State[F]:
        """A fresh table, whose every draw comes from `chance`."""
        state = self.state(self, chance)
        state.begin()
        return state

    def load(self, data: Json, chance: Chance) -> State[F]:
        """The state that `dump` wrote, going on with `chance`."""
        state = self.state(self, chance)
        state.restore(data)
        return state

    @abstractmethod
    def choices(self, facts: F) -> Choices:
        """What a seat that knows these facts may do."""

    @abstractmethod
    def rules(self, seat: Seat) -> str:
        """The rules as this seat is told them."""

    @abstractmethod
    def situation(self, facts: F) -> str:
        """What has happened and what stands, in words."""

    def info_key(self, facts: F) -> str:
        """The information set: by default, everything that the seat knows."""
        return repr(facts)

    def state_key(self, facts: F) -> str:
        """What matters for the future: states of one round that agree in it at every seat have the same future."""
        return self.info_key(facts)

    def default_action(self, facts: F) -> str:
        """What is played for a seat that is absent: the first legal action unless the game knows better."""
        return self.choices(facts).first

    def one_round(self) -> Game[F] | None:
        """The same game cut to one round, where rounds know nothing of each other; None where they do."""
        return None

    def twin(self) -> Twin | None:
        """The same game in OpenSpiel, where it has it: the oracle for checks and best responses."""
        return None


class State(ABC, Generic[F]):
    """One episode: made by its game, used once, forkable at any time.

    What a state holds is named in `kept` and is made of numbers, strings, tuples and None, never changed in place; then
    forks and dumps need no code of their own.
    """

    __slots__ = ("chance", "game", "over", "round", "to_act")
    kept: ClassVar[tuple[str, ...]] = ()

    def __init__(self, game: Game[F], chance: Chance) -> None:
        self.game = game
        self.chance = chance
        self.round = 0
        self.over = False
        self.to_act: tuple[Seat, ...] = ()
        """The seats that must choose now, in ascending order; empty when the game is over."""

    def begin(self) -> None:
        """Draw what the game begins with; by default all seats are to act."""
        self.to_act = tuple(range(self.game.spec.seats))

    @abstractmethod
    def view(self, seat: Seat) -> View[F]:
        """What `seat` knows now; a pure function of state and seat that later play does not change."""

    @abstractmethod
    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        """Play one action for each seat in `to_act`; None stands for a seat that said nothing legal."""

    def fork(self, chance: Chance | None = None) -> Self:
        """An independent copy; with `chance`, draws still to come are taken from there."""
        copy = type(self)(self.game, chance or self.chance)
        copy.round, copy.over, copy.to_act = self.round, self.over, self.to_act
        for name in self.kept:
            setattr(copy, name, getattr(self, name))
        return copy

    def dump(self) -> Json:
        """All that `Game.load` needs to go on from here, as JSON."""
        return {name: _listed(getattr(self, name)) for name in ("round", "over", "to_act", *self.kept)}

    def restore(self, data: Json) -> None:
        """Take over what `dump` wrote."""
        for name in ("round", "over", "to_act", *self.kept):
            if name not in data:
                raise BadRecord(f"This is no state of {self.game.spec.name}: {name!r} is missing.")
            setattr(self, name, _tupled(data[name]))
        if type(self.round) is not int or type(self.over) is not bool or not self._may_act():
            raise BadRecord(
                f"This is no state of {self.game.spec.name}: round {self.round!r}, over {self.over!r}, to_act "
                f"{self.to_act!r}."
            )

    def _may_act(self) -> bool:
        """Whether those who are to act are seats, each named once, and none when it is over."""
        seats = self.to_act if isinstance(self.to_act, tuple) else (None,)
        known = all(type(seat) is int and 0 <= seat < self.game.spec.seats for seat in seats)
        return known and len(set(seats)) == len(seats) and bool(seats) != self.over

    def files(self) -> Iterator[tuple[str, str]]:
        """Name and text of files in which this game is told elsewhere, such as pictures; by default there are none."""
        return iter(())

    def end(self) -> None:
        """Say that the game is over."""
        self.over, self.to_act = True, ()

    def stakes(self, seat: Seat) -> Stakes | None:
        """The yardsticks of this seat at this table; None where the game has no notion of cooperation."""
        return None

    def standing(self) -> tuple[float, ...] | None:
        """What each seat would be paid if it ended here, in games that pay at their end; None where it does not say."""
        return None

    def clock(self, turn: int) -> int:
        """How late it is after so many turns: these, unless turns may fall out, as phases in which nobody decides.

        Ways of going on from one situation are compared and stopped at equal times.
        """
        return turn

    def resample(self, seat: Seat, chance: Chance) -> Self:
        """A state that `seat` cannot tell from this one, with what it cannot see drawn anew."""
        if self.game.spec.perfect_information:
            return self.fork(chance)
        raise CannotCompute(f"{self.game.spec.name} cannot redraw what a seat does not see.")

    def refuse(self, actions: Mapping[Seat, str | None]) -> IllegalAction:
        """The error for actions that do not fit: the wrong seats, or an action that is not among the choices."""
        name = self.game.spec.name
        if set(actions) != set(self.to_act):
            return IllegalAction(f"In {name} the seats to act are {list(self.to_act)}, not {sorted(actions)}.")
        for seat, action in actions.items():
            choices = self.view(seat).choices
            if action is not None and action not in choices:
                return IllegalAction(f"In {name} seat {seat} cannot play {action!r}: it may play {choices.summary()}.")
        return IllegalAction(f"In {name} these actions cannot be played together: {dict(actions)}.")


def pending(seats: int) -> RoundResult:
    """The result of a move within a round: nothing is paid yet."""
    return RoundResult((0.0,) * seats, closed=False)


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _tupled(value: Any) -> Any:
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value
