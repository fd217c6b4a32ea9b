"""Steps that pay by rule: demands that fit, contributions to a common pool, and tables of payoffs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, NamedTuple

from stratagem.games.base import Seat
from stratagem.games.counting import plural_of
from stratagem.games.drawn.description import GameDescription, RoundState, Step
from stratagem.games.drawn.events import ALL
from stratagem.games.drawn.steps.base import (
    check_worth,
    item_number,
    say_worth,
    seats_of,
    share_lost,
    step_of_choice,
)
from stratagem.games.drawn.steps.choosing import Choose, is_number
from stratagem.games.drawn.wordings import ROLES, Words

_MOST_CELLS = 64
_Worth = tuple[int, tuple[float, ...]]
"""Item that multiplies an amount, and the numbers of its faces."""


@dataclass(frozen=True)
class Split(Step):
    """Pay every player the number that it chose, if together they are within a sum (the demand game of Nash 1953)."""

    do: ClassVar[str] = "split"
    pays: ClassVar[bool] = True
    demand: str = "demand"
    """Name of the choice of numbers."""
    sum: float = 10.0
    """Largest sum of all numbers with a payoff."""
    worth: str = ""
    """Item whose number, in a player's hand, multiplies what the player gets; empty for none."""
    else_pays: float = 0.0
    """Amount that every player gets where the demands do not fit."""

    def check(self, game: GameDescription, number: int) -> None:
        check_numbers(game, self, "demand", self.demand, number)
        if self.worth:
            check_worth(game, self, "worth", self.worth, number)

    def look_up(self, game: GameDescription, number: int) -> tuple[int, list[float], _Worth | None]:
        """Return the step of the demands, their amounts, and what multiplies them."""
        worth = None
        if self.worth:
            item = item_number(game, self, "worth", self.worth)
            worth = item, game.items[item].numbers
        return *_chosen_amounts(game, self, "demand", self.demand, number), worth

    def begin(self, state: RoundState) -> None:
        worth: _Worth | None = state.game.description.lookups[state.at][2]
        made = self._demands(state, state.at)
        fits = sum(made.values()) <= self.sum
        for seat, demand in made.items():
            factor = 1.0
            if worth is not None and fits:
                item, numbers = worth
                factor = sum([numbers[piece.face] for piece in state.hands[seat] if piece.item == item])
            state.pay(seat, demand * factor if fits else self.else_pays)

    def _demands(self, state: RoundState, number: int) -> dict[Seat, float]:
        """Return the demands of those who are left."""
        place, amounts, _ = state.game.description.lookups[number]
        made = {seat: state.option_of(place, seat) for seat in seats_of(state, "each")}
        return {seat: amounts[option] for seat, option in made.items() if option is not None}

    def lost_share(self, state: RoundState, number: int) -> float:
        return float(sum(self._demands(state, number).values()) > self.sum)

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        step = next(step for step in game.steps if step.name == self.demand)
        assert isinstance(step, Choose)
        most, low = max(float(option.word) for option in step.options), 0.0
        if self.worth:
            item = item_number(game, self, "worth", self.worth)
            most *= game.most_held(item)
            low = -most if min(game.items[item].numbers) < 0 else 0.0
        return min(low, self.else_pays), max(most, self.else_pays)

    def is_zero_sum(self, game: GameDescription) -> bool:
        return False

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        total, otherwise = words.amount(self.sum), words.amount(self.else_pays)
        lines = [
            words.say(
                "split.fits", "each", demand=self.demand, demands=plural_of(self.demand), sum=total, otherwise=otherwise
            )
        ]
        if self.worth:
            lines.append(say_worth(game, self, "split.worth", words, demand=self.demand))
        if game.may_have_left(number):
            lines.append(words.say("split.absent"))
        return lines


