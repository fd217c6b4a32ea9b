"""Lines that name an action and do not choose it: negated, quoted, asked or only considered.

A reply is never guessed. `Not PASS.` is not PASS, and `You said "BET"` is not BET: such lines are ambiguous, hence
illegal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from stratagem.games.doubt_words import HEDGES, LEADS, NEGATIONS, PHRASES, SIGNS

Span = tuple[int, int]
"""Position of an action in a line."""

_DENYING = re.compile("|".join([rf"\b(?:{'|'.join(PHRASES)})\b", *map(re.escape, SIGNS)]))
_EMPHATIC = re.compile(
    r"\b(?:no|without(?: a| any)?|beyond) (?:doubts?|hesitation|question|other(?: choice| option)?|choice|problem)\b"
)
"""Negations that deny nothing of the action."""
_LIMITS = re.compile(r"\b(?:no|nothing|not) (?:more|less|further|else|higher|lower|other)\b")
"""The same after an action: `5, and no more`."""
_WORD = re.compile(r"[^\W\d_]+(?:['’ʼ`][^\W\d_]+)*")
_CONTRACTED = re.compile(r"n['’ʼ`]t$|^n['’ʼ`]")
_PAIRS = ('""', "“”", "„“", "„”", "«»", "»«", "‹›", "「」", "『』", "‘’")
_QUOTED = re.compile("|".join([*(f"{two[0]}[^{two}]*{two[1]}" for two in _PAIRS), r"(?<!\w)'[^']*'(?!\w)"]))
_MARKS = "([{*_`\"'“‘ "


def is_doubtful(line: str, spans: Iterable[Span]) -> bool:
    """Return whether a line that names one action denies it, quotes it, asks for it or only considers it."""
    places = sorted(spans)
    before, after = line[: places[0][0]], line[places[-1][1] :]
    between = "".join(line[left[1] : other[0]] + " " for left, other in pairwise(places))
    return (
        _denies(_EMPHATIC.sub(" ", _spelt(before)))
        or _denies(_LIMITS.sub(" ", _EMPHATIC.sub(" ", _spelt(between + after))))
        or any(mark in after for mark in "?？")
        or before.strip(_MARKS) == "!"
        or _quotes(line, places)
    )


def _spelt(text: str) -> str:
    return " ".join(text.casefold().split())


def _denies(text: str) -> bool:
    doubted = any(word in NEGATIONS or word in HEDGES or _CONTRACTED.search(word) for word in _WORD.findall(text))
    return bool(doubted or _DENYING.search(text))


def _quotes(line: str, places: list[Span]) -> bool:
    """Return whether the action stands in quotation marks, and not as an answer that is given so."""
    quoted = [
        (start, end)
        for start, end in (match.span() for match in _QUOTED.finditer(line))
        if any(start < place[0] and place[1] < end for place in places)
    ]
    if not quoted:
        return False
    start, end = quoted[0]
    alone = not _WORD.search(line[start : places[0][0]] + " " + line[places[0][1] : end])
    led = set(_WORD.findall(line[:start].casefold())) <= LEADS
    return not (alone and led and not _WORD.search(line[end:]))
