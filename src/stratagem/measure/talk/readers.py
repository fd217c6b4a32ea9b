"""Readers of free text: from the text of a message to a sentence of the game's language.

`exact` reads the sentences themselves. `rules` reads the phrases that a language declares. `model(PLAYER)` lets a
player that states its probabilities, such as a language model, give each sentence one; the most likely is taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.registry import parse_call
from stratagem.games.base import View
from stratagem.games.bounded import make_bounded_game
from stratagem.games.talk import Intent, language_of
from stratagem.games.talk.reading_task import NONE, ReadingTask
from stratagem.games.talk.rule_reading import rule_reader
from stratagem.players.base import Player, stated_by
from stratagem.players.catalogue import make_player

Heard = tuple[View[Any], str]
"""View of the speaker in the game without talk, and the text of its message."""
_BATCH = 32
"""Number of texts that a model reads at once."""
READERS = ("exact", "rules", "model")
"""Readers by name; the last goes around a player."""


class SentenceReader(ABC):
    """Function from texts to sentences."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Text that names it."""

    @abstractmethod
    def read(self, heard: Sequence[Heard]) -> list[Intent | None]:
        """Return the sentence that each text means; None where it means none."""

    def one(self, view: View[Any], text: str) -> Intent | None:
        """Return the sentence that one text means."""
        return self.read([(view, text)])[0]


class Exact(SentenceReader):
    """Reads the sentences of the language, but for case, spaces and closing marks."""

    name = "exact"

    def read(self, heard: Sequence[Heard]) -> list[Intent | None]:
        return [language_of(view.game).read(text) for view, text in heard]


EXACT = Exact()


class PhraseReader(SentenceReader):
    """Reads the phrases that the language declares."""

    name = "rules"

    def read(self, heard: Sequence[Heard]) -> list[Intent | None]:
        return [rule_reader(view.game).read(text) for view, text in heard]


@dataclass(frozen=True)
class Model(SentenceReader):
    """Reads by a player's most likely answer among the sentences that the speaker could say, and none."""

    player: Player

    @property
    def name(self) -> str:
        return f"model({self.player.name})"

    def read(self, heard: Sequence[Heard]) -> list[Intent | None]:
        parts = (heard[start : start + _BATCH] for start in range(0, len(heard), _BATCH))
        return [intent for part in parts for intent in self._read(part)]

    def _read(self, heard: Sequence[Heard]) -> list[Intent | None]:
        offered = [language_of(view.game).intents(view) for view, _ in heard]
        views = [
            ReadingTask(game=view.game).ask_view(text, tuple(intent.text for intent in intents))
            for (view, text), intents in zip(heard, offered, strict=True)
        ]
        answers = [max(mix, key=lambda sentence: mix[sentence]) for mix in stated_by(self.player, views)]
        known = [{intent.text: intent for intent in intents} for intents in offered]
        return [None if answer == NONE else by_text[answer] for answer, by_text in zip(answers, known, strict=True)]


@lru_cache(maxsize=32)
def make_reader(text: str) -> SentenceReader:
    """Make the reader that a text names: `exact`, `rules` or `model(PLAYER)`."""
    if not isinstance(text, str):
        raise BadParameter(f"A reader is named by a text, such as rules, not by {text!r}.")
    call = parse_call(text)
    if call.name not in READERS:
        raise UnknownName("reader", call.name, READERS)
    if call.name != "model":
        return EXACT if call.name == "exact" else PhraseReader()
    if len(call.args) != 1 or call.kwargs:
        raise BadParameter("A model reads as model(PLAYER): write model(smollm2).")
    player = make_player(str(call.args[0]), ReadingTask(game=make_bounded_game("ipd")))
    if not (player.traits.reads_words and player.traits.exact):
        raise BadParameter(f"{player.name} cannot read: take a language model that states its probabilities.")
    return Model(player)
