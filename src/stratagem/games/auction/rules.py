"""A repeated sealed-bid auction with private values (SEPO, appendix F).

Each round every seat draws a value from {1, 2, 3} and bids 1, 2 or 3 in secret; the highest bid wins value minus bid,
and a tie is shared. Bids are shown afterwards, values never. With `price=second` the winner pays the second-highest bid
(Vickrey 1961), so to bid the value is dominant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.options import whole
from stratagem.games.base import Game, Json, RoundResult, Seat, State, View
from stratagem.games.choices import Flat
from stratagem.games.counting import count_in_words
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec

BIDS = ("LOW", "MEDIUM", "HIGH")
"""The bids by tier: LOW costs 1, MEDIUM 2, HIGH 3."""
VALUES = (1, 2, 3)
PRICES = ("first", "second")
_CHOICES = Flat(BIDS)


class PastRound(NamedTuple):
    """A round that is over, as one seat knows it."""

    value: int
    bid: int
    others: tuple[int, ...]
    payoff: float

    @property
    def lost(self) -> bool:
        """True if somebody bid more."""
        return max(self.others) > self.bid

    @property
    def won(self) -> bool:
        """True if nobody bid as much."""
        return max(self.others) < self.bid


class AuctionFacts(NamedTuple):
    """The seat's own value now, and the rounds so far."""

    seat: Seat
    round: int
    value: int
    past: tuple[PastRound, ...]


class AuctionState(State[AuctionFacts]):
    """The values of this round and every seat's record of the rounds before."""

    __slots__ = ("past", "values")
    state_fields = ("values", "past")
    record_fields = ("past",)
    game: Auction

    def __init__(self, game: Auction, chance: Chance) -> None:
        super().__init__(game, chance)
        self.values: tuple[int, ...] = ()
        self.past: tuple[tuple[PastRound, ...], ...] = ((),) * game.seats

    def begin(self) -> None:
        super().begin()
        self._draw_values()

    def restore(self, data: Json) -> None:
        super().restore(data)
        self.past = tuple(tuple(PastRound(*row) for row in rows) for rows in self.past)

    def _draw_values(self) -> None:
        seats = range(self.game.seats)
        self.values = tuple(VALUES[self.chance.at("value", self.round, seat).integer(3)] for seat in seats)

    def view(self, seat: Seat) -> View[AuctionFacts]:
        return View(self.game, seat, AuctionFacts(seat, self.round, self.values[seat], self.past[seat]))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        try:
            made = (actions[seat] for seat in self.to_act)
            bids = tuple(1 if bid is None else 1 + BIDS.index(bid) for bid in made)
        except (KeyError, ValueError):
            raise self.refuse(actions) from None
        if self.over or len(actions) != len(bids):
            raise self.refuse(actions)
        payoffs = self.game.payoffs(self.values, bids)
        self.past = tuple(
            (*rows, PastRound(self.values[seat], bids[seat], bids[:seat] + bids[seat + 1 :], payoffs[seat]))
            for seat, rows in enumerate(self.past)
        )
        self._next_round()
        return RoundResult(payoffs)

    def _next_round(self) -> None:
        self.round += 1
        if self.round < self.game.rounds:
            self._draw_values()
        else:
            self.end()

    def resample(self, seat: Seat, chance: Chance) -> AuctionState:
        """Redraw the other seats' values of this round and of those before, with any bids."""
        copy = self.fork(chance)
        copy.values = _redraw_values(self.values, seat, chance.at("resample"))
        rounds = [
            self._redrawn_round(rows, seat, chance.at("past", number))
            for number, rows in enumerate(zip(*self.past, strict=True))
        ]
        copy.past = tuple(zip(*rounds, strict=True)) if rounds else self.past
        return copy

    def _redrawn_round(self, rows: tuple[PastRound, ...], seat: Seat, chance: Chance) -> list[PastRound]:
        """Return the rows of a past round with other values, which the payoffs follow."""
        values = _redraw_values(tuple(row.value for row in rows), seat, chance)
        payoffs = self.game.payoffs(values, tuple(row.bid for row in rows))
        told = zip(rows, values, payoffs, strict=True)
        return [row._replace(value=value, payoff=payoff) for row, value, payoff in told]


