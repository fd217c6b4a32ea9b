"""Formal language of a game's talk: sentences whose meaning the rules know, so that a lie or a promise can be measured.

A sentence about a state is true, false or unknown, by what its speaker knows when it speaks. A promise about a move has
no truth value: it is kept or broken by a later decision of its speaker. A request is the same about the reader's move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeVar

from stratagem.games.base import Game, Said, Seat, State, View
from stratagem.games.reading import by_plain, plain, unwrap_line
from stratagem.games.talk.reading_rules import Rule, languages, rules_of, spellings

F = TypeVar("F")
Kind = Literal["state", "move", "ask", "word"]
KINDS: tuple[Kind, ...] = ("state", "move", "ask")
"""Kinds of sentences with a meaning: about a state, about the speaker's move, about the reader's move."""


@dataclass(frozen=True)
class Intent:
    """One sentence of a language; by itself it is a word without a meaning."""

    text: str
    kind: ClassVar[Kind] = "word"

    @property
    def form(self) -> str:
        """Name of its form; sentences of one form differ in one value, and each can be said in place of another."""
        return self.kind


class Statement(Intent):
    """Sentence about the state of the game."""

    kind: ClassVar[Kind] = "state"

    def truth(self, view: View[Any]) -> bool | None:
        """Return whether it is true by what this view shows of the game; None where the view does not tell."""
        raise NotImplementedError


class Promise(Intent):
    """Sentence about the speaker's next move; it binds the first decision at which its condition holds."""

    kind: ClassVar[Kind] = "move"

    def kept(self, view: View[Any], action: str) -> bool | None:
        """Return whether an action in this situation keeps it; None where its condition does not hold there."""
        raise NotImplementedError

    def lapses(self, view: View[Any]) -> bool:
        """Return whether it is over after the turn of this situation, bound or not; by default it stays open."""
        return False


class MoveRequest(Promise):
    """Sentence about the reader's next move, which the reader meets or does not."""

    kind: ClassVar[Kind] = "ask"


@dataclass(frozen=True)
class Plays(Promise):
    """Promise of one action: kept by it, broken by another where it is legal, void where it is not."""

    action: str

    def kept(self, view: View[Any], action: str) -> bool | None:
        return action == self.action if self.action in view.choices else None


@dataclass(frozen=True)
class Asks(MoveRequest):
    """Request for one action: met by it, refused by another where it is legal, void where it is not."""

    action: str

    def kept(self, view: View[Any], action: str) -> bool | None:
        return action == self.action if self.action in view.choices else None


class Language(Generic[F]):
    """Sentences of one game, made with the game, and when its seats may talk."""

    rules: ClassVar[type[Any]] = object
    """Class of the games that it fits, where it is found by the family of a game."""
    key: ClassVar[str] = "any"
    """Name of its table in `base/sentences/languages.toml`."""
    turn: ClassVar[str] = "turn"
    """Name of the turns before which seats may talk."""

    def __init__(self, game: Game[F]) -> None:
        self.game = game

    def intents(self, view: View[F]) -> tuple[Intent, ...]:
        """Return the sentences that a seat may say now; they follow from what every seat knows."""
        return self.every

    @cached_property
    def every(self) -> tuple[Intent, ...]:
        """All sentences that the game ever offers."""
        return tuple(self.sentences())

    def sentences(self) -> Iterable[Intent]:
        """Yield all sentences; a language that cannot list them overrides `intents` and `read`."""
        return ()

    def talkers(self, state: State[F]) -> tuple[Seat, ...]:
        """Return the seats that may send messages before this turn: by default all."""
        return tuple(range(self.game.spec.seats))

    def occasion(self, state: State[F]) -> int:
        """Return the number of what the messages of now are about: by default the round."""
        return state.round

    def partners(self, state: State[F]) -> tuple[Seat, Seat] | None:
        """Return the two seats that the rules make partners against the others; by default there are none."""
        return None

    def files(self, state: State[F], messages: Sequence[Said]) -> Iterator[tuple[str, str]]:
        """Yield name and text of the files that show the game; by default they leave the messages out."""
        return state.files()

    def sets(self) -> dict[str, tuple[str, ...]]:
        """Return the sets that templates name in their fields; by default the actions of the game."""
        actions = self.game.all_actions()
        return {"action": actions} if actions else {}

    def spellings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return by set how each of its words may be written in free text."""
        return {name: spellings(words) for name, words in self.sets().items()}

    def rules_of_reading(self) -> tuple[Rule, ...]:
        """Return the rules by which free text is read as a sentence; by default those of promised and asked actions."""
        return rules_of(self.key) or rules_of("any")

    @classmethod
    def say(cls, name: str, **words: object) -> str:
        """Return a sentence of the language, with words in its fields."""
        return languages().sentence(f"{cls.key}.{name}.sentence", **words)

    def read(self, text: str) -> Intent | None:
        """Return the sentence that a text is, exactly but for case, spaces and closing marks; None where it is none."""
        return self._by_text.get(plain(text)) or self._by_text.get(plain(unwrap_line(text)))

    @cached_property
    def _by_text(self) -> dict[str, Intent]:
        known = {intent.text: intent for intent in self.every}
        spelt = by_plain(known) | {plain(unwrap_line(text)): text for text in known}
        return {spelling: known[text] for spelling, text in spelt.items()}
