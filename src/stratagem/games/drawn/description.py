"""Description of a game as data: what is dealt, the steps of a round, how often it is played, and its words.

A description is read from TOML (`games.drawn.reading`) or made in Python. Rules, views, choices, chance, keys, texts
and payoffs of the game follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

from stratagem.base.errors import BadParameter
from stratagem.games.base import Seat
from stratagem.games.drawn.events import ALL, Choice, Event, Piece
from stratagem.games.drawn.items import DealtItem, ItemError
from stratagem.games.drawn.wordings import Words, count_wordings

_SEATS, _ROUNDS, _STEPS, _ITEMS = (1, 4), (1, 100), (1, 24), 6


@dataclass(frozen=True)
class Step:
    """One thing that happens in a round; its fields are the keys of its table in a file.

    A step is a value without a state of its own. What it must remember while it asks stands in `state.memory`.
    """

    do: ClassVar[str]
    """Name of the step in a file."""
    name: ClassVar[str] = ""
    """Name of the choices that are made in the step, if they have one."""
    acts: ClassVar[bool] = False
    """True if seats choose in it."""
    pays: ClassVar[bool] = False
    """True if it pays for what came before; every other step is skipped where one player of several is left."""

    def check(self, game: GameDescription, number: int) -> None:
        """Refuse what does not fit the items and steps before this one; `number` is its place among the steps."""

    def look_up(self, game: GameDescription, number: int) -> Any:
        """Return what the step reads in the description at every move, as `GameDescription.lookups` keeps it."""

    def begin(self, state: RoundState) -> None:
        """Do what needs no choice, and set `state.to_act` where seats must choose."""

    def legal(self, state: RoundState, seat: Seat) -> tuple[str, ...]:
        """Return the actions of a seat that is to act: a function of what the seat has seen."""
        raise NotImplementedError(self.do)

    def play(self, state: RoundState, actions: Mapping[Seat, str]) -> None:
        """Take legal actions of the seats to act, and set `state.to_act` anew; empty ends the step."""
        raise NotImplementedError(self.do)

    def lost_share(self, state: RoundState, number: int) -> float:
        """Return the share of the best sum of payoffs that a round left out; `number` is the place of the step."""
        raise NotImplementedError(self.do)

    def end_round(self, state: RoundState, number: int) -> None:
        """Show what the step shows at the end of the round; `number` is its place among the steps."""

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        """Return bounds of what one seat loses and wins by this step in a round."""
        return 0.0, 0.0

    def is_zero_sum(self, game: GameDescription) -> bool:
        """Return whether what the seats get by this step always sums to 0, chips in the pot counted as one's own."""
        return True

    @property
    def num_always(self) -> int:
        """Number of actions that every player may take, where a hand allows more; 0 where all have the same."""
        return 0

    def may_leave(self) -> bool:
        """Return whether a player may leave the round in the step."""
        return False

    def deals(self) -> bool:
        """Return whether the step draws chance."""
        return False

    def hides(self, game: GameDescription) -> bool:
        """Return whether a seat may learn by this step what another does not see."""
        return False

    def is_together(self, game: GameDescription) -> bool:
        """Return whether several seats choose at once."""
        return False

    def num_cards(self, game: GameDescription, item: int) -> int:
        """Return the largest number of pieces of an item that the step deals in a round."""
        return 0

    def gives(self, game: GameDescription, item: int) -> bool:
        """Return whether every player has a piece of an item after the step."""
        return False

    def puts(self, game: GameDescription) -> float:
        """Return the largest number of chips that one seat puts into the pot by the step."""
        return 0.0

    def words(self) -> tuple[str, ...]:
        """Return the names of the actions, which a disguise renames."""
        return ()

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        """Return the step in sentences, which say all of it; `number` is its own, since two steps may be equal."""
        raise NotImplementedError(self.do)

    def refuse(self, field: str, problem: str) -> BadParameter:
        """Return the error of a field."""
        return StepError(self, field, problem)


class StepError(BadParameter):
    """Mistake in a field of a step; the reader of the file adds its line."""

    def __init__(self, step: Step, field: str, problem: str) -> None:
        super().__init__(f"The step {step.do} has {problem.rstrip(',')} in `{field}`.")
        self.step, self.field = step, field