def _redraw_values(values: tuple[int, ...], seat: Seat, chance: Chance) -> tuple[int, ...]:
    """Return values of which all but that of one seat are drawn anew."""
    return tuple(value if other == seat else VALUES[chance.at(other).integer(3)] for other, value in enumerate(values))


@dataclass(frozen=True, kw_only=True)
class Auction(Game[AuctionFacts]):
    """Sealed-bid auction; values are drawn anew each round."""

    state = AuctionState
    largest: ClassVar = {"rounds": 10_000, "seats": 64}

    rounds: int = 6
    """Number of auctions in an episode."""
    seats: int = 2
    """Number of bidders."""
    price: Literal["first", "second"] = "first"
    """Bid that the winner pays: its own, or the second-highest."""

    def __post_init__(self) -> None:
        whole("The auction", "rounds", self.rounds, 1)
        whole("The auction", "seats", self.seats, 2)
        if self.price not in PRICES:
            raise BadParameter(f"The auction needs `price` as one of {', '.join(PRICES)}, not {self.price!r}.")

    def payoffs(self, values: tuple[int, ...], bids: tuple[int, ...]) -> tuple[float, ...]:
        """Return what each seat earns; seats with equal highest bids share."""
        second, top = sorted(bids)[-2:]
        share, paid = 1.0 / bids.count(top), top if self.price == "first" else second
        return tuple((value - paid) * share if bid == top else 0.0 for value, bid in zip(values, bids, strict=True))

    @cached_property
    def spec(self) -> GameSpec:
        return GameSpec(
            name="auction",
            family="auction",
            summary=f"Sealed-bid auction with private values 1 to 3, {count_in_words(self.rounds, 'round')}.",
            reference="SEPO, appendix F",
            seats=self.seats,
            simultaneous=True,
            utility="general-sum",
            rounds=self.rounds,
            bounds=(-2.0 * self.rounds, 2.0 * self.rounds),
            chance=True,
            private_information=True,
            symmetric=True,
            on_illegal="default",
        )

    def choices(self, facts: AuctionFacts) -> Flat:
        return _CHOICES

    def all_actions(self) -> tuple[str, ...]:
        return BIDS

    def state_key(self, facts: AuctionFacts) -> str:
        """Return the seat's own value and the outcome of the last round."""
        last = facts.past[-1] if facts.past else None
        went = "start" if last is None else "won" if last.won else "lost" if last.lost else "tied"
        return f"value {facts.value} {went}"

    def info_key(self, facts: AuctionFacts) -> str:
        past = " ".join(f"{row.value}:{row.bid}:{','.join(map(str, row.others))}" for row in facts.past)
        return f"seat {facts.seat} value {facts.value}; {past}"

    def vocabulary(self) -> tuple[str, ...]:
        return (*BIDS, "bid", "item")

    def rules(self, seat: Seat) -> str:
        others = "the other bidder" if self.seats == 2 else f"{self.seats - 1} other bidders"
        paid = "its bid" if self.price == "first" else "the second-highest bid"
        return (
            f"You and {others} bid for an item in each of {self.rounds} rounds, all in secret and at the same time.\n"
            "Each round your own value for the item is 1, 2 or 3, drawn at random; nobody else sees it.\n"
            f"You may bid LOW (1), MEDIUM (2) or HIGH (3). The highest bid wins and earns its value minus {paid}; "
            "equal highest bids share that; a loser earns 0."
        )

    def situation(self, facts: AuctionFacts) -> str:
        lines = [
            f"Round {n}: your value {row.value}, you bid {BIDS[row.bid - 1]}, "
            f"they bid {', '.join(BIDS[bid - 1] for bid in row.others)}, you earned {row.payoff:g}."
            for n, row in enumerate(facts.past, 1)
        ]
        over = facts.round == self.rounds
        now = f"Round {facts.round + 1} of {self.rounds}: your value is {facts.value}."
        lines.append("The game is over." if over else now)
        return "\n".join(lines)
