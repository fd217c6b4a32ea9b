"""Lines that name an action and do not choose it: negated, quoted, asked or only considered.

A reply is never guessed. `Not PASS.` is not PASS, and `You said "BET"` is not BET: such lines are ambiguous, hence
illegal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

_NEGATIONS = """
not no never none neither nor nothing nobody without cannot dont wont cant wouldnt shouldnt couldnt isnt wasnt didnt
doesnt arent hardly barely scarcely refuse refuses refused refusing avoid avoids avoided avoiding decline declines
declined declining reject rejects rejected rejecting except besides unlike doubt doubts doubtful unlikely forbid
forbidden illegal wrong mistake opposite contrary stop stopped quit nope nah nay against
nicht nein kein keine keinen keiner niemals nie nichts weder ohne
ne pas non jamais rien aucun sans
nunca jamás jamas ni nada tampoco sin não nao nem sem mai nemmeno neppure senza
niet geen nooit zonder ikke inte aldrig nej nu niciodată hiç değil hayır tidak bukan jangan không đừng
не нет ни никогда нельзя без ні ніколи δεν μην όχι
"""
_HEDGES = """
maybe perhaps possibly might could if unless whether unsure undecided considering considered consider consideration
tempted tempting hypothetically wonder wondering hesitate hesitant depends suppose supposing imagine pretend almost
nearly anything
vielleicht möglicherweise wenn falls ob peut être si quizás quizas tal acaso talvez forse wellicht misschien måske
kanske может возможно если belki mungkin
"""
_PHRASES = """
instead of|rather than|far from|would have|should have|used to|as if|think about|thinking about|im gegenteil|anstatt
statt|au lieu|en lugar|en vez|invece di|вместо
"""
_SIGNS = """
不 没 沒 別 别 非 勿 無 无 莫 ない ません なく じゃな ぬ 안 않 말 아니 못
لا لن لم ليس नहीं मत לא אל ไม่ อย่า ~~ ≠ != ¬ ❌ 🚫 ✗ ✘
"""
_LEADS = """
my the a final answer action move choice decision order orders bid demand offer response reply number is so then
therefore thus ok okay well i ll m will choose choosing pick picking play playing select selecting take taking go
going with do would be to am here now
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Words by which an action is denied."""
HEDGES = frozenset(_HEDGES.split())
"""Words by which an action is only considered."""
PHRASES = tuple(phrase for line in _PHRASES.split("\n") for phrase in line.split("|") if phrase)
"""The same in several words."""
SIGNS = tuple(_SIGNS.split())
"""The same in scripts without spaces, and as signs."""
LEADS = frozenset(_LEADS.split())
"""Words that may stand before an action in quotation marks: `My answer is "BET"`."""


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
        _denies(_EMPHATIC.sub(" ", _spell_doubt(before)))
        or _denies(_LIMITS.sub(" ", _EMPHATIC.sub(" ", _spell_doubt(between + after))))
        or any(mark in after for mark in "?？")
        or before.strip(_MARKS) == "!"
        or _quotes(line, places)
    )


def _spell_doubt(text: str) -> str:
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
