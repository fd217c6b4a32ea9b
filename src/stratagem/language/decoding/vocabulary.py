"""Tokenizer interface of decoding, and wrappers that implement it.

Nothing else of a tokenizer is used: text to token ids, token ids to text, and the id that ends a reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

from stratagem.base.errors import BadParameter

Ids = tuple[int, ...]
"""Token ids in order."""


class Vocabulary(Protocol):
    """Tokenizer as decoding sees it: no special tokens are added, and none are hidden."""

    spelt: dict[str, dict[str, Ids]]
    """Cached spellings by context; filled by `spelling`, empty at first."""

    @property
    def size(self) -> int:
        """Number of token ids."""
        ...

    @property
    def end(self) -> int:
        """Token that ends a reply."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        ...

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of many texts, in one batch."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        ...

    def decode_all(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Return the texts of many rows of tokens, in one batch."""
        ...


class TokenizersVocabulary:
    """A `tokenizers.Tokenizer` that nobody else sets padding on; the backend of a transformers tokenizer is not one."""

    def __init__(self, tokenizer: Any, end: int) -> None:
        if tokenizer.padding is not None or tokenizer.truncation is not None:
            raise BadParameter("A tokenizer for decoding must not pad or truncate: call no_padding and no_truncation.")
        self._tokenizer = tokenizer
        self.end = end
        self.spelt: dict[str, dict[str, Ids]] = {}

    @property
    def size(self) -> int:
        return int(self._tokenizer.get_vocab_size(with_added_tokens=True))

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        return [row.ids for row in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=False))

    def decode_all(self, rows: Sequence[Sequence[int]]) -> list[str]:
        return list(self._tokenizer.decode_batch([list(row) for row in rows], skip_special_tokens=False))


class TransformersVocabulary:
    """A transformers tokenizer of any kind; `end` where a reply ends with another token than the text does."""

    def __init__(self, tokenizer: Any, end: int | None = None) -> None:
        self._tokenizer = tokenizer
        self.end = int(tokenizer.eos_token_id) if end is None else end
        self.spelt: dict[str, dict[str, Ids]] = {}

    @property
    def size(self) -> int:
        return len(self._tokenizer)

    def encode(self, text: str) -> list[int]:
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        settings = {"add_special_tokens": False, "return_attention_mask": False}
        return [list(row) for row in self._tokenizer(list(texts), **settings)["input_ids"]] if texts else []

    def decode(self, ids: Sequence[int]) -> str:
        settings = {"skip_special_tokens": False, "clean_up_tokenization_spaces": False}
        return str(self._tokenizer.decode(list(ids), **settings))

    def decode_all(self, rows: Sequence[Sequence[int]]) -> list[str]:
        return [self.decode(row) for row in rows]


class TokenWalk(Protocol):
    """Walk token by token."""

    @property
    def allowed(self) -> Ids: ...
    def fork(self) -> Self: ...
    def advance(self, token: int) -> None: ...


def forced_tokens(walk: TokenWalk) -> list[int]:
    """Return the tokens that must come next, up to the next choice or the end."""
    run, ahead = list[int](), walk.fork()
    while len(allowed := ahead.allowed) == 1:
        ahead.advance(allowed[0])
        run.append(allowed[0])
    return run


def text_after(vocabulary: Vocabulary, left: str, tokens: Sequence[int]) -> str:
    """Return the text of some tokens, decoded after a left context."""
    before = vocabulary.encode(left)
    return vocabulary.decode([*before, *tokens])[len(vocabulary.decode(before)) :]