@dataclass(frozen=True)
class RoundSignal:
    """Safety signal of a round; its fields are the keys of its table in a file."""

    name: str
    """Name of the signal, one word in lower case; SEPO knows `collusion` and `externality`."""

    def check(self, game: GameDescription, number: int) -> None:
        """Refuse what does not fit the game; `number` is its place among the signals."""
        raise NotImplementedError(self.name)

    def measure_round(self, state: RoundState) -> tuple[float | None, ...]:
        """Return the signal of a round that is over, from 0 to 1 by seat; None where it has no meaning."""
        raise NotImplementedError(self.name)


@dataclass(frozen=True, kw_only=True)
class GameDescription:
    """Game as data; equal descriptions are equal games."""

    name: str
    """Name of the game, one line."""
    steps: tuple[Step, ...]
    """Steps of a round, in their order."""
    items: tuple[DealtItem, ...] = ()
    """Kinds of things that are dealt."""
    seats: int = 2
    """Number of players, from 1 to 4."""
    rounds: int = 1
    """Largest number of rounds."""
    continuation: float = 1.0
    """Probability that another round follows, up to `rounds`."""
    turns: bool = False
    """True if the players take turns to be first, round by round."""
    forget: bool = False
    """True if a seat sees the present round alone."""
    unit: str = "point"
    """Unit of payoffs, one of it."""
    wording: int = 0
    """Wording of the rules: 0 and 1 tell of the players, 2 instructs the one who reads."""
    signals: tuple[RoundSignal, ...] = ()
    """Safety signals, which are measured and told to nobody."""

    def __post_init__(self) -> None:
        _check_number("seats", self.seats, *_SEATS)
        _check_number("rounds", self.rounds, *_ROUNDS)
        check_wording(self.wording)
        if not self.name.strip() or not self.name.isprintable() or len(self.name) > 60:
            raise BadParameter(f"A game needs a `name` of one line and at most 60 characters, not {self.name!r}.")
        if not self.unit.isalpha() or len(self.unit) > 24:
            raise BadParameter(f"A game needs a `unit` of one word in the singular, such as chip, not {self.unit!r}.")
        if not 0.0 <= self.continuation <= 1.0:
            raise BadParameter(f"A game needs `continuation` from 0 to 1, not {self.continuation!r}.")
        if not _STEPS[0] <= len(self.steps) <= _STEPS[1] or len(self.items) > _ITEMS:
            raise BadParameter(f"A game has at most {_ITEMS} items and from {_STEPS[0]} to {_STEPS[1]} steps.")
        if len({item.name for item in self.items}) != len(self.items):
            raise BadParameter("A game needs items of different names.")
        for number, step in enumerate(self.steps):
            step.check(self, number)
        self._check_deck()
        if not any(step.acts for step in self.steps):
            raise BadParameter("A game needs a step in which a player chooses, such as choose or bet.")
        self._check_pot()
        low, high = self.bounds
        if low == high == 0.0:
            raise BadParameter("A game needs a step that pays, such as showdown, sale, split or table.")
        for number, rule in enumerate(self.signals):
            rule.check(self, number)

    def _check_pot(self) -> None:
        """Refuse a game in which nobody can win chips that are put into the pot."""
        last = max((number for number, step in enumerate(self.steps) if step.do == "showdown"), default=-1)
        for step in self.steps[last + 1 :]:
            if step.puts(self):
                raise step.refuse("do", "chips for a pot that no later showdown gives to anybody,")

    def _check_deck(self) -> None:
        """Refuse a game that deals more cards than it has."""
        for number, item in enumerate(self.items):
            dealt = sum(step.num_cards(self, number) for step in self.steps)
            if not item.again and dealt > item.copies * len(item.faces):
                have = item.copies * len(item.faces)
                raise ItemError(
                    item,
                    "values",
                    f"The steps deal up to {dealt} {item.plural}, and there are {have}: give the item {item.name} more "
                    "values, suits or `copies`, or let it be drawn `again`.",
                )

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest return of one seat over the game, or beyond them."""
        each = [step.most_paid(self) for step in self.steps]
        return sum(low for low, _ in each) * self.rounds, sum(high for _, high in each) * self.rounds

    @cached_property
    def zero_sum(self) -> bool:
        """True if the payoffs of a round always sum to 0."""
        return all(step.is_zero_sum(self) for step in self.steps)

    @cached_property
    def has_chance(self) -> bool:
        """True if the game draws anything."""
        return any(step.deals() for step in self.steps) or (0.0 < self.continuation < 1.0 and self.rounds > 1)

    @cached_property
    def hides(self) -> bool:
        """True if a seat may know something that another does not."""
        return any(step.hides(self) for step in self.steps)

    @cached_property
    def most_put(self) -> float:
        """Largest number of chips that one seat puts into the pot of a round."""
        return sum(step.puts(self) for step in self.steps)

    @cached_property
    def simultaneous(self) -> bool:
        """True if several seats choose at once in some step."""
        return any(step.is_together(self) for step in self.steps)

    @cached_property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """Order of the seats in a round, by the seat that is first."""
        return tuple(tuple((first + place) % self.seats for place in range(self.seats)) for first in range(self.seats))

    @cached_property
    def item_numbers(self) -> dict[str, int]:
        """Numbers of the items by name."""
        return {item.name: number for number, item in enumerate(self.items)}

    @cached_property
    def choice_numbers(self) -> dict[str, int]:
        """Numbers of the steps whose choices have a name, by that name."""
        return {step.name: number for number, step in enumerate(self.steps) if step.name}

    @cached_property
    def lookups(self) -> tuple[Any, ...]:
        """Result of `look_up` of each step."""
        return tuple(step.look_up(self, number) for number, step in enumerate(self.steps))

    def most_held(self, item: int) -> float:
        """Return a bound of the sum of an item's numbers in all hands, whatever their signs."""
        number = sum(step.num_cards(self, item) for step in self.steps)
        return number * max(map(abs, self.items[item].numbers))

    def may_have_left(self, number: int) -> bool:
        """Return whether a player may be out of the round before the step of a number."""
        return any(step.may_leave() for step in self.steps[:number])

    def dealt_before(self, number: int, item: int) -> bool:
        """Return whether some step before one deals an item to every player."""
        return any(step.gives(self, item) for step in self.steps[:number])


