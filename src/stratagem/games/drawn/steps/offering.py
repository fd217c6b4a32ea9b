"""Offers in turn about a sum to divide, as in Rubinstein's bargaining: accepted, or answered by another offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from stratagem.games.base import Seat
from stratagem.games.drawn.description import GameDescription, RoundState, Step
from stratagem.games.drawn.events import Event
from stratagem.games.drawn.steps.base import check_worth, item_number, say_worth
from stratagem.games.drawn.steps.dealing import check_words
from stratagem.games.drawn.wordings import Words

_MOST_OFFERS, _MOST_TURNS = 21, 4


@dataclass(frozen=True)
class Offer(Step):
    """Two players divide a sum: one says what the other gets, who accepts or makes the next offer.

    `state.memory` has the number of offers so far, and the offer that waits for an answer, or -1.
    """

    do: ClassVar[str] = "offer"
    acts: ClassVar[bool] = True
    sum: int = 10
    """Amount to divide."""
    step: int = 1
    """Difference between two offers next to each other."""
    turns: int = 1
    """Number of offers before the talks fail."""
    shrink: float = 0.0
    """Amount by which the sum shrinks with every rejected offer."""
    else_pays: tuple[float, ...] = (0.0, 0.0)
    """Amounts that the first and the second player get where the talks fail."""
    worth: str = ""
    """Item whose number, in a player's hand, multiplies what the player gets of the sum; empty for none."""
    offer_word: str = "OFFER"
    """Word before what the other is to get, as in `OFFER 4`."""
    accept_word: str = "ACCEPT"
    """Action that takes the offer."""
    reject_word: str = "REJECT"
    """Action that refuses it."""

    def check(self, game: GameDescription, number: int) -> None:
        check_words(
            self, {"offer_word": self.offer_word, "accept_word": self.accept_word, "reject_word": self.reject_word}
        )
        if game.seats != 2:
            raise self.refuse("do", f"offers among {game.seats} players, not two,")
        if not 1 <= self.turns <= _MOST_TURNS:
            raise self.refuse("turns", f"a number of offers that is not from 1 to {_MOST_TURNS}")
        if not (self.sum > 0 and self.step > 0 and self.sum // self.step < _MOST_OFFERS and self.sum % self.step == 0):
            raise self.refuse("sum", f"a sum that `step` does not divide into at most {_MOST_OFFERS - 1} parts")
        if not 0.0 <= self.shrink * (self.turns - 1) < self.sum:
            raise self.refuse("shrink", "an amount that leaves nothing of the sum before the last offer")
        if len(self.else_pays) != 2:
            raise self.refuse("else_pays", "amounts that are not two")
        if self.worth:
            check_worth(game, self, "worth", self.worth, number)

    def _left(self, turn: int) -> float:
        """Return what the sum has shrunk to at an offer."""
        return self.sum - self.shrink * turn

    def _offers(self, turn: int) -> tuple[str, ...]:
        return tuple(f"{self.offer_word} {part}" for part in range(0, int(self._left(turn)) + 1, self.step))

    def look_up(self, game: GameDescription, number: int) -> list[tuple[str, ...]]:
        """Return the offers of each turn."""
        return [self._offers(turn) for turn in range(self.turns)]

    def begin(self, state: RoundState) -> None:
        state.memory, state.to_act = (0, -1), () if True in state.out else state.order[:1]

    def legal(self, state: RoundState, seat: Seat) -> tuple[str, ...]:
        turn, waiting = state.memory
        offers: list[tuple[str, ...]] = state.game.description.lookups[state.at]
        return offers[turn] if waiting < 0 else (self.accept_word, self.reject_word)

    def play(self, state: RoundState, actions: Mapping[Seat, str]) -> None:
        ((seat, action),) = actions.items()
        turn, waiting = state.memory
        state.tell(Event("plays", seat, action, state.at))
        other = next(other for other in state.order if other != seat)
        if waiting < 0:
            offers: list[tuple[str, ...]] = state.game.description.lookups[state.at]
            state.memory, state.to_act = (turn, offers[turn].index(action) * self.step), (other,)
        elif action == self.accept_word:
            self._pay(state, seat, float(waiting))
            self._pay(state, other, self._left(turn) - waiting)
        elif turn + 1 < self.turns:
            state.memory, state.to_act = (turn + 1, -1), (seat,)
        else:
            for place, one in enumerate(state.order):
                state.pay(one, self.else_pays[place])

    def _pay(self, state: RoundState, seat: Seat, part: float) -> None:
        """Pay a part of the sum, at what it is worth to its player."""
        if self.worth:
            item = item_number(state.game.description, self, "worth", self.worth)
            numbers = state.game.description.items[item].numbers
            part *= sum(numbers[piece.face] for piece in state.hands[seat] if piece.item == item)
        state.pay(seat, part)

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        factors = [1.0]
        if self.worth:
            most = game.most_held(item := item_number(game, self, "worth", self.worth))
            factors = [most, -most if min(game.items[item].numbers) < 0 else 0.0]
        parts = [self.sum * factor for factor in factors]
        return min(0.0, *parts, *self.else_pays), max(0.0, *parts, *self.else_pays)

    def is_zero_sum(self, game: GameDescription) -> bool:
        return False

    def words(self) -> tuple[str, ...]:
        return self.offer_word, self.accept_word, self.reject_word

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        parts, reject = self._offers(0), self.reject_word
        first, second = map(words.amount, self.else_pays)
        lines = [
            words.say("offer.sum", sum=words.amount(self.sum)),
            words.say("offer.first", "first", least=parts[0], most=parts[-1], step=self.step),
            words.say("offer.answer", accept=self.accept_word, reject=reject),
        ]
        if self.turns > 1:
            lines.append(words.say("offer.turns", reject=reject, turns=self.turns))
        if self.shrink:
            lines.append(words.say("offer.shrink", reject=reject, shrink=words.amount(self.shrink)))
        lines.append(words.say("offer.fails", reject=reject, first=first, second=second))
        if self.worth:
            lines.append(say_worth(game, self, "offer.worth", words))
        return lines
