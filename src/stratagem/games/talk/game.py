"""Talk before the turns of any game: seats send messages, which change nothing but what the others have read.

A game with talk has the moves, the payoffs and the hidden information of the game without it (cheap talk, Crawford and
Sobel 1982). Its views hold the messages that the seat may see, so the check of hidden information covers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Claim, Seat, View
from stratagem.games.choices import Choices
from stratagem.games.disguise.substitution import Substitution, lemma
from stratagem.games.disguise.vocabulary import action_words, entry_of, known_words, vocabulary_of
from stratagem.games.spec import GameSpec
from stratagem.games.talk.language import Statement
from stratagem.games.talk.message import MOVE, SILENT, Message, TalkFacts, key_of, own_first
from stratagem.games.talk.rules import TalkRules
from stratagem.games.talk.state import TalkState

_WITHOUT = ", without talking"
"""Words of the story of a game without talk."""


@dataclass(frozen=True, kw_only=True)
class Talk(TalkRules):
    """A game with messages before its turns."""

    state = TalkState

    @cached_property
    def spec(self) -> GameSpec:
        spec, together = self.game.spec, self.order == "together" and len(self.who) > 1
        hides = spec.seats > 2 and self.channel != "public"
        return replace(
            spec,
            name=f"talk({spec.name})",
            summary=f"{spec.summary.rstrip('.')}, with messages before its {self._occasion}s.",
            simultaneous=spec.simultaneous or together,
            private_information=spec.private_information or hides,
            independent_rounds=self._independent_rounds,
            symmetric=spec.symmetric and together and len(self.who) == spec.seats and not self.addresses,
        )

    @property
    def _independent_rounds(self) -> int:
        """Number of kinds of rounds; 0 where who speaks, or first, tells rounds apart in which seats have other parts.

        With an interval some rounds have no talk.
        """
        kinds = self.game.spec.independent_rounds
        alike = self.order == "together" and len(self.who) == self.game.spec.seats
        return kinds if self.interval == 1 and alike else 0

    def inner_view(self, facts: TalkFacts) -> View[Any]:
        """Return what a seat would see without talk."""
        return View(self.game, facts.seat, facts.inner)

    def choices(self, facts: TalkFacts) -> Choices:
        inner = self.inner_view(facts)
        return inner.choices if facts.exchange == MOVE else self.lines(inner)

    def all_actions(self) -> tuple[str, ...]:
        return ()

    def default_action(self, facts: TalkFacts) -> str:
        return self.game.default_action(facts.inner) if facts.exchange == MOVE else SILENT

    def silence(self, facts: TalkFacts) -> str | None:
        return None if facts.exchange == MOVE else SILENT

    def claim(self, facts: TalkFacts, message: str) -> Claim | None:
        if facts.exchange == MOVE:
            return None
        inner, sent = self.inner_view(facts), self.message(facts.round, facts.seat, message)
        said = self.spoken_language.read(sent.text) if sent.text else None
        if not isinstance(said, Statement):
            return None
        head = message[: len(message) - len(sent.text)]
        alike = [other for other in self.sayable(inner) if isinstance(other, Statement) and other.form == said.form]
        truths = tuple(f"{head}{other.text}" for other in alike if other.truth(inner))
        others = [seat for seat in range(self.game.spec.seats) if seat != facts.seat]
        return Claim(said.truth(inner), truths, tuple(seat for seat in others if sent.seen_by(seat)))

    def info_key(self, facts: TalkFacts) -> str:
        return f"{self.game.info_key(facts.inner)}{self._key_of_talk(facts, facts.messages)}{self._wait(facts)}"

    def state_key(self, facts: TalkFacts) -> str:
        """Return the key of the game with what was said in this round; older messages change nothing that follows."""
        return f"{self.game.state_key(facts.inner)}{self._key_of_talk(facts, facts.of_round)}{self._wait(facts)}"

    def _wait(self, facts: TalkFacts) -> str:
        """Return what is left of the interval as a part of a key."""
        return f" wait {facts.wait}" if self.interval > 1 else ""

    def _key_of_talk(self, facts: TalkFacts, messages: Sequence[Message]) -> str:
        """Return the talk as a part of a key."""
        seats = self.game.spec.seats
        then = ",".join(str((mover - facts.seat) % seats) for mover in facts.movers)
        stands = "" if facts.exchange == MOVE else f" talk {facts.exchange} then {then}"
        if self.spec.independent_rounds > 1:  # the part of a seat in a round, not its number, is in the key
            messages = own_first(messages, facts.seat, seats)
        return stands + key_of(messages, facts.seat, seats)

    def vocabulary(self) -> tuple[str, ...]:
        if self.limit or self.patterns:
            raise CannotCompute(
                "What is said in open text has no other words: a disguise needs talk without a `limit` or a `schema`."
            )
        own = vocabulary_of(self.game)
        renamed = Substitution(dict.fromkeys(own, "x"))
        texts = (*(intent.text for intent in self.spoken_language.every), *self.further, SILENT)
        said = dict.fromkeys(word for text in texts for word in action_words(text) if renamed(word) == word)
        entries = (*own, *dict.fromkeys(entry_of(word) for word in said))
        known = {lemma(word).casefold() for word in entries}
        holding = _holding(entries[len(own) :], sorted(known_words(self.game) - known))
        return (*entries, *holding)

    def rules(self, seat: Seat) -> str:
        return f"{self.game.rules(seat).replace(_WITHOUT, '')}\n{self._rules_of_talk(seat)}"

    @property
    def _occasion(self) -> str:
        """Name of what messages come before."""
        return self.spoken_language.turn if self.before == "turn" else self.before

    def _rules_of_talk(self, seat: Seat) -> str:
        """Return the rules of the talk in words."""
        often = f"every {self.interval} {self._occasion}s" if self.interval > 1 else f"each {self._occasion}"
        times = "" if self.rounds == 1 else f", {self.rounds} times"
        order = ", all at the same time" if self.order == "together" else ", one after another"
        order = order if len(self.who) > 1 else ""
        readers = {
            "public": "Every player reads it.",
            "private": "Only the player that it is sent to reads it.",
            "both": "It is sent to one player, who alone reads it, or to all.",
        }[self.channel if self.game.spec.seats > 2 else "public"]
        return (
            f"Before {often} {self._speakers(seat)} may send messages{times}{order}. {readers} Messages cost nothing "
            f"and bind nobody; {SILENT} sends none. What a message says is the word of its sender, and no part of "
            "these rules."
        )

    def _speakers(self, seat: Seat) -> str:
        """Return who may speak, as it is told to a seat."""
        seats = self.game.spec.seats
        if len(self.who) == seats:
            return "players"
        names = [self.naming.names[who] for who in self.who]
        one = "you" if seat in self.who else "the other player"
        return f"{one if seats == 2 else ' and '.join(names)} alone"

    def situation(self, facts: TalkFacts) -> str:
        told = [self.game.situation(facts.inner)]
        if facts.messages:
            told += ["Messages so far:", *(self.naming.line(message, facts.seat) for message in facts.messages)]
        if facts.exchange != MOVE:
            told.append("You may now send a message; the move comes after.")
        return "\n".join(told)


def _holding(said: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the words that hold a word of the talk, as `highest` holds `high`; they are renamed too."""
    renamed = Substitution(dict.fromkeys(said, "x"))
    return [word for word in words if renamed(word) == word and renamed.remaining(word)]
