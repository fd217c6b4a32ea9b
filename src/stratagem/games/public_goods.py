"""A repeated public goods game of any number of seats: contribute to a common pot, or keep what you have.

Each round every seat has 1. What is contributed is multiplied and shared by all alike, contributors or not, so with a
multiplier between 1 and the number of seats everybody does best by keeping, and all do best by contributing (Ledyard
1995, "Public goods: a survey of experimental research"). Who contributed is shown afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from stratagem.games.base import Game, RoundResult, Seat, State, View
from stratagem.games.choices import Flat
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec
from stratagem.options import whole, within

ACTIONS = ("CONTRIBUTE", "KEEP")
_CHOICES = Flat(ACTIONS)


class PublicGoodsFacts(NamedTuple):
    """Contributors of each round that is over, the seat itself first and then those after it in turn."""

    seat: Seat
    round: int
    gave: tuple[tuple[bool, ...], ...]


class PublicGoodsState(State[PublicGoodsFacts]):
    """Contributors round by round."""

    __slots__ = ("_seen", "gave")
    state_fields = ("gave",)
    game: PublicGoods

    def __init__(self, game: PublicGoods, chance: Chance) -> None:
        super().__init__(game, chance)
        self.gave: tuple[tuple[bool, ...], ...] = ()
        self._seen: dict[Seat, tuple[tuple[bool, ...], ...]] = {}
        """Rounds as a seat sees them, its own action first; rounds are added, and none ever changes."""

    def view(self, seat: Seat) -> View[PublicGoodsFacts]:
        seen = self._seen.get(seat, ())
        seen += tuple((*row[seat:], *row[:seat]) for row in self.gave[len(seen) :])
        self._seen[seat] = seen
        return View(self.game, seat, PublicGoodsFacts(seat, self.round, seen))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != set(self.to_act) or not {*actions.values()} <= {*ACTIONS, None}:
            raise self.refuse(actions)
        gave = tuple(actions[seat] == ACTIONS[0] for seat in self.to_act)
        self.gave = (*self.gave, gave)
        self.round += 1
        if self.round >= self.game.rounds:
            self.end()
        kept = tuple(float(not contributed) for contributed in gave)
        share = self.game.share * sum(gave)
        payoffs = tuple(contributed + share for contributed in kept)
        return RoundResult(payoffs)

    def resample(self, seat: Seat, chance: Chance) -> PublicGoodsState:
        return self.fork(chance)


@dataclass(frozen=True, kw_only=True)
class PublicGoods(Game[PublicGoodsFacts]):
    """Contribute or keep, at the same time, again and again."""

    state = PublicGoodsState

    seats: int = 3
    rounds: int = 20
    multiplier: float = 2.0
    """Factor of a contribution before it is shared; the game is a dilemma if it is between 1 and `seats`."""

    def __post_init__(self) -> None:
        whole("The public goods game", "seats", self.seats, 2)
        whole("The public goods game", "rounds", self.rounds, 1)
        within("The public goods game", "multiplier", self.multiplier, 0.0)

    @property
    def share(self) -> float:
        """Payoff of every seat for each contribution."""
        return self.multiplier / self.seats

    @cached_property
    def spec(self) -> GameSpec:
        most = max(self.share * self.seats, 1.0 + self.share * (self.seats - 1))
        return GameSpec(
            name="public-goods",
            family="public-goods",
            summary="Repeated public goods game: contribute or keep, three seats, twenty rounds.",
            reference="Ledyard 1995",
            seats=self.seats,
            simultaneous=True,
            utility="general-sum",
            rounds=self.rounds,
            bounds=(min(self.share, 1.0) * self.rounds, most * self.rounds),
            chance=False,
            private_information=False,
            symmetric=True,
            on_illegal="default",
        )

    def choices(self, facts: PublicGoodsFacts) -> Flat:
        return _CHOICES

    def all_actions(self) -> tuple[str, ...]:
        return ACTIONS

    def default_action(self, facts: PublicGoodsFacts) -> str:
        """Return the default action: to keep."""
        return ACTIONS[1]

    def state_key(self, facts: PublicGoodsFacts) -> str:
        """Return the last own action and the number of other contributors: the memory of a memory-one strategy."""
        if not facts.gave:
            return "start"
        own, *others = facts.gave[-1]
        return f"{_did(own)}, {sum(others)} others contributed"

    def info_key(self, facts: PublicGoodsFacts) -> str:
        rows = ("".join("CK"[not contributed] for contributed in row) for row in facts.gave)
        return f"seat {facts.seat}: {' '.join(rows)}"

    def vocabulary(self) -> tuple[str, ...]:
        return ("contribute", "keep/kept", "pot")

    def rules(self, seat: Seat) -> str:
        others = "another player" if self.seats == 2 else f"{self.seats - 1} other players"
        return (
            f"You and {others} each have 1 in every one of {self.rounds} rounds, and choose at the same time.\n"
            f"You may CONTRIBUTE it to a common pot or KEEP it. The pot is multiplied by {self.multiplier:g} and "
            "shared among all players alike, whether they contributed or not.\n"
            "After each round you are told who contributed."
        )

    def situation(self, facts: PublicGoodsFacts) -> str:
        if not facts.gave:
            return "No round has been played yet."
        rows = (f"{n}. you {_did(row[0])}; the others: {_others(row[1:])}" for n, row in enumerate(facts.gave, 1))
        return "The rounds so far:\n" + "\n".join(rows)


def _did(gave: bool) -> str:
    return "contributed" if gave else "kept"


def _others(gave: tuple[bool, ...]) -> str:
    return ", ".join(map(_did, gave))
