"""Questions for one seat, made up by rule: arithmetic, what became of things that change hands, counting, sequences.

It is no game of strategy. It tells what training in games does to abilities that games do not ask for, with the tools
that measure everything else: the same deals ask two models the same questions, and chance level and error are printed.
The kinds are those of BIG-Bench Hard in which SCO-PAL (Table 2) sees a change: multistep arithmetic, tracking shuffled
objects, object counting, temporal sequences. Every question has four answers, so dice get a quarter of them right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from stratagem.errors import UnknownName
from stratagem.games.base import Game, RoundResult, Seat, State, View
from stratagem.games.choices import Flat
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec
from stratagem.options import whole

LETTERS = ("A", "B", "C", "D")
_CHOICES = Flat(LETTERS)
_NAMES = ("Ana", "Ben", "Cleo", "Dov", "Eve", "Finn")
_THINGS = ("red ball", "blue book", "green hat", "gold coin", "white cup", "black pen")
_HOURS = ("swam", "read a book", "baked bread", "fed the cat", "mended a bicycle", "called a friend")


class Item(NamedTuple):
    """A question, four answers, and which of them is right."""

    question: str
    answers: tuple[str, ...]
    right: int


def _order(chance: Chance, size: int) -> list[int]:
    """The numbers below `size` in a drawn order."""
    left, drawn = list(range(size)), list[int]()
    for place in range(size):
        drawn.append(left.pop(chance.at("order", place).integer(len(left))))
    return drawn


def _among(right: str, wrong: list[str], question: str, chance: Chance) -> Item:
    """The right answer and three others, in a drawn order."""
    others = [answer for answer in dict.fromkeys(wrong) if answer != right][: len(LETTERS) - 1]
    answers = [right, *others]
    order = _order(chance, len(answers))
    return Item(question, tuple(answers[place] for place in order), order.index(0))


def _numbers(right: int, question: str, chance: Chance) -> Item:
    """A number among others near it."""
    far = [right + step for step in (1, -1, 2, -2, 10, -10, 3)]
    picked = [far[place] for place in _order(chance.at("wrong"), len(far))]
    return _among(str(right), [str(number) for number in picked], question, chance)


def arithmetic(chance: Chance) -> Item:
    """Three numbers, two operations, from left to right but for brackets."""
    one, two, three = (1 + chance.at("number", place).integer(12) for place in range(3))
    forms = (
        (f"({one} + {two}) * {three}", (one + two) * three),
        (f"{one} * {two} - {three}", one * two - three),
        (f"{one} + {two} - {three}", one + two - three),
        (f"({one} - {two}) * {three}", (one - two) * three),
    )
    said, value = forms[chance.at("form").integer(len(forms))]
    return _numbers(value, f"What is {said}?", chance)


def tracking(chance: Chance) -> Item:
    """Three people with a thing each, who swap."""
    people = [_NAMES[place] for place in _order(chance.at("people"), len(_NAMES))[:3]]
    things = [_THINGS[place] for place in _order(chance.at("things"), len(_THINGS))[:4]]
    holds = dict(zip(people, things, strict=False))
    said = [f"{name} has the {thing}." for name, thing in holds.items()]
    for swap in range(3):
        first, second = (people[place] for place in _order(chance.at("swap", swap), 3)[:2])
        holds[first], holds[second] = holds[second], holds[first]
        said.append(f"{first} and {second} swap.")
    asked = people[chance.at("asked").integer(3)]
    return _among(holds[asked], things, f"{' '.join(said)} What does {asked} have now?", chance)


def counting(chance: Chance) -> Item:
    """Some of several kinds of things; how many of two of the kinds."""
    kinds = [_THINGS[place] for place in _order(chance.at("kinds"), len(_THINGS))[:4]]
    counts = [1 + chance.at("count", place).integer(5) for place in range(4)]
    listed = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for count, kind in zip(counts, kinds, strict=True))
    question = f"On the table there are {listed}. How many {kinds[0]}s and {kinds[2]}s are there together?"
    return _numbers(counts[0] + counts[2], question, chance)


def sequence(chance: Chance) -> Item:
    """Numbers that go on by a rule: by equal steps, by doubling, or by steps that grow."""
    start, step = 1 + chance.at("start").integer(20), 2 + chance.at("step").integer(11)
    rules: tuple[Callable[[int], int], ...] = (
        lambda place: start + step * place,
        lambda place: start * 2**place,
        lambda place: start + step * place + place * (place - 1) // 2,
    )
    rule = rules[chance.at("rule").integer(len(rules))]
    shown = ", ".join(str(rule(place)) for place in range(5))
    return _numbers(rule(5), f"Which number comes next: {shown}?", chance)


def temporal(chance: Chance) -> Item:
    """What somebody did hour by hour, but for one hour."""
    name = _NAMES[chance.at("name").integer(len(_NAMES))]
    done = [_HOURS[place] for place in _order(chance.at("done"), len(_HOURS))[:4]]
    first = 8 + chance.at("first").integer(6)
    hours = [f"{first + place} to {first + place + 1}" for place in range(4)]
    told = [f"From {hour} {name} {what}." for hour, what in zip(hours, done, strict=True)]
    asked = chance.at("asked").integer(4)
    shuffled = " ".join(told[place] for place in _order(chance.at("told"), 4))
    return _among(hours[asked], hours, f"{shuffled} When was it that {name} {done[asked]}?", chance)


KINDS: Mapping[str, Callable[[Chance], Item]] = MappingProxyType(
    {
        "arithmetic": arithmetic,
        "tracking": tracking,
        "counting": counting,
        "sequence": sequence,
        "temporal": temporal,
    }
)
"""Every kind of question by name."""


class QuizFacts(NamedTuple):
    """The question that is asked now."""

    question: str
    answers: tuple[str, ...]


class QuizState(State[QuizFacts]):
    """Which question it is; the questions themselves follow from the chance."""

    __slots__ = ("item",)
    kept = ("item",)
    game: Quiz
    item: tuple[str, tuple[str, ...], int]

    def begin(self) -> None:
        super().begin()
        self.item = self._drawn()

    def _drawn(self) -> Item:
        kinds = list(KINDS) if self.game.kind == "all" else [self.game.kind]
        return KINDS[kinds[self.round % len(kinds)]](self.chance.at("item", self.round))

    def view(self, seat: Seat) -> View[QuizFacts]:
        question, answers, _ = self.item
        return View(self.game, seat, QuizFacts(question, answers))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != {0} or actions[0] not in (*LETTERS, None):
            raise self.refuse(actions)
        right = actions[0] is not None and LETTERS.index(actions[0]) == self.item[2]
        self.round += 1
        if self.round >= self.game.rounds:
            self.end()
        else:
            self.item = self._drawn()
        return RoundResult((float(right),))

    def resample(self, seat: Seat, chance: Chance) -> QuizState:
        return self.fork(chance)


@dataclass(frozen=True, kw_only=True)
class Quiz(Game[QuizFacts]):
    """Questions with four answers, a point for each that is right."""

    state = QuizState

    kind: str = "all"
    """Which questions: one kind, or all in turn."""
    rounds: int = 10
    """How many an episode asks."""

    def __post_init__(self) -> None:
        whole("The quiz", "rounds", self.rounds, 1)
        if self.kind not in ("all", *KINDS):
            raise UnknownName("kind of question", str(self.kind), ("all", *KINDS))

    @cached_property
    def spec(self) -> GameSpec:
        return GameSpec(
            name="quiz",
            family="quiz",
            summary="Questions for one seat: arithmetic, tracking, counting, sequences; a measure, not a game.",
            reference="after BIG-Bench Hard (Suzgun 2022), as SCO-PAL's Table 2 takes it",
            seats=1,
            simultaneous=False,
            utility="general-sum",
            rounds=self.rounds,
            bounds=(0.0, float(self.rounds)),
            chance=True,
            private_information=False,
            symmetric=True,
            on_illegal="null",
        )

    def choices(self, facts: QuizFacts) -> Flat:
        return _CHOICES

    def info_key(self, facts: QuizFacts) -> str:
        """The question: nothing that was asked before matters."""
        return self.situation(facts)

    def rules(self, seat: Seat) -> str:
        return "You answer questions. Each has four answers, A to D, of which one is right and worth a point."

    def situation(self, facts: QuizFacts) -> str:
        listed = (f"{letter}. {answer}" for letter, answer in zip(LETTERS, facts.answers, strict=True))
        return "\n".join((facts.question, *listed))
