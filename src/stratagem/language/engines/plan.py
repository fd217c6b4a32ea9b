"""Order of computation in which shared prefixes of texts are computed once.

A stage is a stretch that at least two texts share and that is long enough to be worth a pass of its own; stages of one
depth go into one pass. What is left of each text is computed in the last pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from stratagem.language.decoding.vocabulary import Ids

WORTH = 24
"""Number of tokens that a stage must save: about the overhead of a pass."""


@dataclass(eq=False)
class ReadingStage:
    """Tokens `start` to `end` of all its texts, which agree that far."""

    texts: list[int]
    start: int
    end: int
    inside: list[ReadingStage] = field(default_factory=list)
    """Stages that go on from this one."""


def stages(texts: Sequence[Ids], group: Sequence[int], start: int) -> list[ReadingStage]:
    """Return the stages of a group of texts that share their first `start` tokens, which are cached already."""
    result = list[ReadingStage]()
    waiting = [(list(group), start, result)] if len(group) > 1 else []
    for some, begun, among in waiting:
        # the last token of each text is left for the last pass, whose logits are asked for
        shared = min(_shared_length(texts, some), min(len(texts[number]) for number in some) - 1)
        if (len(some) - 1) * (shared - begun) >= WORTH:
            made = ReadingStage(some, begun, shared)
            among.append(made)
            begun, among = shared, made.inside
        waiting.extend((part, begun, among) for part in _by_next(texts, some, shared))
    return result


def _by_next(texts: Sequence[Ids], group: Sequence[int], index: int) -> Iterable[list[int]]:
    """Group the texts that go on after an index by their next token."""
    parts: dict[int, list[int]] = {}
    for number in group:
        if len(texts[number]) > index + 1:
            parts.setdefault(texts[number][index], []).append(number)
    return [part for part in parts.values() if len(part) > 1]


def _shared_length(texts: Sequence[Ids], group: Sequence[int]) -> int:
    """Return the number of tokens that all of them share, from the first and the last of them in order."""
    first, last = min(texts[number] for number in group), max(texts[number] for number in group)
    return next(
        (index for index, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(last)),
    )
