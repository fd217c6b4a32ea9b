"""Rules of a talk: its options, and what a seat may say to whom."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

from stratagem.base.errors import BadParameter
from stratagem.base.options import whole
from stratagem.games.abilities import SpeakingGame
from stratagem.games.base import Game, Seat, View
from stratagem.games.choices import Choices, Flat
from stratagem.games.json_form import json_form
from stratagem.games.key import Key
from stratagem.games.open_text import LONGEST, OpenText, Pattern
from stratagem.games.reading import plain
from stratagem.games.talk.catalogue import language_of
from stratagem.games.talk.language import KINDS, Intent, Language
from stratagem.games.talk.message import ALL, SILENT, Message, Naming, TalkFacts
from stratagem.games.templates import Template, template_of
from stratagem.games.text_parts import num_texts, texts_of

CHANNELS, ORDERS, TIMES = ("public", "private", "both"), ("together", "in turn"), ("turn", "round")
_FEW = 200
"""Number of texts up to which a template is the set of its texts."""


@dataclass(frozen=True, kw_only=True)
class TalkRules(SpeakingGame[TalkFacts], ABC):
    """Options of a talk, and its messages."""

    has_talk = True
    largest: ClassVar = {"rounds": 20, "interval": 10_000, "limit": LONGEST, "templates": 16}

    game: Game[Any]
    """Game without talk."""
    rounds: int = 1
    """Number of exchanges of messages before a turn."""
    channel: Literal["public", "private", "both"] = "public"
    """Readers of a message: every seat, one seat, or either as the sender says."""
    order: Literal["together", "in turn"] = "together"
    """Order of speaking: all seats at once, or one after another."""
    before: Literal["turn", "round"] = "turn"
    """Occasion to talk: before each turn, or at the beginning of each round."""
    interval: int = 1
    """Number of turns, or of rounds, from one talk to the next."""
    who: tuple[Seat, ...] = ()
    """Seats that may speak; all by default."""
    intents: tuple[str, ...] = KINDS
    """Kinds of sentences of the game's language that can be said: state, move, ask."""
    words: tuple[str, ...] = ()
    """Further sentences, which mean nothing by themselves."""
    limit: int = 0
    """Largest number of characters of a message of open text; 0 for none."""
    templates: tuple[str, ...] = ()
    """Further sentences with fields, such as `I will play {action}`; a field is a set of the language or `{yes|no}`."""
    schema: str = ""
    """JSON schema of further messages; empty for none."""

    @property
    def inner(self) -> Game[Any]:  # type: ignore[override]  # a property may not replace an attribute that can be set
        return self.game

    def __post_init__(self) -> None:
        if isinstance(self.game, TalkRules):
            raise BadParameter("talk goes around a game without talk, and only once.")
        whole("talk", "rounds", self.rounds, 1)
        whole("talk", "interval", self.interval, 1)
        whole("talk", "limit", self.limit, 0)
        if self.limit > LONGEST:
            raise BadParameter(f"talk needs `limit` of at most {LONGEST} characters, not {self.limit}.")
        for option, allowed in (("channel", CHANNELS), ("order", ORDERS), ("before", TIMES)):
            if getattr(self, option) not in allowed:
                raise BadParameter(
                    f"talk needs `{option}` as one of {', '.join(allowed)}, not {getattr(self, option)!r}."
                )
        self._read_lists()
        if not (self.limit or self.further or self.patterns or self._has_language()):
            raise BadParameter(
                f"{self.game.spec.name} has no language of these kinds: give talk `words` or a `limit` for open text."
            )
        if self.limit and (self.templates or self.schema):
            raise BadParameter("talk takes `limit` for free text, or `templates` and a `schema` that constrain it.")

    def _read_lists(self) -> None:
        """Make tuples of the options that are lists, and refuse what they cannot hold."""
        seats = range(self.game.spec.seats)
        who = tuple(seats) if _as_tuple(self.who) == () else _as_tuple(self.who)
        object.__setattr__(self, "who", tuple(sorted(set(who))))
        object.__setattr__(self, "intents", tuple(map(str, _as_tuple(self.intents))))
        object.__setattr__(self, "words", tuple(map(str, _as_tuple(self.words))))
        object.__setattr__(self, "templates", tuple(map(str, _as_tuple(self.templates))))
        object.__setattr__(self, "schema", json_form(self.schema).text if self.schema else "")
        if any(type(seat) is not int or seat not in seats for seat in who):
            raise BadParameter(f"talk needs `who` as seats from 0 to {len(seats) - 1}, not {self.who!r}.")
        if any(kind not in KINDS for kind in self.intents):
            raise BadParameter(f"talk needs `intents` among {', '.join(KINDS)}, not {self.intents!r}.")
        if any(not word.isprintable() or word != " ".join(word.split()) or not word for word in self.words):
            raise BadParameter(f"talk needs `words` of one plain line each, not {self.words!r}.")
        said = [plain(text) for text in (SILENT, *(i.text for i in self.spoken_language.every), *self.words)]
        if len(set(said)) < len(said):
            raise BadParameter(f"talk needs `words` that differ from each other, from {SILENT} and from the language.")

    @property
    def options(self) -> dict[str, Any]:
        """Options that are not the default."""
        defaults = {field.name: field.default for field in fields(self)} | {"who": tuple(range(self.game.spec.seats))}
        named = {name: getattr(self, name) for name in defaults if name != "game"}
        return {name: value for name, value in named.items() if value != defaults[name]}

    def _has_language(self) -> bool:
        state = self.game.start(Key(0))
        return any(self.sayable(state.view(seat)) for seat in self.who)

    @cached_property
    def spoken_language(self) -> Language[Any]:
        """Language of the game."""
        return language_of(self.game)

    @cached_property
    def forgets(self) -> bool:
        """True if messages are forgotten with their round, since rounds know nothing of each other."""
        return self.game.spec.independent_rounds > 0

    @cached_property
    def naming(self) -> Naming:
        """Names of the seats in messages."""
        return Naming(self.game.spec.seat_names, self.game.spec.seats)

    @cached_property
    def addresses(self) -> bool:
        """True if a message names its reader."""
        return self.game.spec.seats > 2 and self.channel != "public"

    @cached_property
    def _forms(self) -> tuple[Template, ...]:
        """Templates with the sets of their fields."""
        sets = {**self.spoken_language.sets(), "seat": self.naming.names}
        return tuple(template_of(text, sets) for text in self.templates)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """Constraints of open text: templates of many texts, and the schema."""
        many = [form for form in self._forms if num_texts(form.part) > _FEW]
        return (*many, *([json_form(self.schema)] if self.schema else []))

    @cached_property
    def further(self) -> tuple[str, ...]:
        """Sentences that mean nothing by themselves: the words, and what templates of few texts make."""
        few = (text for form in self._forms if num_texts(form.part) <= _FEW for text in texts_of(form.part))
        offered = (intent.text for intent in self.spoken_language.every if intent.kind in self.intents)
        known = {plain(text) for text in (SILENT, *offered, *self.words)}
        return (*self.words, *dict.fromkeys(text for text in few if plain(text) not in known))

    def sayable(self, inner: View[Any]) -> tuple[Intent, ...]:
        """Return the sentences that a seat with this view of the game can say."""
        return tuple(intent for intent in self.spoken_language.intents(inner) if intent.kind in self.intents)

    def lines(self, inner: View[Any]) -> Choices:
        """Return what a seat with this view of the game may say."""
        texts = (*(intent.text for intent in self.sayable(inner)), *self.further)
        return _lines(texts, self.heads(inner.seat), self.limit, self.patterns)

    def heads(self, seat: Seat) -> tuple[str, ...]:
        """Return the beginnings of a seat's messages that name their readers; none where all read everything."""
        if not self.addresses:
            return ()
        readers = [other for other in range(self.game.spec.seats) if other != seat]
        return tuple(self.naming.head(to) for to in ([ALL] if self.channel == "both" else []) + readers)

    def message(self, number: int, sender: Seat, line: str) -> Message:
        """Return the message that a legal line of a talk sends in the round of this number."""
        if line == SILENT:
            return Message(number, sender, sender if self.addresses else ALL, "")
        if not self.addresses:
            return Message(number, sender, ALL, line)
        readers = [ALL, *range(self.game.spec.seats)]
        to = next(to for to in readers if line.startswith(self.naming.head(to)))
        return Message(number, sender, to, line[len(self.naming.head(to)) :])


@lru_cache(maxsize=4096)
def _lines(texts: tuple[str, ...], heads: tuple[str, ...], limit: int, patterns: tuple[Pattern, ...]) -> Choices:
    ready = (SILENT, *(f"{head}{text}" for head in heads or ("",) for text in texts))
    return OpenText(ready, limit, heads, patterns) if limit or patterns else Flat(ready)


def _as_tuple(value: object) -> tuple[Any, ...]:
    """Return an option that is a list, or one value in place of one."""
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
