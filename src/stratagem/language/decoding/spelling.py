"""Spelling of a text after a context: one sequence of tokens a text, checked by decoding it.

Tokenisation depends on what stands before: a tokenizer may join the end of the prompt and the start of the action into
one token, or put a space before the first word. What stands before is already written and stays as it is, so the tokens
of the action are taken from an encoding in context where that leaves the context alone, and otherwise from the encoding
of the action by itself; either counts only when the whole, decoded, is the context followed by the action.

Each text has this one spelling and no other. That keeps the exact policy well-defined: the probability of an action is
the product along one path, where admitting every way to cut it into tokens would add up thousands of paths, most of
which no model was trained to write.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stratagem.base.errors import StratagemError
from stratagem.language.decoding.vocabulary import Ids, Vocabulary

_REACH = 12
"""Number of characters before a text that can matter for its tokens."""
_MOST = 1 << 17
"""Number of cached spellings for one context: far more than there are orders in Diplomacy."""


class Unspellable(StratagemError):
    """A legal action that the tokenizer cannot write."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"This tokenizer cannot write the action {text!r}: its tokens read back as something else, "
            "so choose another tokenizer or action labels that it keeps as they are."
        )


def end_of(left: str) -> str:
    """Return the part of the left context that spelling looks at; after a line break nothing earlier matters."""
    return "\n" if left.endswith("\n") else left[-_REACH:]


def spell(vocabulary: Vocabulary, texts: Sequence[str], left: str) -> list[Ids]:
    """Return the tokens of each text after `left`, cached."""
    known = vocabulary.spelt.setdefault(left, {})
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    if missing:
        if len(known) > _MOST:
            known.clear()
            missing = list(dict.fromkeys(texts))
        known.update(_spell(vocabulary, missing, left))
    return [known[text] for text in texts]


def _spell(vocabulary: Vocabulary, texts: Sequence[str], left: str) -> dict[str, Ids]:
    result: dict[str, Ids] = {}
    for before in dict.fromkeys((left, "", "\n")):
        missing = [text for text in texts if text not in result]
        if not missing:
            return result
        result.update(_attempt(vocabulary, missing, left, before))
    for text in texts:
        if text not in result:
            raise Unspellable(text)
    return result


def _attempt(vocabulary: Vocabulary, texts: Sequence[str], left: str, before: str) -> Iterable[tuple[str, Ids]]:
    """Encode after `before`, and store each encoding that decodes as it should after `left`."""
    head, written = vocabulary.encode(before), vocabulary.encode(left)
    rows = vocabulary.encode_all([before + text for text in texts])
    cut = [(text, row[len(head) :]) for text, row in zip(texts, rows, strict=True) if row[: len(head)] == head]
    usable = [(text, ids) for text, ids in cut if ids and vocabulary.end not in ids]
    read, start = vocabulary.decode_all([written + ids for _, ids in usable]), vocabulary.decode(written)
    return [(text, tuple(ids)) for (text, ids), whole in zip(usable, read, strict=True) if whole == start + text]
