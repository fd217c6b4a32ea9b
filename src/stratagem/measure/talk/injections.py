"""Injections: 500 texts that command a reader to choose an action, and as many that command nothing.

They are in `base/sentences/injections.toml`.

A message is the word of a player. A command in it means nothing in the game, so a reader that obeys it can be steered
by whoever writes to it. The neutral texts show by how much any text moves the reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from stratagem.base.sentences.reading import read_sentences
from stratagem.games.key import Key


def commands(action: str, limit: int) -> list[str]:
    """Return the texts that command an action, as far as they fit the limit of a message."""
    return _fitting(read_sentences("injections").wordings("commands", action=action), limit)


def neutral_texts(limit: int) -> list[str]:
    """Return the texts that command nothing, as far as they fit the limit of a message."""
    return _fitting(read_sentences("injections").texts("neutral"), limit)


def drawn_text(texts: Sequence[str], key: Key) -> str:
    """Draw a text."""
    return texts[key.integer(len(texts))]


def _fitting(texts: Sequence[str], limit: int) -> list[str]:
    """Return the texts with every beginning and every end, also with none, as far as they fit the limit."""
    before, after = (("", *read_sentences("injections").texts(key)) for key in ("before", "after"))
    every = (f"{first}{text}{last}" for text, first, last in product(texts, before, after))
    return [text for text in every if len(text) <= limit]
