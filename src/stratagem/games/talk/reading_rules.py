"""Sentences of languages and the rules by which free text is read as one, from `base/sentences/languages.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.sentences.reading import SentenceFile, read_sentences

_PART, _FIELD = re.compile(r"<(\w+)>"), re.compile(r"\{\w+\}")


class Rule(NamedTuple):
    """Sentence of a language with fields, and the phrases that mean it."""

    sentence: str
    phrases: tuple[str, ...]


def languages() -> SentenceFile:
    """Return the sentences of all languages."""
    return read_sentences("languages")


def sentence_of(language: str, name: str) -> str:
    """Return a sentence of a language with its fields."""
    return languages().texts(f"{language}.{name}.sentence")[0]


@lru_cache(maxsize=64)
def rules_of(language: str) -> tuple[Rule, ...]:
    """Return the rules of a language: one for each of its sentences that has phrases."""
    rules = (Rule(sentence_of(language, name), tuple(_phrases(language, name))) for name in languages().table(language))
    return tuple(rule for rule in rules if rule.phrases)


def _phrases(language: str, name: str) -> Iterator[str]:
    """Yield the phrases of a sentence: those of the list that it is like, and its own."""
    file, key = languages(), f"{language}.{name}"
    table = file.table(key)
    if "like" in table:
        (field, *others) = _FIELD.findall(sentence_of(language, name)) or [""]
        if not field or others:
            raise BadParameter(f"{file.name} has `like` in `{key}`, whose sentence needs exactly one field.")
        phrases = file.texts(f"phrases.{table['like']}")
        yield from (_whole(key, phrase.replace("{action}", field)) for phrase in phrases)
    if "phrases" in table:
        yield from (_whole(key, phrase) for phrase in file.texts(f"{key}.phrases"))


def _whole(key: str, phrase: str) -> str:
    """Return a phrase with its parts written out; refused where it is no regular expression."""
    file = languages()
    whole = _PART.sub(lambda part: file.texts(f"parts.{part[1]}")[0], phrase)
    try:
        re.compile(whole)
    except re.error as error:
        raise BadParameter(f"{file.name} has a phrase in `{key}` that is no regular expression: {error}.") from error
    return whole


def spellings_of(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return other ways to write some words, such as the nations."""
    return {word: languages().texts(f"spellings.{name}.{word}") for word in languages().table(f"spellings.{name}")}


def spellings(words: Sequence[str], others: Mapping[str, Sequence[str]] | None = None) -> dict[str, tuple[str, ...]]:
    """Return the spellings of each word of a set: itself, and others that mean it."""
    return {word: (word, *(others or {}).get(word, ())) for word in words}
