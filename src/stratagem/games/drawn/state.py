"""State of a described game: the steps of its description, played one after another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Self

from stratagem.games.base import Game, Json, RoundResult, Seat, State, View, pending
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.events import ALL, Choice, DescribedFacts, Event, Piece
from stratagem.games.drawn.signals import measure_signals
from stratagem.games.key import Chance

_new = object.__new__


class DescribedRules(Game[DescribedFacts]):
    """Game with a description; `games.drawn.rules` has the rest of it."""

    @property
    @abstractmethod
    def description(self) -> GameDescription:
        """Description from which everything follows."""


class DescribedState(State[DescribedFacts]):
    """Round in play: what was dealt, chosen, put in and paid, and what each seat has been told of."""

    __slots__ = ("aside", "at", "choices", "gains", "hands", "logs", "memory", "moves", "open", "out", "put")
    state_fields = (
        *("at", "hands", "open", "aside", "put", "out", "gains"),
        *("choices", "memory", "logs", "moves"),
    )
    game: DescribedRules

    def __init__(self, game: DescribedRules, chance: Chance) -> None:
        super().__init__(game, chance)
        seats = game.description.seats
        self.at = 0
        """Number of the step in play."""
        self.hands: tuple[tuple[Piece, ...], ...] = ((),) * seats
        """Pieces that were dealt to each seat in this round."""
        self.open: tuple[Piece, ...] = ()
        """Pieces that lie open for all."""
        self.aside: tuple[Piece, ...] = ()
        """Pieces that were given back and are not dealt again in this round."""
        self.put = (0.0,) * seats
        """Chips of each seat in the pot of this round."""
        self.out = (False,) * seats
        """True for a seat that has folded or left."""
        self.gains = (0.0,) * seats
        """Payoff of each seat in this round so far, without the chips in the pot."""
        self.choices: tuple[Choice, ...] = ()
        """Choices of this round, in the order in which they were made."""
        self.memory: tuple[int, ...] = ()
        """Memory of the step in play."""
        self.logs: tuple[tuple[Event, ...], ...] = ((),) * seats
        """Events that each seat has seen or done."""
        self.moves: tuple[int, ...] = ()
        """Number of moves of each round so far; seats that choose at once make one."""

    @property
    def order(self) -> tuple[Seat, ...]:
        """Seats in the order of the present round."""
        return self.game.description.orders[self.first]

    @property
    def first(self) -> Seat:
        """Seat that is first in the present round."""
        description = self.game.description
        if not description.turns:
            return 0
        return (self.round - self.over) % description.seats  # once it is over, the last round stays in sight

    def begin(self) -> None:
        """Begin a round: go on to the first step in which a seat chooses."""
        seats = self.game.description.seats
        self.hands, self.open, self.aside, self.choices = ((),) * seats, (), (), ()
        self.put, self.out, self.gains = (0.0,) * seats, (False,) * seats, (0.0,) * seats
        if self.game.description.forget:
            self.logs = ((),) * seats
        elif self.round:
            self.tell(Event("round", ALL, str(self.round + 1)))
        self.at, self.to_act, self.moves = -1, (), (*self.moves, 0)
        self._go_on()

    def _go_on(self) -> None:
        """Go on to the next step in which a seat chooses, or beyond the last one."""
        steps = self.game.description.steps
        while not self.to_act and self.at < len(steps):
            self.at, self.memory = self.at + 1, ()
            if self.at < len(steps) and (steps[self.at].pays or not self.is_decided):
                steps[self.at].begin(self)

    @property
    def is_decided(self) -> bool:
        """True if one player is left in the round, of several."""
        return len(self.out) > 1 and self.out.count(False) == 1

    def view(self, seat: Seat) -> View[DescribedFacts]:
        legal = self.game.description.steps[self.at].legal(self, seat) if seat in self.to_act else ()
        number = 0 if self.game.description.forget else self.round  # such rounds look alike
        return View(self.game, seat, DescribedFacts(seat, number, self.first, self.logs[seat], legal))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        self.move(actions)
        return pending(len(self.out)) if self.to_act else self._close()

    def move(self, actions: Mapping[Seat, str | None]) -> None:
        """Play actions within the round; `to_act` is empty when the round has come to its end."""
        if self.over or len(actions) != len(self.to_act):
            raise self.refuse(actions)
        step, said = self.game.description.steps[self.at], dict[Seat, str]()
        for seat in self.to_act:
            if seat not in actions:
                raise self.refuse(actions)
            legal, action = step.legal(self, seat), actions[seat]
            if action is not None and action not in legal:
                raise self.refuse(actions)
            said[seat] = legal[0] if action is None else action
        self.to_act = ()
        self.moves = (*self.moves[:-1], self.moves[-1] + 1)
        step.play(self, said)
        self._go_on()

    def pay_round(self) -> RoundResult:
        """End the round with its payoffs."""
        payoffs = self.gains
        for number, step in enumerate(self.game.description.steps):
            step.end_round(self, number)
        self.logs = tuple([(*log, Event("pays", seat, f"{payoffs[seat]:g}")) for seat, log in enumerate(self.logs)])
        rules = self.game.description.signals
        signals = measure_signals(rules, self) if rules else None
        self.round += 1
        return RoundResult(payoffs, signals=signals)

    def _close(self) -> RoundResult:
        result = self.pay_round()
        if self.round < self.game.description.rounds and self._continues():
            self.begin()
        else:
            self.end()
        return result

    def _continues(self) -> bool:
        goes_on = self.game.description.continuation
        if goes_on in (0.0, 1.0):
            return goes_on == 1.0
        return self.chance.at("continue", self.round).choose((goes_on, 1.0 - goes_on)) == 0

    # what steps do

    def tell(self, event: Event, to: Seat = ALL) -> None:
        """Add an event to what a seat has seen, or all of them."""
        logs = self.logs
        if to == ALL:
            self.logs = tuple([(*log, event) for log in logs])
        else:
            self.logs = (*logs[:to], (*logs[to], event), *logs[to + 1 :])

    def draw(self, item: int, number: int, to: Seat = ALL) -> Piece:
        """Draw a piece of an item that has not been dealt, for a seat or for all to see.

        `number` is that of the draw within the step.
        """
        chance, kind = self.chance.at("deal", self.round, self.at, number), self.game.description.items[item]
        if kind.again:
            return Piece(item, chance.integer(len(kind.faces)))
        faces = self.faces_left(item)
        return Piece(item, faces[chance.integer(len(faces))])

    def faces_left(self, item: int) -> list[int]:
        """Return the faces of an item that were not dealt yet, each as often as there are copies."""
        kind = self.game.description.items[item]
        left = [kind.copies] * len(kind.faces)
        for other, face in (*self.open, *self.aside, *(piece for hand in self.hands for piece in hand)):
            if other == item:
                left[face] -= 1
        return [face for face, copies in enumerate(left) for _ in range(copies)]

    def pay(self, seat: Seat, amount: float) -> None:
        """Pay a seat an amount, which may be negative."""
        self.gains = (*self.gains[:seat], self.gains[seat] + amount, *self.gains[seat + 1 :])

    def put_in(self, seat: Seat, amount: float) -> None:
        """Let a seat put chips into the pot; they are lost unless it wins them back."""
        self.put = (*self.put[:seat], self.put[seat] + amount, *self.put[seat + 1 :])
        self.pay(seat, -amount)

    def leave(self, seat: Seat) -> None:
        """Let a seat leave the round."""
        self.out = (*self.out[:seat], True, *self.out[seat + 1 :])

    def choose(self, seat: Seat, option: int) -> None:
        """Note the choice of a seat in the step in play."""
        self.choices = (*self.choices, Choice(self.at, seat, option))

    def option_of(self, step: int, seat: Seat) -> int | None:
        """Return the latest option that a seat chose in a step; None where it chose none."""
        for at, by, option in reversed(self.choices):
            if at == step and by == seat:
                return option
        return None

    def fork(self, chance: Chance | None = None) -> Self:
        copy = _new(type(self))  # the walk of a tree forks at every node, so no field is set twice
        copy.game, copy.chance = self.game, chance or self.chance
        copy.round, copy.over, copy.to_act = self.round, self.over, self.to_act
        copy.at, copy.hands, copy.open, copy.aside = self.at, self.hands, self.open, self.aside
        copy.put, copy.out, copy.gains = self.put, self.out, self.gains
        copy.choices, copy.memory, copy.logs, copy.moves = self.choices, self.memory, self.logs, self.moves
        return copy

    def restore(self, data: Json) -> None:
        super().restore(data)
        self.hands = tuple(tuple(Piece(*piece) for piece in hand) for hand in self.hands)
        self.open, self.aside = (tuple(Piece(*piece) for piece in some) for some in (self.open, self.aside))
        self.choices = tuple(Choice(*choice) for choice in self.choices)
        self.logs = tuple(tuple(Event(*event) for event in log) for log in self.logs)