@dataclass(frozen=True)
class GiftPool(Step):
    """Share contributions: each is lost to its player, and their sum times a factor is shared by all equally."""

    do: ClassVar[str] = "pool"
    pays: ClassVar[bool] = True
    gift: str = "gift"
    """Name of the choice of numbers."""
    factor: float = 1.5
    """Factor by which the sum of all gifts grows."""

    def check(self, game: GameDescription, number: int) -> None:
        check_numbers(game, self, "gift", self.gift, number)
        if not 0 < self.factor <= 100:
            raise self.refuse("factor", "a factor that is not above 0 and at most 100")

    def look_up(self, game: GameDescription, number: int) -> tuple[int, list[float]]:
        """Return the step of the gifts, and the amounts that one may give."""
        return _chosen_amounts(game, self, "gift", self.gift, number)

    def begin(self, state: RoundState) -> None:
        gifts, _ = self._gifts(state, state.at)
        for seat, gift in enumerate(gifts):
            state.pay(seat, self.factor * sum(gifts) / len(gifts) - gift)

    def _gifts(self, state: RoundState, number: int) -> tuple[list[float], list[float]]:
        """Return the gifts of all seats, and the amounts that one may give."""
        place, amounts = state.game.description.lookups[number]
        made = [state.option_of(place, seat) for seat in range(len(state.out))]
        return [0.0 if option is None else amounts[option] for option in made], amounts

    def lost_share(self, state: RoundState, number: int) -> float:
        gifts, amounts = self._gifts(state, number)
        gained = self.factor - 1.0  # below 0 gifts are what is lost
        return share_lost(gained * sum(gifts), [gained * len(gifts) * end for end in (min(amounts), max(amounts))])

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        step = next(step for step in game.steps if step.name == self.gift)
        assert isinstance(step, Choose)
        most = max(float(option.word) for option in step.options)
        return -most, self.factor * most

    def is_zero_sum(self, game: GameDescription) -> bool:
        return False

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        return [words.say("pool.shared", gift=self.gift, factor=f"{self.factor:g}")]


class _Dimension(NamedTuple):
    """Dimension of a table."""

    role: int | None
    """Place of the player in the order of the round; None for an open piece."""
    item: int | None
    """Item whose value counts; None for a choice."""
    step: int
    """Step of the choice."""


