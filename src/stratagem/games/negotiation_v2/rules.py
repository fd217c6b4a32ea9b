"""Negotiation over books, hats and balls with private values (SEPO's negotiation-v2, after GTBench's negotiation).

The pool and the values are drawn once an episode; each round both seats demand items at the same time, and demands that
fit the pool on every item pay one's own values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import ClassVar, NamedTuple

from stratagem.base.errors import BadRecord
from stratagem.base.options import whole
from stratagem.games.base import Game, Json, RoundResult, Seat, State, View
from stratagem.games.choices import Flat
from stratagem.games.counting import count_in_words
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec

ITEMS = ("books", "hats", "balls")
Bundle = tuple[int, ...]
"""A number for each of the three items."""
_TOTAL_VALUE = 10
VALUE_SPLITS = tuple(split for split in product(range(_TOTAL_VALUE + 1), repeat=3) if sum(split) == _TOTAL_VALUE)
"""The 66 ways in which three whole values can sum to ten; all are equally likely."""


def value_of(bundle: Bundle, values: Bundle) -> int:
    """Return the value of a bundle at these values per item."""
    return sum(count * value for count, value in zip(bundle, values, strict=True))


def write_bundle(bundle: Bundle) -> str:
    """Write a demand as it is played: `[2, 1, 0]`."""
    return f"[{', '.join(map(str, bundle))}]"


@lru_cache(maxsize=256)
def _demands(pool: Bundle) -> Flat:
    return Flat(write_bundle(bundle) for bundle in product(*(range(count + 1) for count in pool)))


@lru_cache(maxsize=4096)
def bundle_of(action: str) -> Bundle:
    """Read a demand as it is played."""
    return tuple(int(count) for count in action.strip("[]").split(","))


class DivisionFacts(NamedTuple):
    """The pool, one's own values, and every round's demands, one's own and the other's."""

    seat: Seat
    pool: Bundle
    values: Bundle
    mine: tuple[Bundle, ...]
    theirs: tuple[Bundle, ...]

    @property
    def last_failed(self) -> bool:
        """True if the last round ended without a deal."""
        return bool(self.mine) and not fits(self.mine[-1], self.theirs[-1], self.pool)


def fits(first: Bundle, second: Bundle, pool: Bundle) -> bool:
    """Return whether two demands can both be met."""
    return all(a + b <= count for a, b, count in zip(first, second, pool, strict=True))


class DivisionState(State[DivisionFacts]):
    """The pool, both seats' values and their demands so far."""

    __slots__ = ("demands", "pool", "values")
    state_fields = ("pool", "values", "demands")
    game: Division

    def __init__(self, game: Division, chance: Chance) -> None:
        super().__init__(game, chance)
        self.pool: Bundle = ()
        self.values: tuple[Bundle, Bundle] = ((), ())
        self.demands: tuple[tuple[Bundle, ...], tuple[Bundle, ...]] = ((), ())

    def begin(self) -> None:
        super().begin()
        draw = self.chance.at
        self.pool = tuple(1 + draw("pool", item).integer(self.game.most) for item in range(3))
        first, second = (VALUE_SPLITS[draw("values", seat).integer(len(VALUE_SPLITS))] for seat in (0, 1))
        self.values = (first, second)

    def restore(self, data: Json) -> None:
        super().restore(data)
        counts = self.pool if isinstance(self.pool, tuple) and len(self.pool) == len(ITEMS) else (None,)
        if not all(type(count) is int and 1 <= count <= self.game.most for count in counts):
            raise BadRecord(  # all demands on a pool are listed: those on a larger one might not fit in memory
                f"This is no state of {self.game.spec.name}: its pool has 1 to {self.game.most} of each item."
            )

    def view(self, seat: Seat) -> View[DivisionFacts]:
        mine, theirs = self.demands[seat], self.demands[1 - seat]
        return View(self.game, seat, DivisionFacts(seat, self.pool, self.values[seat], mine, theirs))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        choices = _demands(self.pool)
        demands = [choices.first if (action := actions.get(seat)) is None else action for seat in self.to_act]
        if set(actions) != set(self.to_act) or self.over or any(action not in choices for action in demands):
            raise self.refuse(actions)
        first, second = bundle_of(demands[0]), bundle_of(demands[1])
        self.demands = ((*self.demands[0], first), (*self.demands[1], second))
        self.round += 1
        if self.round >= self.game.rounds:
            self.end()
        deal = fits(first, second, self.pool)
        gains = value_of(first, self.values[0]), value_of(second, self.values[1])
        return RoundResult((float(gains[0]), float(gains[1])) if deal else (0.0, 0.0))

    def resample(self, seat: Seat, chance: Chance) -> DivisionState:
        copy = self.fork(chance)
        drawn = VALUE_SPLITS[chance.at("resample").integer(len(VALUE_SPLITS))]
        copy.values = (self.values[0], drawn) if seat == 0 else (drawn, self.values[1])
        return copy


