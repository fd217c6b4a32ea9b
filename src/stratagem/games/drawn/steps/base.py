"""Step of a described game: it asks seats for actions, or deals, shows and pays without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.games.base import Seat

if TYPE_CHECKING:
    from stratagem.games.drawn.description import GameDescription, Item
    from stratagem.games.drawn.state import DescribedState

Role = Literal["each", "first", "second", "third", "fourth"]
"""Players that a step is about: all of them, or one by its place in the order of the round."""
ROLES: tuple[Role, ...] = ("first", "second", "third", "fourth")
Payments = tuple[float, ...]


class Choice(NamedTuple):
    """Action that a seat chose in a step of the present round."""

    step: int
    seat: Seat
    option: int


class Piece(NamedTuple):
    """Dealt card, die or value: its item, and its face among those of the item."""

    item: int
    face: int


class Words(NamedTuple):
    """Words of a description in one wording: how its steps name players and amounts."""

    wording: int
    unit: str

    def say(self, *texts: str) -> str:
        """Return the text of the wording, of those that mean the same."""
        return texts[self.wording]

    def amount(self, number: float) -> str:
        """Write an amount: `1 chip`, `2 chips`, `0.5 chips`."""
        return f"{number:g} {self.unit}{'s' * (number != 1)}"

    def player(self, role: Role) -> str:
        """Name the players of a role at the beginning of a sentence."""
        if role == "each":
            return self.say("Each player", "Every player")
        return self.say(f"The {role} player", f"Player {ROLES.index(role) + 1}")


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

    def begin(self, state: DescribedState) -> None:
        """Do what needs no choice, and set `state.to_act` where seats must choose."""

    def legal(self, state: DescribedState, seat: Seat) -> tuple[str, ...]:
        """Return the actions of a seat that is to act: a function of what the seat has seen."""
        raise NotImplementedError(self.do)

    def play(self, state: DescribedState, actions: Mapping[Seat, str]) -> None:
        """Take legal actions of the seats to act, and set `state.to_act` anew; empty ends the step."""
        raise NotImplementedError(self.do)

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        """Return bounds of what one seat loses and wins by this step in a round."""
        return 0.0, 0.0

    def is_zero_sum(self, game: GameDescription) -> bool:
        """Return whether what the seats get by this step always sums to 0, chips in the pot counted as one's own."""
        return True

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

    def rules(self, game: GameDescription, words: Words) -> list[str]:
        """Return the step in sentences, which say all of it."""
        raise NotImplementedError(self.do)

    def refuse(self, field: str, problem: str) -> BadParameter:
        """Return the error of a field."""
        return StepError(self, field, problem)


class StepError(BadParameter):
    """Mistake in a field of a step; the reader of the file adds its line."""

    def __init__(self, step: Step, field: str, problem: str) -> None:
        super().__init__(f"The step {step.do} has {problem.rstrip(',')} in `{field}`.")
        self.step, self.field = step, field


def item_number(game: GameDescription, step: Step, field: str, name: str) -> int:
    """Return the number of an item by its name; refused where the game has none of this name."""
    number = game.item_numbers.get(name)
    if number is not None:
        return number
    known = ", ".join(item.name for item in game.items) or "none"
    raise step.refuse(field, f"no item {name!r} (the game has {known})")


def check_role(game: GameDescription, step: Step, field: str, role: str) -> None:
    """Refuse a role that no seat of the game has."""
    known = ("each", *ROLES[: game.seats])
    if role not in known:
        raise step.refuse(field, f"the role {role!r}, which is none of {', '.join(known)},")


def step_of_choice(game: GameDescription, step: Step, field: str, name: str, number: int) -> int:
    """Return the number of the earlier step whose choices have a name."""
    place = game.choice_numbers.get(name, number)
    if place < number:
        return place
    known = [other.name for other in game.steps[:number] if other.name]
    raise step.refuse(field, f"no earlier choice {name!r} (before it stand {', '.join(known) or 'none'})")


def seats_of(state: DescribedState, role: Role) -> tuple[Seat, ...]:
    """Return the seats of a role in the order of the round, without those that are out."""
    order, out = state.order, state.out
    if role == "each":
        return order if True not in out else tuple([seat for seat in order if not out[seat]])
    seat = order[ROLES.index(role)]
    return () if out[seat] else (seat,)


def worth_of(item: Item, face: int) -> float:
    """Return the number of a face; its place from the lowest on where faces are no numbers."""
    return item.numbers[face]
