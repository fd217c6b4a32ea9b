"""Accuracy of a reader on drawn texts of known meaning, with its interval, its level of chance and its confusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.games.talk import Intent, without_talk
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate
from stratagem.measure.talk.paraphrases import Paraphrase, TextSource, source_of
from stratagem.measure.talk.readers import Model, SentenceReader

_RULES, _MODEL = 400, 60
"""Number of texts by which the accuracy beside a figure is measured, of rules and of a model."""
NOTHING = "none"
"""Name of no sentence in a table of confusions."""


class Read(NamedTuple):
    """Text of known meaning, and what a reader took it to mean."""

    said: Paraphrase
    found: Intent | None

    @property
    def is_right(self) -> bool:
        """True if the reader found the sentence, or found that there is none."""
        return self.found == self.said.intent


@dataclass(frozen=True)
class Accuracy:
    """Texts as a reader read them."""

    reader: str
    texts: tuple[Read, ...]

    @property
    def right(self) -> Estimate:
        """Share of texts that were read rightly; texts of one form count as one cluster."""
        return _share(self.texts)

    def of(self, *kinds: str) -> Estimate:
        """Return the same of some kinds of texts."""
        return _share([text for text in self.texts if text.said.kind in kinds])

    @property
    def chance(self) -> float:
        """Share that would be right if what was found were shuffled among the texts."""
        found, said = (Counter(map(_text, column)) for column in zip(*self._pairs, strict=True))
        return sum(found[text] * said[text] for text in said) / len(self.texts) ** 2

    @property
    def precision(self) -> Estimate | None:
        """Share of the found sentences that were meant; None where nothing was found."""
        found = [text for text in self.texts if text.found is not None]
        return _share(found) if found else None

    @cached_property
    def confusions(self) -> Counter[tuple[str, str]]:
        """Number of texts by the kind of sentence that was meant and the one that was found.

        A sentence of the right kind with another word, such as another card, is `other`.
        """
        return Counter((_kind(said), _found_kind(said, found)) for said, found in self._pairs)

    @property
    def _pairs(self) -> Iterator[tuple[Intent | None, Intent | None]]:
        return ((text.said.intent, text.found) for text in self.texts)


def accuracy(
    reader: SentenceReader, game: Game[Any], number: int = 400, key: Key | None = None, *, held_out: bool = True
) -> Accuracy:
    """Measure a reader on so many drawn texts: those that are held out, or those that rules were written from."""
    if number < 1:
        raise BadParameter(f"The accuracy of a reader needs `number` of at least 1, not {number}.")
    texts = draw_texts(source_of(game, held_out=held_out), number, key or Key(0))
    found = reader.read([(view, text.text) for view, text in texts])
    read = (Read(text, intent) for (_, text), intent in zip(texts, found, strict=True))
    return Accuracy(reader.name, tuple(read))


@lru_cache(maxsize=32)
def accuracy_in_words(reader: SentenceReader, game: Game[Any]) -> str:
    """Return in a sentence how often a reader is right in a game, by texts that are held out."""
    try:
        found = accuracy(reader, without_talk(game), _MODEL if isinstance(reader, Model) else _RULES)
    except CannotCompute:
        return f"The accuracy of the reader {reader.name} is unknown in {game.spec.name}."
    right, means = found.right, found.of("plain")
    return (
        f"The reader {reader.name} is right about {right.mean:.2f} ({right.low:.2f} to {right.high:.2f}) of held-out "
        f"texts of {without_talk(game).spec.name}, by chance {found.chance:.2f}; of those that mean a sentence "
        f"{means.mean:.2f}."
    )


def draw_texts(source: TextSource, number: int, key: Key) -> list[tuple[Any, Paraphrase]]:
    """Return so many texts with the view in which they are said."""
    return [(source.view, source.draw(key.at("text", index))) for index in range(number)]


def _share(texts: Sequence[Read]) -> Estimate:
    return rate(texts, lambda text: text.is_right, lambda _: 1.0, lambda text: text.said.form)


def _text(intent: Intent | None) -> str:
    return "" if intent is None else intent.text


def _kind(intent: Intent | None) -> str:
    return NOTHING if intent is None else type(intent).__name__


def _found_kind(said: Intent | None, found: Intent | None) -> str:
    same = said is not None and found is not None and type(said) is type(found)
    return "other" if same and said != found else _kind(found)