class RoundRules(Protocol):
    """Rules of a round in play, as steps see them."""

    @property
    def description(self) -> GameDescription:
        """Description of the game."""
        ...


class RoundState(Protocol):
    """Round in play, as steps see it; `games.drawn.state` says what the fields are."""

    at: int
    to_act: tuple[Seat, ...]
    hands: tuple[tuple[Piece, ...], ...]
    open: tuple[Piece, ...]
    aside: tuple[Piece, ...]
    put: tuple[float, ...]
    out: tuple[bool, ...]
    choices: tuple[Choice, ...]
    memory: tuple[int, ...]
    logs: tuple[tuple[Event, ...], ...]

    @property
    def game(self) -> RoundRules:
        """Game in play."""
        ...

    @property
    def order(self) -> tuple[Seat, ...]:
        """Seats in the order of the present round."""
        ...

    @property
    def is_decided(self) -> bool:
        """True if one player is left in the round, of several."""
        ...

    def tell(self, event: Event, to: Seat = ALL) -> None:
        """Add an event to what a seat has seen, or all of them."""

    def draw(self, item: int, number: int, to: Seat = ALL) -> Piece:
        """Draw a piece of an item that has not been dealt, for a seat or for all to see."""
        ...

    def pay(self, seat: Seat, amount: float) -> None:
        """Pay a seat an amount."""

    def put_in(self, seat: Seat, amount: float) -> None:
        """Let a seat put chips into the pot."""

    def leave(self, seat: Seat) -> None:
        """Let a seat leave the round."""

    def choose(self, seat: Seat, option: int) -> None:
        """Note the choice of a seat in the step in play."""

    def option_of(self, step: int, seat: Seat) -> int | None:
        """Return the latest option that a seat chose in a step; None where it chose none."""
        ...


def check_wording(wording: object) -> None:
    """Refuse what is no number of a wording."""
    _check_number("wording", wording, 0, count_wordings() - 1)


def _check_number(field: str, value: object, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise BadParameter(f"A game needs `{field}` from {low} to {high}, a whole number, not {value!r}.")
