"""Paraphrases: drawn texts of known meaning for the language of a game, with denied and hostile ones among them.

The texts are in `base/sentences/paraphrases.toml`. The phrases of the rules were written from those seen. Those
that are held out were written afterwards, and the rules were not changed for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.base.sentences.reading import SentenceFile, read_sentences
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.games.talk import Intent, language_of, without_talk
from stratagem.games.talk.language import Language
from stratagem.games.talk.reading_rules import sentence_of
from stratagem.measure.talk.injections import drawn_text, neutral_texts

_FIELD = re.compile(r"\{(\w+)\}")
_RARE = 6
"""One of so many held-out texts has a word that no rule knows."""
_NAME = 3
"""Letters up to which a word is a name, which is written in capitals."""
_KINDS = ("plain", "plain", "plain", "denied", "hostile", "unrelated")
"""Kinds of texts, as often as they are drawn."""


class SentenceTexts(NamedTuple):
    """Texts of one sentence, with the fields of the sentence."""

    seen: tuple[str, ...]
    held_out: tuple[str, ...]
    means: bool = True
    """False for texts that only seem to mean it: denied, asked about or considered."""


@dataclass(frozen=True)
class Paraphrase:
    """Text and its meaning."""

    text: str
    intent: Intent | None
    """Sentence that it means; None where it means none."""
    kind: str
    """Plain, denied, hostile or unrelated."""
    form: str
    """Text with its fields, from which it was made: texts of one form are not independent."""


@dataclass(frozen=True)
class TextSource:
    """Source of texts for one position of a game."""

    view: View[Any]
    """View of the game without talk in which sentences are said."""
    held_out: bool = True
    """True for texts from which no rule was written."""

    def draw(self, key: Key) -> Paraphrase:
        """Draw a text; half of them mean a sentence."""
        kind = _KINDS[key.at("kind").integer(len(_KINDS))]
        if kind == "unrelated":
            text = drawn_text(neutral_texts(200), key.at("text"))
            return Paraphrase(text, None, kind, text)
        if kind == "hostile":
            sentence = self._intents[key.at("intent").integer(len(self._intents))].text
            hostile = texts_named("hostile")
            form = _one(hostile.held_out if self.held_out else hostile.seen, key.at("form"))
            return Paraphrase(form.replace("{sentence}", sentence), None, kind, form)
        return self._draw_meaning(kind, key)

    def _draw_meaning(self, kind: str, key: Key) -> Paraphrase:
        """Draw a text that means a sentence, or that only seems to."""
        fitting = [pair for pair in texts_of(self.view.game) if pair[1].means is (kind == "plain")]
        sentence, texts = fitting[key.at("sentence").integer(len(fitting))]
        found = ((intent, fields_of(sentence, intent.text)) for intent in self._intents)
        intents = [(intent, words) for intent, words in found if words and self._are_of_sets(words)]
        if not intents:
            raise CannotCompute(f"{self.view.game.spec.name} offers no sentence like {sentence!r} here.")
        intent, words = intents[key.at("intent").integer(len(intents))]
        form = _one(texts.held_out if self.held_out else texts.seen, key.at("form"))
        text = self._fill_form(form, words, key.at("words"))
        return Paraphrase(text, intent if texts.means else None, kind, form)

    def _are_of_sets(self, words: Mapping[str, str]) -> bool:
        """Return whether each word is one of its field's set: `I will {vote}` does not make `I will play FAIL`."""
        sets = self._language.sets()
        return all(word in sets.get(name, (word,)) for name, word in words.items())

    @property
    def _intents(self) -> tuple[Intent, ...]:
        return self._language.intents(self.view)

    @property
    def _language(self) -> Language[Any]:
        return language_of(self.view.game)

    def _fill_form(self, form: str, words: Mapping[str, str], key: Key) -> str:
        """Return a form with a spelling of each word."""
        spelt = {name: self._spelling(name, word, key.at(name)) for name, word in words.items()}
        if "{other}" in form:
            labels = self._language.sets()["action"]
            spelt["other"] = next(label for label in labels if label != words["action"]).lower()
        return _FIELD.sub(lambda field: spelt[field[1]], form)

    def _spelling(self, name: str, word: str, key: Key) -> str:
        rare = _words("other_words", word)
        if self.held_out and rare and key.at("rare").integer(_RARE) == 0:
            return _one(rare, key.at("word"))
        plain = word.title() if name == "power" else word.lower() if len(word) > _NAME else word
        return _one((word, plain, *_words("words", word)), key.at("word"))


def texts_of(game: Game[Any]) -> tuple[tuple[str, SentenceTexts], ...]:
    """Return the texts of a game's language, each with the sentence that they mean or seem to mean.

    Refused where there are none.
    """
    game = without_talk(game)
    families, family = _file().table("games"), game.spec.family
    if family not in families:
        raise CannotCompute(f"There are texts of known meaning for {', '.join(families)}, and none for {family}.")
    return _texts_of(family, language_of(game).key)


@lru_cache(maxsize=64)
def _texts_of(family: str, language: str) -> tuple[tuple[str, SentenceTexts], ...]:
    names = _file().texts(f"games.{family}")
    return tuple((sentence_of(language, _file().table(f"texts.{n}").get("of", n)), texts_named(n)) for n in names)


@lru_cache(maxsize=64)
def texts_named(name: str) -> SentenceTexts:
    """Return the texts of a name in the file."""
    key = f"texts.{name}"
    means = bool(_file().table(key).get("means", True))
    return SentenceTexts(_file().texts(f"{key}.seen"), _file().texts(f"{key}.held_out"), means)


def _words(table: str, word: str) -> tuple[str, ...]:
    return _file().texts(f"{table}.{word}") if word in _file().table(table) else ()


def _file() -> SentenceFile:
    return read_sentences("paraphrases")


def source_of(game: Game[Any], *, held_out: bool = True) -> TextSource:
    """Return the source of texts at the first position of a game."""
    texts_of(game)
    inner = without_talk(game)
    state = inner.start(Key(0))
    return TextSource(state.view(state.to_act[0]), held_out)


def fields_of(sentence: str, text: str) -> dict[str, str]:
    """Return the words with which a sentence with fields makes a text; empty where it does not."""
    pattern = _FIELD.sub(
        lambda field: f"(?P<{field[1]}>.+)", re.escape(sentence).replace(r"\{", "{").replace(r"\}", "}")
    )
    found = re.fullmatch(pattern, text)
    return found.groupdict() if found else {}


def _one(items: tuple[str, ...] | list[str], key: Key) -> str:
    return items[key.integer(len(items))]


__all__ = ["Paraphrase", "SentenceTexts", "TextSource", "source_of", "texts_named", "texts_of"]
