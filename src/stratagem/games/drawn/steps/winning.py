"""Steps that give the pot or a thing to somebody: the showdown of poker, and the sale of an auction."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from stratagem.games.base import Seat
from stratagem.games.drawn.description import GameDescription, RoundState, Step
from stratagem.games.drawn.events import Event
from stratagem.games.drawn.items import DealtItem
from stratagem.games.drawn.steps.base import check_worth, item_number, may_hold_several, seats_of, step_of_choice
from stratagem.games.drawn.steps.choosing import Choose, is_number
from stratagem.games.drawn.wordings import Words

Order = Literal["high", "low", "pair", "near", "sum", "suit"]
ORDERS: tuple[Order, ...] = ("high", "low", "pair", "near", "sum", "suit")
Price = Literal["first", "second", "all", "lost"]
PRICES: tuple[Price, ...] = ("first", "second", "all", "lost")


@dataclass(frozen=True)
class Showdown(Step):
    """Give the pot to the best hand of those who are left; equal hands share it.

    The hand is all pieces of an item that a player holds. Orders are compared one after another: the first in which two
    hands differ decides. Where nobody is left, all share the pot.
    """

    do: ClassVar[str] = "showdown"
    pays: ClassVar[bool] = True
    item: str = "card"
    """Item of the hands."""
    order: tuple[Order, ...] = ("high",)
    """Orders: `high` and `low` piece, largest `sum`, `pair` with an open piece, `near` to it, its `suit`."""
    shown: bool = False
    """True if the hands of those who are left are shown to all."""

    def check(self, game: GameDescription, number: int) -> None:
        item = item_number(game, self, "item", self.item)
        if not game.dealt_before(number, item):
            raise self.refuse("item", f"a showdown of the item {self.item}, which not every player has been dealt,")
        if not self.order or any(order not in ORDERS for order in self.order):
            raise self.refuse("order", f"an order that is none of {', '.join(ORDERS)}")
        if not any(step.puts(game) for step in game.steps[:number]):
            raise self.refuse("do", "a showdown without a pot: let an ante, a bet or a cost fill it,")
        opened = any(
            step.do == "deal" and getattr(step, "to", "") == "all" and getattr(step, "item", "") == self.item
            for step in game.steps[:number]
        )
        if {"pair", "near", "suit"} & {*self.order} and not opened:
            raise self.refuse("order", f"an order that needs an open {self.item}, and none is laid open before,")
        if {"sum", "near"} & {*self.order} and not game.items[item].is_counted:
            raise self.refuse("order", f"an order that counts, and the values of the item {self.item} are no numbers,")
        if "suit" in self.order and not game.items[item].suits:
            raise self.refuse("order", f"suits, which the item {self.item} does not have,")

    def look_up(self, game: GameDescription, number: int) -> int:
        """Return the item of the hands."""
        return item_number(game, self, "item", self.item)

    def begin(self, state: RoundState) -> None:
        left = seats_of(state, "each")
        if len(left) > 1 and self.shown:
            number: int = state.game.description.lookups[state.at]
            faces = state.game.description.items[number].faces
            for seat in left:
                for piece in state.hands[seat]:
                    if piece.item == number:
                        state.tell(Event("shows", seat, faces[piece.face], number))
        if len(left) > 1:
            ranks = {seat: self._rank(state, seat) for seat in left}
            best = max(ranks.values())
            winners = [seat for seat in left if ranks[seat] == best]
        else:
            winners = list(left)
        for seat in winners:
            state.pay(seat, sum(state.put) / len(winners))
        for seat, own in enumerate(state.put if not winners else ()):  # all have left
            state.pay(seat, own)
        state.put = (0.0,) * len(state.out)

    def _rank(self, state: RoundState, seat: Seat) -> tuple[float, ...]:
        """Return the rank of a hand; larger is better."""
        number = state.game.description.lookups[state.at]
        item = state.game.description.items[number]
        own = [piece.face for piece in state.hands[seat] if piece.item == number]
        common = [piece.face for piece in state.open if piece.item == number]
        values, open_values = [item.numbers[face] for face in own], [item.numbers[face] for face in common]
        ranks: list[float] = []
        for order in self.order:
            if order == "high":
                ranks += [max(values)]
            elif order == "low":
                ranks += [-min(values)]
            elif order == "sum":
                ranks += [sum(values)]
            elif order == "pair":
                ranks += [float(bool({*values} & {*open_values}))]
            elif order == "near":
                ranks += [-min(abs(a - b) for a in values for b in open_values)] if open_values else []
            else:
                suits = len(item.suits)
                ranks += [float(bool({face % suits for face in own} & {face % suits for face in common}))]
        return tuple(ranks)

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        return 0.0, game.most_put * (game.seats - 1)  # its own chips are counted as lost where they are put in

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        item = game.items[item_number(game, self, "item", self.item)]
        first, *more = [words.say(f"showdown.{order}", item=item.name, plural=item.plural) for order in self.order]
        lines = [words.say("showdown.pot", best=first), *(words.say("showdown.tie", best=best) for best in more)]
        lines.append(words.say("showdown.equal"))
        if any(step.do == "choose" and step.may_leave() for step in game.steps[:number]):
            lines.append(words.say("showdown.nobody"))
        if self.shown:
            lines.append(words.say("showdown.shown"))
        return lines


@dataclass(frozen=True)
class Sale(Step):
    """Sell a thing to the highest bid of a choice among numbers; equal bids share it at equal parts of the price."""

    do: ClassVar[str] = "sale"
    pays: ClassVar[bool] = True
    bid: str = "bid"
    """Name of the choice that holds the bids; its options are bids from the lowest to the highest."""
    amounts: tuple[float, ...] = ()
    """Amount of each option; empty where the options are the numbers themselves."""
    item: str = "value"
    """Item whose number is what the thing is worth."""
    worth: Literal["own", "common"] = "own"
    """`own`: the number of the winner's own pieces; `common`: that of all players' pieces together, for everybody."""
    price: Price = "first"
    """`first`: the winner pays its bid; `second`: the next highest; `all`: everybody pays; `lost`: only losers pay."""
    reserve: float = 0.0
    """Smallest bid that can win."""

    def check(self, game: GameDescription, number: int) -> None:
        step = game.steps[step_of_choice(game, self, "bid", self.bid, number)]
        if not isinstance(step, Choose) or step.by != "each":
            raise self.refuse("bid", f"the choice {self.bid!r}, which not every player makes,")
        check_worth(game, self, "item", self.item, number)
        if self.reserve < 0:
            raise self.refuse("reserve", "an amount below 0")
        if self.amounts and len(self.amounts) != len(step.options):
            raise self.refuse("amounts", f"{len(self.amounts)} amounts for {len(step.options)} options")
        if not self.amounts and not all(is_number(option.word) for option in step.options):
            raise self.refuse("amounts", "no amounts for options that are no numbers")
        bids = self._bids(step)
        if any(low >= high for low, high in pairwise(bids)) or bids[0] < 0:
            raise self.refuse("amounts", "amounts that do not grow from option to option")
        if self.price not in PRICES or game.seats < 2:
            raise self.refuse("price", f"a price that is none of {', '.join(PRICES)}")

    def _bids(self, step: Step) -> tuple[float, ...]:
        assert isinstance(step, Choose)
        return self.amounts or tuple(float(option.word) for option in step.options)

    def look_up(self, game: GameDescription, number: int) -> tuple[int, tuple[float, ...], int, tuple[float, ...]]:
        """Return the step of the bids, their amounts, and the item of the worth with its numbers."""
        place, item = step_of_choice(game, self, "bid", self.bid, number), item_number(game, self, "item", self.item)
        return place, self._bids(game.steps[place]), item, game.items[item].numbers

    def begin(self, state: RoundState) -> None:
        bids, winners, own = self._outcome(state, state.at)
        second = sorted(bids.values())[-2] if len(bids) > 1 else self.reserve
        for seat, bid in bids.items():
            wins = seat in winners
            if wins:
                state.pay(seat, (own[seat] if self.worth == "own" else sum(own)) / len(winners))
            if self.price == "first" and wins:
                state.pay(seat, -bid / len(winners))
            elif self.price == "second" and wins:
                state.pay(seat, -max(second, self.reserve) / len(winners))
            elif self.price == "all" or (self.price == "lost" and not wins):
                state.pay(seat, -bid)

    def _outcome(self, state: RoundState, number: int) -> tuple[dict[Seat, float], list[Seat], list[float]]:
        """Return the bids of those who are left, the seats with the highest, and the worth of the thing by seat."""
        place, amounts, item, numbers = state.game.description.lookups[number]
        made = {seat: state.option_of(place, seat) for seat in seats_of(state, "each")}
        bids = {seat: amounts[option] for seat, option in made.items() if option is not None}
        top = max(bids.values(), default=-1.0)
        winners = [seat for seat, bid in bids.items() if bid == top and top >= self.reserve]
        own = [sum([numbers[piece.face] for piece in hand if piece.item == item]) for hand in state.hands]
        return bids, winners, own

    def lost_share(self, state: RoundState, number: int) -> float:
        _, winners, own = self._outcome(state, number)
        best = sum(own) if self.worth == "common" else max(own)
        got = sum(own) if self.worth == "common" else sum(own[seat] for seat in winners) / max(1, len(winners))
        return (best - got * bool(winners)) / best if best > 0.0 else 0.0

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        item = item_number(game, self, "item", self.item)
        step, most = next(step for step in game.steps if step.name == self.bid), game.most_held(item)
        low = -most if min(game.items[item].numbers) < 0 else 0.0
        return low - max(self._bids(step)), most

    def is_zero_sum(self, game: GameDescription) -> bool:
        return False

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        item = game.items[item_number(game, self, "item", self.item)]
        step = next(step for step in game.steps if step.name == self.bid)
        lines = []
        if self.amounts:
            assert isinstance(step, Choose)
            pairs = ", ".join(
                f"{option.word} {amount:g}" for option, amount in zip(step.options, self.amounts, strict=True)
            )
            lines.append(words.say("sale.amounts", pairs=pairs))
        lines.append(words.say("sale.sold", bid=self.bid, worth=self._say_worth(game, item, words)))
        reserve = words.amount(self.reserve)
        if self.price == "second" and self.reserve:
            lines.append(words.say("sale.second_least", reserve=reserve))
        else:
            lines.append(words.say(f"sale.{self.price}"))
        if self.price == "second" and game.may_have_left(number):
            lines.append(words.say("sale.alone", reserve=reserve))
        if self.reserve:
            lines.append(words.say("sale.reserve", reserve=reserve))
        # each player pays its own bid whole, also where several share the thing
        return [*lines, words.say("sale.equal_own" if self.price == "all" else "sale.equal")]

    def _say_worth(self, game: GameDescription, item: DealtItem, words: Words) -> str:
        if self.worth == "common":
            return words.say("sale.common", plural=item.plural)
        if may_hold_several(game, item):
            return words.say("sale.own_sum", plural=item.plural)
        return words.say("sale.own", item=item.name)
