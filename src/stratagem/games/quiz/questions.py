"""Questions for one seat, each with four answers in a drawn order: what quizzes of all kinds share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stratagem.games.base import Game, RoundResult, Seat, State, View
from stratagem.games.choices import Flat
from stratagem.games.key import Chance

LETTERS = ("A", "B", "C", "D")
_CHOICES = Flat(LETTERS)


class Item(NamedTuple):
    """A question, four answers, and which of them is right."""

    question: str
    answers: tuple[str, ...]
    right: int


def drawn_order(chance: Chance, size: int) -> list[int]:
    """Return the numbers below `size` in a drawn order."""
    left, drawn = list(range(size)), list[int]()
    for index in range(size):
        drawn.append(left.pop(chance.at("order", index).integer(len(left))))
    return drawn


def among(right: str, wrong: Sequence[str], question: str, chance: Chance) -> Item:
    """Return the right answer and three others, in a drawn order."""
    others = [answer for answer in dict.fromkeys(wrong) if answer != right][: len(LETTERS) - 1]
    answers = [right, *others]
    order = drawn_order(chance, len(answers))
    return Item(question, tuple(answers[index] for index in order), order.index(0))


class QuizFacts(NamedTuple):
    """Question that is asked now."""

    question: str
    answers: tuple[str, ...]


class QuizState(State[QuizFacts]):
    """Index of the question; the questions themselves follow from the chance."""

    __slots__ = ("item",)
    state_fields = ("item",)
    game: Questions
    item: tuple[str, tuple[str, ...], int]

    def begin(self) -> None:
        super().begin()
        self.item = self._draw_item()

    def _draw_item(self) -> Item:
        return self.game.draw_item(self.round, self.chance.at("item", self.round))

    def view(self, seat: Seat) -> View[QuizFacts]:
        question, answers, _ = self.item
        return View(self.game, seat, QuizFacts(question, answers))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != {0} or actions[0] not in (*LETTERS, None):
            raise self.refuse(actions)
        right = actions[0] is not None and LETTERS.index(actions[0]) == self.item[2]
        self.round += 1
        if self.round >= (self.game.spec.rounds or 1):
            self.end()
        else:
            self.item = self._draw_item()
        return RoundResult((float(right),))

    def resample(self, seat: Seat, chance: Chance) -> QuizState:
        return self.fork(chance)


@dataclass(frozen=True, kw_only=True)
class Questions(Game[QuizFacts]):
    """Questions with four answers, a point for each that is right."""

    state = QuizState

    @abstractmethod
    def draw_item(self, number: int, chance: Chance) -> Item:
        """Draw a question, by its number in the episode."""

    def choices(self, facts: QuizFacts) -> Flat:
        return _CHOICES

    def all_actions(self) -> tuple[str, ...]:
        return LETTERS

    def info_key(self, facts: QuizFacts) -> str:
        """Return the question: nothing that was asked before matters."""
        return self.situation(facts)

    def vocabulary(self) -> tuple[str, ...]:
        return LETTERS

    def situation(self, facts: QuizFacts) -> str:
        listed = (f"{letter}. {answer}" for letter, answer in zip(LETTERS, facts.answers, strict=True))
        return "\n".join((facts.question, *listed))
