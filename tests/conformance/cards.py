"""A small game that keeps every rule, to be broken one rule at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from stratagem.games import Flat, Game, GameSpec, RoundResult, Seat, State, View

SAID = ("RAISE", "PASS")


class CardFacts(NamedTuple):
    seat: Seat
    round: int
    card: int
    past: tuple[str, ...]


class CardsState(State[CardFacts]):
    """Each round two seats get a card of four and say RAISE or PASS; the higher card wins 1, or 2 if both raise."""

    __slots__ = ("cards", "past")
    state_fields = ("cards", "past")

    def begin(self) -> None:
        super().begin()
        self.past: tuple[tuple[str, ...], ...] = ()
        self.deal()

    def deal(self) -> None:
        self.cards = tuple(self.chance.at("card", self.round, seat).integer(4) for seat in (0, 1))

    def view(self, seat: Seat) -> View[CardFacts]:
        past = tuple(f"{moves[seat]}-{moves[1 - seat]}" for moves in self.past)
        return View(self.game, seat, CardFacts(seat, self.round, self.cards[seat], past))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != set(self.to_act) or not set(actions.values()) <= {*SAID, None}:
            raise self.refuse(actions)
        said = tuple(actions[seat] or SAID[0] for seat in self.to_act)
        payoffs = self.pay(said)
        self.past = (*self.past, said)
        self.round += 1
        if self.round == 3:
            self.end()
        else:
            self.deal()
        return RoundResult(payoffs, signals={"bold": tuple(float(word == "RAISE") for word in said)})

    def pay(self, said: tuple[str, ...]) -> tuple[float, ...]:
        stake = 2.0 if said == ("RAISE", "RAISE") else 1.0
        gain = stake * ((self.cards[0] > self.cards[1]) - (self.cards[0] < self.cards[1]))
        return gain, -gain

    def resample(self, seat, chance):
        copy = self.fork(chance)
        card = chance.at("card").integer(4)
        copy.cards = (self.cards[0], card) if seat == 0 else (card, self.cards[1])
        return copy


DECLARED: dict[str, Any] = {
    "name": "cards",
    "family": "cards",
    "summary": "High card, three rounds.",
    "simultaneous": True,
    "utility": "zero-sum",
    "rounds": 3,
    "bounds": (-6.0, 6.0),
    "chance": True,
    "private_information": True,
    "symmetric": True,
    "on_illegal": "default",
    "signals": ("bold",),
}


@dataclass(frozen=True)
class Cards(Game[CardFacts]):
    state = CardsState
    spec = GameSpec(**DECLARED)

    def choices(self, facts: CardFacts) -> Flat:
        return Flat(SAID)

    def rules(self, seat: Seat) -> str:
        return "The higher card wins 1 point, or 2 if both RAISE."

    def situation(self, facts: CardFacts) -> str:
        return f"Round {facts.round}, your card is {facts.card}; so far: {' '.join(facts.past) or 'nothing'}."

    def state_key(self, facts: CardFacts) -> str:
        return str(facts.card)


def declares(**changes: Any) -> GameSpec:
    return GameSpec(**{**DECLARED, **changes})
