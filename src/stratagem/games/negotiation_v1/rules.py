"""Negotiation over a pie (SEPO's negotiation-v1).

Both seats name a demand at the same time; those that fit the pie together are the payoffs, and
others leave both with nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from stratagem.base.options import whole
from stratagem.games.base import Game, RoundResult, Seat, State, View
from stratagem.games.choices import Flat
from stratagem.games.counting import count_in_words
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec


class PieFacts(NamedTuple):
    """Every round's demands, one's own and the other's."""

    seat: Seat
    pie: int
    mine: tuple[int, ...]
    theirs: tuple[int, ...]

    @property
    def broke_down(self) -> bool:
        """True if any round so far ended without a deal."""
        return any(mine + theirs > self.pie for mine, theirs in zip(self.mine, self.theirs, strict=True))


class PieState(State[PieFacts]):
    """The demands of each seat so far."""

    __slots__ = ("demands",)
    state_fields = ("demands",)
    game: Pie

    def __init__(self, game: Pie, chance: Chance) -> None:
        super().__init__(game, chance)
        self.demands: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    def view(self, seat: Seat) -> View[PieFacts]:
        return View(self.game, seat, PieFacts(seat, self.game.pie, self.demands[seat], self.demands[1 - seat]))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        choices = self.game.choices(self.view(0).facts)
        demands = [choices.first if (action := actions.get(seat)) is None else action for seat in self.to_act]
        if set(actions) != set(self.to_act) or self.over or any(action not in choices for action in demands):
            raise self.refuse(actions)
        first, second = int(demands[0]), int(demands[1])
        self.demands = ((*self.demands[0], first), (*self.demands[1], second))
        self.round += 1
        if self.round >= self.game.rounds:
            self.end()
        fits = first + second <= self.game.pie
        return RoundResult((float(first), float(second)) if fits else (0.0, 0.0))

    def resample(self, seat: Seat, chance: Chance) -> PieState:
        return self.fork(chance)


@dataclass(frozen=True, kw_only=True)
class Pie(Game[PieFacts]):
    """Simultaneous integer demands on a pie, several times over."""

    state = PieState
    largest: ClassVar = {"rounds": 10_000, "pie": 1000}

    rounds: int = 4
    pie: int = 10

    def __post_init__(self) -> None:
        whole("Negotiation", "rounds", self.rounds, 1)
        whole("Negotiation", "pie", self.pie, 2)

    @cached_property
    def spec(self) -> GameSpec:
        return GameSpec(
            name="negotiation-v1",
            family="negotiation-v1",
            summary=f"Simultaneous demands on a pie of {self.pie}, {count_in_words(self.rounds, 'round')}.",
            reference="SEPO, appendices F and G",
            simultaneous=True,
            utility="general-sum",
            rounds=self.rounds,
            bounds=(0.0, float(self.pie * self.rounds)),
            chance=False,
            private_information=False,
            symmetric=True,
            on_illegal="default",
        )

    def choices(self, facts: PieFacts) -> Flat:
        return self._choices

    def all_actions(self) -> tuple[str, ...]:
        return self._choices.actions

    @cached_property
    def _choices(self) -> Flat:
        return Flat(str(demand) for demand in range(self.pie + 1))

    def state_key(self, facts: PieFacts) -> str:
        """Return the last pair of demands and how many rounds are left."""
        last = f"{facts.mine[-1]},{facts.theirs[-1]}" if facts.mine else "start"
        return f"{last} left {self.rounds - len(facts.mine)}"

    def info_key(self, facts: PieFacts) -> str:
        pairs = " ".join(f"{mine},{theirs}" for mine, theirs in zip(facts.mine, facts.theirs, strict=True))
        return f"seat {facts.seat}: {pairs}"

    def vocabulary(self) -> tuple[str, ...]:
        return ("demand",)

    def rules(self, seat: Seat) -> str:
        return (
            f"You and another player share {self.pie} points in each of {self.rounds} rounds.\n"
            f"Both name a demand from 0 to {self.pie} at the same time. If the two demands together are at most "
            f"{self.pie}, both get what they demanded; otherwise both get nothing that round."
        )

    def _outcome(self, total: int) -> str:
        return "deal" if total <= self.pie else "no deal"

    def situation(self, facts: PieFacts) -> str:
        lines = [
            f"Round {n}: you demanded {mine}, they demanded {theirs}: {self._outcome(mine + theirs)}."
            for n, (mine, theirs) in enumerate(zip(facts.mine, facts.theirs, strict=True), 1)
        ]
        played = len(facts.mine)
        over = played == self.rounds
        lines.append("The game is over." if over else f"Round {played + 1} of {self.rounds} is to be played.")
        return "\n".join(lines)
