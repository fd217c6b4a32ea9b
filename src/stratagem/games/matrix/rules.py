"""Repeated matrix games of two seats: simultaneous moves, payoffs from a table, labels of the actions as a parameter.

A null action (no legal reply) pays its seat the lowest payoff of the table minus one, discards the other seat's
transition, uses up the round and enters nobody's history (ShapeLLM).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, product
from math import isfinite
from typing import Any, ClassVar, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.options import whole, within
from stratagem.games.base import Game, RoundResult, Seat, State, View
from stratagem.games.choices import Flat
from stratagem.games.counting import count_in_words, in_words
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec, Utility

Payoffs = tuple[tuple[tuple[float, float], ...], ...]


class MatrixFacts(NamedTuple):
    """Knowledge of a seat: the moves of every round that counted, as indices, its own and the other's."""

    seat: Seat
    labels: tuple[str, ...]
    their_labels: tuple[str, ...]
    mine: tuple[int, ...]
    theirs: tuple[int, ...]
    round: int


class MatrixState(State[MatrixFacts]):
    """The moves so far of the rounds that counted."""

    __slots__ = ("moves",)
    state_fields = record_fields = ("moves",)
    game: MatrixGame

    def __init__(self, game: MatrixGame, chance: Chance) -> None:
        super().__init__(game, chance)
        self.moves: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    def view(self, seat: Seat) -> View[MatrixFacts]:
        (first, second), (own, other) = self.moves, self.game.labels_by_seat
        if seat == 0:
            return View(self.game, seat, MatrixFacts(seat, own, other, first, second, self.round))
        return View(self.game, seat, MatrixFacts(seat, other, own, second, first, self.round))

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        rows, columns = self.game.indices
        try:
            first, second = rows[actions[0]], columns[actions[1]]
        except (KeyError, TypeError):
            raise self.refuse(actions) from None
        if self.over or len(actions) != 2:
            raise self.refuse(actions)
        result = self._nothing(first, second) if first is None or second is None else self._pay(first, second)
        self._next_round()
        return result

    def _pay(self, first: int, second: int) -> RoundResult:
        mine, theirs = self.moves
        self.moves = (*mine, first), (*theirs, second)
        return self.game.results[first][second]

    def _nothing(self, *indices: int | None) -> RoundResult:
        silent = tuple(index is None for index in indices)
        payoffs = tuple(self.game.null_payoff if mute else 0.0 for mute in silent)
        return RoundResult(payoffs, keep=silent)

    def _next_round(self) -> None:
        self.round += 1
        if self.round >= self.game.rounds or self._stops():
            self.end()

    def _stops(self) -> bool:
        """Return whether the game ends before its last round; that is drawn unless it is certain."""
        goes_on = self.game.continuation
        if goes_on in (0.0, 1.0):
            return goes_on == 0.0
        return self.chance.at("continue", self.round).choose((goes_on, 1.0 - goes_on)) == 1

    def resample(self, seat: Seat, chance: Chance) -> MatrixState:
        return self.fork(chance)


