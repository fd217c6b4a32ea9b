"""Reader of the files of sentences: TOML tables of texts, read once, whose mistakes name the file and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from stratagem.base.errors import BadParameter

_FIELD = re.compile(r"\{(\w+)\}")
Wordings = tuple[str, ...]
"""Texts of which any can be said."""


class SentenceFile:
    """Texts of one file by key, such as `kuhn.held.J`: single sentences, and lists of wordings."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        try:
            self._data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadParameter(f"{name} is no TOML: {error}.") from error
        for key, value in _leaves(self._data):
            self._check(key, value)

    def _check(self, key: str, value: object) -> None:
        """Refuse what is neither a text, nor a list of texts, nor a yes or no."""
        texts = value if isinstance(value, list) else [value]
        if not isinstance(value, bool) and not (texts and all(_is_text(text) for text in texts)):
            raise BadParameter(f"{self.name} needs `{key}` as a sentence or a list of sentences, not {value!r}.")

    @cached_property
    def _texts(self) -> dict[str, Wordings]:
        return {
            key: tuple(value) if isinstance(value, list) else (value,)
            for key, value in _leaves(self._data)
            if not isinstance(value, bool)
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tables and texts at the top of the file."""
        return tuple(self._data)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def table(self, key: str) -> Mapping[str, Any]:
        """Return a table of the file."""
        found: Any = self._data
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise BadParameter(f"{self.name} needs the table `[{key}]`.")
        return found

    def texts(self, key: str) -> Wordings:
        """Return the wordings of a key as they are written."""
        if key not in self._texts:
            raise BadParameter(f"{self.name} needs `{key}` as a sentence or a list of sentences.")
        return self._texts[key]

    def wordings(self, key: str, **words: object) -> Wordings:
        """Return the wordings of a key with words in their fields."""
        texts = self.texts(key)
        return tuple(self._fill_words(key, text, words) for text in texts) if words else texts

    def sentence(self, key: str, **words: object) -> str:
        """Return the one sentence of a key with words in its fields, each of which it needs."""
        first, *others = self.texts(key)
        if others:
            raise BadParameter(f"{self.name} needs `{key}` as one sentence, not {len(others) + 1}.")
        if missing := sorted({*words} - {*_FIELD.findall(first)}):
            raise BadParameter(f"{self.name} needs {{{missing[0]}}} in `{key}`.")
        return self._fill_words(key, first, words)

    def _fill_words(self, key: str, text: str, words: Mapping[str, object]) -> str:
        if unknown := sorted({*_FIELD.findall(text)} - {*words}):
            known = ", ".join(f"{{{word}}}" for word in sorted(words)) or "none"
            raise BadParameter(f"{self.name} has {{{unknown[0]}}} in `{key}`, where the fields are {known}.")
        return _FIELD.sub(lambda field: str(words[field[1]]), text)


@cache
def read_sentences(name: str, package: str = __package__) -> SentenceFile:
    """Return a file of sentences of a package, by default of this one; it is read once."""
    return SentenceFile(f"{name}.toml", files(package).joinpath(f"{name}.toml").read_text("utf-8"))


def _leaves(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value by its dotted key; a list of tables is no text, and is refused by its key."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _is_text(text: object) -> bool:
    return isinstance(text, str) and text.isprintable() and bool(text.strip())


__all__ = ["SentenceFile", "Wordings", "read_sentences"]