@dataclass(frozen=True)
class PayoffTable(Step):
    """Pay by a table over choices and dealt values: a matrix game, or the payoffs of a signalling game.

    `over` names what the table depends on, as `ROLE.CHOICE`, `ROLE.ITEM` or `all.ITEM` for the open piece; `amounts`
    has a list in a list for each of them, and at last the amounts of the first player, the second and so on.
    """

    do: ClassVar[str] = "table"
    pays: ClassVar[bool] = True
    over: tuple[str, ...] = ()
    """Dimensions, such as `first.move`, `second.card` or `all.card`."""
    amounts: tuple[Any, ...] = ()
    """Amounts in lists in one another, a level a dimension; the last level has one for each player."""

    def check(self, game: GameDescription, number: int) -> None:
        if not self.over:
            raise self.refuse("over", "nothing that the table depends on")
        sizes = [len(self._labels(game, name, number)) for name in self.over]
        cells = 1
        for size in sizes:
            cells *= size
        if cells > _MOST_CELLS:
            raise self.refuse("over", f"{cells} cells, which is more than {_MOST_CELLS},")
        for cell in product(*map(range, sizes)):
            found = self._find(cell)
            if (
                not isinstance(found, tuple)
                or len(found) != game.seats
                or not all(isinstance(pay, int | float) and abs(pay) <= 1000 for pay in found)
            ):
                place, shape = self._name_cell(game, cell, number), " x ".join(map(str, sizes))
                raise self.refuse("amounts", f"no {game.seats} amounts for {place}, where lists of {shape} are needed,")

    def _find(self, cell: tuple[int, ...]) -> Any:
        found: Any = self.amounts
        for place in cell:
            if not isinstance(found, tuple) or place >= len(found):
                return None
            found = found[place]
        return found

    def _labels(self, game: GameDescription, name: str, number: int) -> tuple[str, ...]:
        """Return the values that a dimension of the table can have."""
        role, _, what = name.partition(".")
        if role not in ("all", *ROLES[: game.seats]) or not what:
            raise self.refuse("over", f"{name!r}, which is no ROLE.CHOICE and no ROLE.ITEM,")
        if any(item.name == what for item in game.items):
            item = item_number(game, self, "over", what)
            to = ("all",) if role == "all" else (role, "each")
            dealt = [
                step
                for step in game.steps[:number]
                if getattr(step, "item", "") == what and getattr(step, "to", "") in to
            ]
            if len(dealt) != 1 or getattr(dealt[0], "count", 1) != 1:
                raise self.refuse("over", f"{name!r}, of which not exactly one piece is dealt before,")
            return tuple(map(str, game.items[item].values))
        step = game.steps[step_of_choice(game, self, "over", what, number)]
        if not isinstance(step, Choose) or role == "all" or step.by not in ("each", role):
            raise self.refuse("over", f"{name!r}, a choice that the {role} player does not make,")
        return tuple(option.word for option in step.options)

    def _name_cell(self, game: GameDescription, cell: tuple[int, ...], number: int) -> str:
        labels = [self._labels(game, name, number)[place] for name, place in zip(self.over, cell, strict=True)]
        return ", ".join(labels)

    def look_up(self, game: GameDescription, number: int) -> list[_Dimension]:
        found = []
        for name in self.over:
            role, _, what = name.partition(".")
            item = game.item_numbers.get(what)
            step = -1 if item is not None else step_of_choice(game, self, "over", what, number)
            found.append(_Dimension(None if role == "all" else ROLES.index(role), item, step))
        return found

    def begin(self, state: RoundState) -> None:
        for seat, amount in zip(state.order, self._payoffs(state, state.at), strict=False):
            state.pay(seat, float(amount))

    def _payoffs(self, state: RoundState, number: int) -> tuple[float, ...]:
        """Return the amounts of the round's cell; none where a player of the table is out or has not chosen."""
        cell: list[int] = []
        for dimension in state.game.description.lookups[number]:
            place = self._place(state, dimension)
            if place is None:
                return ()
            cell.append(place)
        found: tuple[float, ...] = self._find(tuple(cell))
        return found

    def lost_share(self, state: RoundState, number: int) -> float:
        game = state.game.description
        # players choose among the cells of the values that were dealt
        places = [None if one.item is None else self._place(state, one) for one in game.lookups[number]]
        sizes = [len(self._labels(game, name, number)) for name in self.over]
        cells = product(
            *(range(size) if place is None else (place,) for size, place in zip(sizes, places, strict=True))
        )
        return share_lost(sum(self._payoffs(state, number)), [sum(self._find(cell)) for cell in cells])

    def _place(self, state: RoundState, dimension: _Dimension) -> int | None:
        """Return the place of the round in a dimension; None where a player is out or has not chosen."""
        role, item, step = dimension
        seat = ALL if role is None else state.order[role]
        if role is not None and state.out[seat]:
            return None
        if item is None:
            return state.option_of(step, seat)
        held = state.open if role is None else state.hands[seat]
        ranks = state.game.description.items[item].ranks
        return next((ranks[piece.face] for piece in held if piece.item == item), None)

    def _cells(self, game: GameDescription) -> Iterator[tuple[tuple[str, ...], tuple[float, ...]]]:
        number = game.steps.index(self)
        labels = [self._labels(game, name, number) for name in self.over]
        for cell in product(*(range(len(some)) for some in labels)):
            yield tuple(some[place] for some, place in zip(labels, cell, strict=True)), self._find(cell)

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        amounts = [amount for _, cell in self._cells(game) for amount in cell]
        return min(0.0, *amounts), max(0.0, *amounts)

    def is_zero_sum(self, game: GameDescription) -> bool:
        return all(abs(sum(cell)) < 1e-9 for _, cell in self._cells(game))

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        names = [self._name_dimension(name, words) for name in self.over]
        players = [words.player(role) for role in ROLES[: game.seats]]
        return [
            words.say("table.head", names=_join(names), players=_join(players)),
            *(
                words.say("table.line", labels=", ".join(labels), amounts=", ".join(f"{pay:g}" for pay in cell))
                for labels, cell in self._cells(game)
            ),
            *([words.say("table.absent")] if game.may_have_left(number) else []),
        ]

    def _name_dimension(self, name: str, words: Words) -> str:
        place, _, what = name.partition(".")
        role = next((role for role in ROLES if role == place), None)
        return words.say("table.held" if role else "table.open", role, what=what)


def check_numbers(game: GameDescription, step: Step, field: str, name: str, number: int) -> None:
    """Refuse the name of a choice that not every player makes among whole numbers."""
    other = game.steps[step_of_choice(game, step, field, name, number)]
    if (
        not isinstance(other, Choose)
        or other.by != "each"
        or not all(is_number(option.word) for option in other.options)
    ):
        raise step.refuse(field, f"the choice {name!r}, which is not one of numbers by every player,")


def _chosen_amounts(game: GameDescription, step: Step, field: str, name: str, number: int) -> tuple[int, list[float]]:
    """Return the number of the step in which players choose among numbers, and these."""
    place = step_of_choice(game, step, field, name, number)
    other = game.steps[place]
    assert isinstance(other, Choose)
    return place, [float(option.word) for option in other.options]


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