@dataclass(frozen=True, kw_only=True)
class Division(Game[DivisionFacts]):
    """Simultaneous demands on a pool of three kinds of items, several times over."""

    state = DivisionState
    largest: ClassVar = {"rounds": 10_000, "most": 20}

    rounds: int = 4
    most: int = 5
    """Largest number of one item in the pool; there is at least one."""

    def __post_init__(self) -> None:
        whole("Negotiation", "rounds", self.rounds, 1)
        whole("Negotiation", "most", self.most, 1)

    @cached_property
    def spec(self) -> GameSpec:
        return GameSpec(
            name="negotiation-v2",
            family="negotiation-v2",
            summary=f"Demands on books, hats and balls with private values, {count_in_words(self.rounds, 'round')}.",
            reference="SEPO, appendices F and G; GTBench (Duan et al. 2024)",
            simultaneous=True,
            utility="general-sum",
            rounds=self.rounds,
            bounds=(0.0, float(_TOTAL_VALUE * self.most * self.rounds)),
            chance=True,
            private_information=True,
            symmetric=True,
            on_illegal="default",
        )

    def choices(self, facts: DivisionFacts) -> Flat:
        return _demands(facts.pool)

    def all_actions(self) -> tuple[str, ...]:
        return _demands((self.most,) * len(ITEMS)).actions

    def state_key(self, facts: DivisionFacts) -> str:
        """Pool, own values, the last pair of demands and how many rounds are left."""
        last = f"{write_bundle(facts.mine[-1])}{write_bundle(facts.theirs[-1])}" if facts.mine else "start"
        return f"{write_bundle(facts.pool)} {write_bundle(facts.values)} {last} left {self.rounds - len(facts.mine)}"

    def info_key(self, facts: DivisionFacts) -> str:
        pairs = " ".join(f"{write_bundle(a)}{write_bundle(b)}" for a, b in zip(facts.mine, facts.theirs, strict=True))
        return f"seat {facts.seat} {write_bundle(facts.pool)} {write_bundle(facts.values)}: {pairs}"

    def vocabulary(self) -> tuple[str, ...]:
        return ("book", "hat", "ball", "demand")

    def rules(self, seat: Seat) -> str:
        return (
            f"You and another player share a pool of books, hats and balls in each of {self.rounds} rounds; the pool "
            "is the same every round.\n"
            f"Each of you values the items differently, and only you know your values; your three values add up to "
            f"{_TOTAL_VALUE}.\n"
            "Both demand items at the same time, written [books, hats, balls]. If the pool holds enough of every item "
            "for both demands, both get what they demanded and earn its value; otherwise both get nothing that round."
        )

    def situation(self, facts: DivisionFacts) -> str:
        stock = ", ".join(f"{count} {item}" for count, item in zip(facts.pool, ITEMS, strict=True))
        prices = ", ".join(f"{item} {value}" for item, value in zip(ITEMS, facts.values, strict=True))
        lines = [f"The pool: {stock}.", f"What one of each is worth to you: {prices}."]
        for number, (mine, theirs) in enumerate(zip(facts.mine, facts.theirs, strict=True), 1):
            outcome = (
                f"deal, you earned {value_of(mine, facts.values)}" if fits(mine, theirs, facts.pool) else "no deal"
            )
            lines.append(
                f"Round {number}: you demanded {write_bundle(mine)}, they demanded {write_bundle(theirs)}: {outcome}."
            )
        played = len(facts.mine)
        over = played == self.rounds
        lines.append("The game is over." if over else f"Round {played + 1} of {self.rounds} is to be played.")
        return "\n".join(lines)
