"""Betting in turn: check, bet, fold, call and raise, up to a number of raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from stratagem.games.base import Seat
from stratagem.games.drawn.description import GameDescription, RoundState, Step
from stratagem.games.drawn.events import Event
from stratagem.games.drawn.steps.base import seats_of
from stratagem.games.drawn.steps.dealing import check_words
from stratagem.games.drawn.wordings import Words

_MOST_RAISES = 4


@dataclass(frozen=True)
class Bet(Step):
    """Betting in turn, from the first player on, until nobody has anything left to match.

    `state.memory` has the number of bets and raises so far, the seats that have acted since the last one, and the
    chips that each seat has put in during the step.
    """

    do: ClassVar[str] = "bet"
    acts: ClassVar[bool] = True
    size: float = 1.0
    """Chips by which a bet or a raise goes beyond what the others put in."""
    raises: int = 1
    """Largest number of bets and raises together."""
    check_word: str = "CHECK"
    """Action that puts in nothing, with nothing to match."""
    bet_word: str = "BET"
    """Action that bets, with nothing to match."""
    fold_word: str = "FOLD"
    """Action that gives up the pot."""
    call_word: str = "CALL"
    """Action that matches a bet."""
    raise_word: str = "RAISE"
    """Action that matches a bet and bets more."""

    def check(self, game: GameDescription, number: int) -> None:
        if not 0 < self.size <= 100:
            raise self.refuse("size", "a number of chips that is not above 0 and at most 100")
        if not 1 <= self.raises <= _MOST_RAISES:
            raise self.refuse("raises", f"a number of bets and raises that is not from 1 to {_MOST_RAISES}")
        check_words(self, {"check_word": self.check_word, "bet_word": self.bet_word})
        facing = {"fold_word": self.fold_word, "call_word": self.call_word}
        check_words(self, facing if self.raises == 1 else {**facing, "raise_word": self.raise_word})
        if game.seats < 2:
            raise self.refuse("do", "betting for one player")

    def begin(self, state: RoundState) -> None:
        state.memory = (0, *(0 for _ in state.out), *(0 for _ in state.out))
        state.to_act = seats_of(state, "each")[:1]

    def _owes(self, state: RoundState, seat: Seat) -> int:
        """Return how many bets the seat has to match."""
        return state.memory[0] - state.memory[1 + seat]

    def legal(self, state: RoundState, seat: Seat) -> tuple[str, ...]:
        if not self._owes(state, seat):
            return (self.check_word, self.bet_word) if state.memory[0] < self.raises else (self.check_word,)
        facing = self.fold_word, self.call_word
        return (*facing, self.raise_word) if state.memory[0] < self.raises else facing

    def play(self, state: RoundState, actions: Mapping[Seat, str]) -> None:
        ((seat, action),) = actions.items()
        seats = len(state.out)
        raised, matched, acted = state.memory[0], list(state.memory[1 : 1 + seats]), list(state.memory[1 + seats :])
        state.tell(Event("plays", seat, action, state.at))
        owes = raised - matched[seat]
        acted[seat] = 1
        if action == (self.raise_word if owes else self.bet_word):
            raised += 1
            acted = [int(other == seat) for other in range(seats)]
            owes += 1
        elif owes and action == self.fold_word:
            state.leave(seat)
            owes = 0
        matched[seat] += owes
        if owes:
            state.put_in(seat, owes * self.size)
        state.memory = (raised, *matched, *acted)
        if not state.is_decided:
            place = state.order.index(seat)
            after = (*state.order[place + 1 :], *state.order[: place + 1])
            waiting = [other for other in after if not state.out[other] and not acted[other]]
            state.to_act = tuple(waiting[:1])

    def may_leave(self) -> bool:
        return True

    def puts(self, game: GameDescription) -> float:
        return self.size * self.raises

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        return -self.size * self.raises, 0.0

    def words(self) -> tuple[str, ...]:
        raised = (self.raise_word,) if self.raises > 1 else ()
        return tuple(dict.fromkeys((self.check_word, self.bet_word, self.fold_word, self.call_word, *raised)))

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        size = words.amount(self.size)
        facing = {"fold": self.fold_word, "call": self.call_word}
        return [
            words.say("bet.order"),
            words.say("bet.open", check=self.check_word, bet=self.bet_word, size=size),
            *(
                (
                    words.say("bet.facing_raise", **facing, raised=self.raise_word, size=size),
                    words.say("bet.limit", raises=self.raises),
                )
                if self.raises > 1
                else (words.say("bet.facing", **facing), words.say("bet.once"))
            ),
        ]
