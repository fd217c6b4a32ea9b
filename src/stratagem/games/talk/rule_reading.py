"""Reading of free text by rules: phrases of a language, with fields for its words, outside of quotes and denials.

A rule has a sentence of the language and the phrases that mean it. In both `{action}` stands for any word of a set, and
in a phrase `~` for up to three words that deny nothing. A text means a sentence if all phrases that are found in its
clauses mean that one. A clause that denies the phrase, quotes it, asks about it or only considers it means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any

from stratagem.games.base import Game
from stratagem.games.disguise.substitution import forms
from stratagem.games.doubt import is_doubtful
from stratagem.games.talk.catalogue import language_of
from stratagem.games.talk.language import Intent, Language, MoveRequest
from stratagem.games.talk.reading_rules import Rule

_FIELD = re.compile(r"\{(\w+)\}")
_GAP = r"(?:(?!(?:not|never|no|nothing)\b)[\w'-]+ ){0,3}?"
_CLAUSES = re.compile(r"(?<=[.!?;])\s+|\s*;\s*|, (?:so|because|since) | but |, (?:and |(?=i do not))", re.IGNORECASE)
_SHORTEST = 3
"""Letters from which on a word is found in any case and inflection."""
_CONTRACTED = (
    (r"[’`]", "'"),
    (r"\bwon't\b", "will not"),
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"n't\b", " not"),
    (r"\bgonna\b", "going to"),
    (r"'ll\b", " will"),
    (r"\bi'm\b", "i am"),
    (r"\bi've\b", "i have"),
    (r"\bi'd\b", "i would"),
    (r"\bwe're\b", "we are"),
    (r"\bit's\b", "it is"),
    (r"\blet's\b", "let us"),
    (r"\s+", " "),
)
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_DICTATED = re.compile(
    r"\b(?:repeat|say|write|wrote|print|answer|reply|output|translate|ignore|quote|meaning|you think|is it true)\b",
    re.IGNORECASE,
)
"""Beginnings of a clause that dictates or reports what follows."""
_RULED_OUT = re.compile(r"\bout of the question\b", re.IGNORECASE)
_PROPOSED = re.compile(r"shall we\b", re.IGNORECASE)


class RuleReader:
    """Reader of the texts of one language by its rules."""

    def __init__(self, language: Language[Any]) -> None:
        self.language = language
        self._words = language.spellings()

    def read(self, text: str) -> Intent | None:
        """Return the sentence that a text means; None where it means none, or several."""
        if (exact := self.language.read(text)) is not None:
            return exact
        meant = dict.fromkeys(
            intent for clause in _CLAUSES.split(expand_text(text)) for intent in self._read_clause(clause)
        )
        return next(iter(meant)) if len(meant) == 1 else None

    def _read_clause(self, clause: str) -> Iterator[Intent]:
        """Yield what the phrases in a clause mean, without those inside a longer one."""
        found = [(match, rule) for rule, pattern in self._patterns for match in pattern.finditer(clause)]
        reach = -1
        for match, rule in sorted(found, key=lambda one: (one[0].start(), -one[0].end())):
            if match.end() > reach and (intent := self._intent(rule, match)) is not None:
                reach = match.end()
                if not _is_denied(clause, match.span(), intent):
                    yield intent

    def _intent(self, rule: Rule, match: re.Match[str]) -> Intent | None:
        """Return the sentence of a rule with the words that were found; None where the language has none such."""
        words = {name: self._value(name, said) for name, said in match.groupdict().items() if said}
        return self.language.read(_FIELD.sub(lambda field: words.get(field[1], ""), rule.sentence))

    def _value(self, field: str, said: str) -> str:
        """Return the word of a set that a spelling stands for; the longest spelling that fits."""
        fitting = [(len(how), value) for value, hows in self._words[field].items() for how in hows if _fits(how, said)]
        return max(fitting)[1]

    @cached_property
    def _patterns(self) -> list[tuple[Rule, re.Pattern[str]]]:
        return [
            (rule, re.compile(rf"\b{self._pattern(phrase)}(?![\w-])", re.IGNORECASE))
            for rule in self.language.rules_of_reading()
            for phrase in rule.phrases
        ]

    def _pattern(self, phrase: str) -> str:
        """Return a phrase as a pattern."""
        return _FIELD.sub(lambda field: f"(?P<{field[1]}>{self._any(field[1])})(?:'s)?", phrase.replace("~ ", _GAP))

    def _any(self, field: str) -> str:
        spelt = sorted({how for hows in self._words[field].values() for how in hows}, key=len, reverse=True)
        return "|".join(map(_spelling_pattern, spelt))


def expand_text(text: str) -> str:
    """Return a text on one line, with contractions written out and numbers in figures."""
    for pattern, plain in _CONTRACTED:
        text = re.sub(pattern, plain, text, flags=re.IGNORECASE)
    for number, word in enumerate(_NUMBERS):
        text = re.sub(rf"\b{word}\b", str(number), text, flags=re.IGNORECASE)
    return text.strip()


@lru_cache(maxsize=4096)
def _spelling_pattern(how: str) -> str:
    """Return a spelling as a pattern: in any case and inflection, unless it is short."""
    if len(how) < _SHORTEST:
        return rf"(?-i:{re.escape(how)})"
    if not how.isalpha():
        return re.escape(how).replace(re.escape("~ "), _GAP)
    return "|".join(sorted(map(re.escape, forms(how.lower())), key=len, reverse=True))


@lru_cache(maxsize=4096)
def _fits(how: str, said: str) -> bool:
    return re.fullmatch(_spelling_pattern(how), said, re.IGNORECASE) is not None


def _is_denied(clause: str, span: tuple[int, int], intent: Intent) -> bool:
    """Return whether a clause denies a phrase, quotes it, asks about it, only considers it, or dictates it."""
    proposes = isinstance(intent, MoveRequest) or _PROPOSED.match(clause)
    said = clause.rstrip(" ?") if proposes else clause
    return is_doubtful(said, [span]) or bool(_DICTATED.search(clause[: span[0]]) or _RULED_OUT.search(clause))


@lru_cache(maxsize=256)
def rule_reader(game: Game[Any]) -> RuleReader:
    """Return the reader of the language of a game by rules."""
    return RuleReader(language_of(game))


__all__ = ["Rule", "RuleReader", "expand_text", "rule_reader"]
