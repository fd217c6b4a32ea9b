"""Parts that all walks over tokens share: the forced tokens ahead, and the text of the tokens so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from stratagem.language.decoding.vocabulary import Ids, Vocabulary


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


__all__ = ["forced_tokens", "text_after"]