@dataclass(frozen=True, kw_only=True)
class MatrixGame(Game[MatrixFacts]):
    """A table of payoffs, played again and again."""

    state = MatrixState
    largest: ClassVar = {"payoffs": 32, "rounds": 10_000, "continuation": 1}

    name: str = "matrix"
    payoffs: Payoffs
    """Payoffs of seats 0 and 1, as `payoffs[row][column]`."""
    labels: tuple[str, ...] = ("A", "B")
    """Action names of seat 0, and of seat 1 where it has no labels of its own."""
    labels_second: tuple[str, ...] | None = None
    """Action names of seat 1; None gives it those of seat 0."""
    rounds: int = 20
    """Largest number of rounds."""
    continuation: float = 1.0
    """Probability that another round follows, up to `rounds`."""
    cooperative: bool = False
    """True if the first action of each seat is the cooperative one; the safety signals need to know."""
    story: str = "Two players choose at the same time, again and again, without talking."
    story_words: tuple[str, ...] = ()
    """Words of the story that a disguise renames, beside the labels."""
    summary: str = "A repeated matrix game of your own."
    """One line for the catalogue; `{payoffs}`, `{rounds}` and `{often}` in it stand for those of the game."""
    reference: str = ""

    def __post_init__(self) -> None:
        self._check_texts()
        object.__setattr__(self, "payoffs", _as_table(self.payoffs))
        object.__setattr__(self, "labels", tuple(str(label) for label in self.labels))
        if self.labels_second is not None:
            object.__setattr__(self, "labels_second", tuple(str(label) for label in self.labels_second))
        rows, columns = len(self.payoffs), len(self.payoffs[0])
        if len(self.labels) != rows or len(set(self.labels)) != rows:
            raise BadParameter(
                f"{self.name} has {rows} rows, so `labels` must be {rows} different names, not {self.labels}."
            )
        second = self.seat_labels(1)
        if len(second) != columns or len(set(second)) != columns:
            raise BadParameter(
                f"{self.name} has {columns} columns, so seat 1 needs {columns} different labels "
                f"in `labels_second`, not {second}."
            )
        if any(not label or "/" in label or label != " ".join(label.split()) for label in (*self.labels, *second)):
            raise BadParameter(f"{self.name} needs plain labels without a slash, not {(*self.labels, *second)}.")
        whole(self.name, "rounds", self.rounds, 1)
        within(self.name, "continuation", self.continuation, 0.0, 1.0)

    def _check_texts(self) -> None:
        """Refuse texts that are none, and make a tuple of the words of the story."""
        words: Any = self.story_words
        object.__setattr__(self, "story_words", (words,) if isinstance(words, str) else tuple(map(str, words)))
        for option in ("name", "story", "summary", "reference"):
            if not isinstance(value := getattr(self, option), str):
                raise BadParameter(f"A matrix game needs `{option}` as a text, not {value!r}.")
        if not isinstance(self.cooperative, bool):
            raise BadParameter(f"{self.name} needs `cooperative` as True or False, not {self.cooperative!r}.")

    def seat_labels(self, seat: Seat) -> tuple[str, ...]:
        """Return the names of this seat's actions."""
        return self.labels if seat == 0 or self.labels_second is None else self.labels_second

    @cached_property
    def labels_by_seat(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Action names of both seats."""
        return self.seat_labels(0), self.seat_labels(1)

    @cached_property
    def indices(self) -> tuple[dict[str | None, int | None], dict[str | None, int | None]]:
        """Row of each action of seat 0, and column of each of seat 1; None of a null action."""
        first, second = ({None: None, **{name: at for at, name in enumerate(own)}} for own in self.labels_by_seat)
        return first, second

    @cached_property
    def results(self) -> tuple[tuple[RoundResult, ...], ...]:
        """Result of each cell."""
        return tuple(tuple(RoundResult(cell) for cell in row) for row in self.payoffs)

    @cached_property
    def lowest(self) -> float:
        """The lowest payoff in the table."""
        return min(pay for row in self.payoffs for cell in row for pay in cell)

    @cached_property
    def null_payoff(self) -> float:
        """Payoff of a seat without a legal action."""
        return self.lowest - 1.0

    @cached_property
    def spec(self) -> GameSpec:
        highest = max(pay for row in self.payoffs for cell in row for pay in cell)
        return GameSpec(
            name=self.name,
            family="ipd" if self.cooperative and len(self.labels) == len(self.seat_labels(1)) == 2 else "matrix",
            summary=self._summary(),
            reference=self.reference,
            simultaneous=True,
            utility=self._utility(),
            rounds=self.rounds,
            bounds=(min(0.0, self.null_payoff) * self.rounds, max(0.0, highest) * self.rounds),
            chance=0.0 < self.continuation < 1.0 and self.rounds > 1,
            private_information=False,
            symmetric=self._symmetric(),
            on_illegal="null",
        )

    def _summary(self) -> str:
        rounds = self.rounds if self.continuation else 1
        cut = "up to " if self.continuation < 1.0 and rounds > 1 else ""
        told = {
            "{payoffs}": ", ".join(f"{pay:g}" for pay in sorted({*chain(*chain(*self.payoffs))}, reverse=True)),
            "{rounds}": f"{cut}{count_in_words(rounds, 'round')}",
            "{often}": "once" if rounds == 1 else f"{cut}{in_words(rounds)} times",
        }
        summary = self.summary
        for field, text in told.items():
            summary = summary.replace(field, text)
        return summary

    def _utility(self) -> Utility:
        cells = [cell for row in self.payoffs for cell in row]
        if all(a == b for a, b in cells):
            return "common"
        return "zero-sum" if all(a + b == 0 for a, b in cells) else "general-sum"

    def _symmetric(self) -> bool:
        size = range(len(self.payoffs))
        square = len(self.payoffs) == len(self.payoffs[0]) and self.labels_second in (None, self.labels)
        return square and all(self.payoffs[i][j] == self.payoffs[j][i][::-1] for i in size for j in size)

    def choices(self, facts: MatrixFacts) -> Flat:
        return self._choices[facts.seat]

    def all_actions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.seat_labels(0), *self.seat_labels(1))))

    @cached_property
    def _choices(self) -> tuple[Flat, Flat]:
        return Flat(self.seat_labels(0)), Flat(self.seat_labels(1))

    def state_key(self, facts: MatrixFacts) -> str:
        """Return the last joint action, one's own first: the memory of a memory-one strategy."""
        return joint(facts, facts.mine[-1], facts.theirs[-1]) if facts.mine else "start"

    def info_key(self, facts: MatrixFacts) -> str:
        names = _joints(facts.labels, facts.their_labels)
        pairs = [names[mine][theirs] for mine, theirs in zip(facts.mine, facts.theirs, strict=True)]
        return f"seat {facts.seat} round {facts.round}: {' '.join(pairs)}"

    def pay(self, seat: Seat, mine: str, theirs: str) -> tuple[float, float]:
        """Return the payoffs of a seat and of the other when they play these labels."""
        own, other = self.seat_labels(seat).index(mine), self.seat_labels(1 - seat).index(theirs)
        cell = self.payoffs[own][other] if seat == 0 else self.payoffs[other][own]
        return cell[seat], cell[1 - seat]

    def vocabulary(self) -> tuple[str, ...]:
        labels = dict.fromkeys((*self.seat_labels(0), *self.seat_labels(1)))
        return (*(label for label in labels if label.isalpha()), *self.story_words)

    def rules(self, seat: Seat) -> str:
        lines = [self.story, "What you and the other player get in a round:"]
        for mine, theirs in product(self.seat_labels(seat), self.seat_labels(1 - seat)):
            own, other = self.pay(seat, mine, theirs)
            lines.append(f"- you {mine}, they {theirs}: you {own:g}, they {other:g}")
        return "\n".join(lines)

    def situation(self, facts: MatrixFacts) -> str:
        if not facts.mine:
            return "No round has been played yet."
        rows = zip(facts.mine, facts.theirs, strict=True)
        played = (f"{n}. you {facts.labels[a]}, they {facts.their_labels[b]}" for n, (a, b) in enumerate(rows, 1))
        return "The rounds so far:\n" + "\n".join(played)


def joint(facts: MatrixFacts, mine: int, theirs: int) -> str:
    """Return a joint action as the seat names it, its own first."""
    return _joints(facts.labels, facts.their_labels)[mine][theirs]


@lru_cache(maxsize=256)
def _joints(labels: tuple[str, ...], their_labels: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return all joint actions; a long game names the same few again and again."""
    return tuple(tuple(f"{mine}/{theirs}" for theirs in their_labels) for mine in labels)


def _as_table(rows: Any) -> Payoffs:
    try:
        # the sum makes 0.0 of -0.0: equal games have equal texts
        table = tuple(tuple((float(cell[0]) + 0.0, float(cell[1]) + 0.0) for cell in row) for row in rows)
    except (TypeError, ValueError, LookupError, OverflowError):
        raise BadParameter(
            "`payoffs` must be rows of cells, each cell the two seats' payoffs: [[(3, 3), (0, 5)], [(5, 0), (1, 1)]]."
        ) from None
    if not table or not table[0] or len({len(row) for row in table}) != 1:
        raise BadParameter("`payoffs` must have rows of equal length, at least one cell each.")
    if not all(isfinite(pay) for row in table for cell in row for pay in cell):
        raise BadParameter("`payoffs` must be finite numbers, neither nan nor inf.")
    return table
