"""Guides as data: what another process needs to walk the same guide from its start.

A guide of another kind is one that this file does not know; whoever sends it has to ask for one token at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.choices import Choices, Flat, Sheet, Slot
from stratagem.games.json_form import JsonForm
from stratagem.games.open_text import OpenText, Pattern
from stratagem.games.templates import Template
from stratagem.language.decoding.guides import After, Free, MarkedGuide, OneToken
from stratagem.language.decoding.line import GrowingLine, OpenLine
from stratagem.language.decoding.pattern import PatternCursor, PatternLine
from stratagem.language.decoding.stopping import StopRule
from stratagem.language.decoding.vocabulary import Vocabulary
from stratagem.language.decoding.walker import Cursor, Walker

Data = dict[str, Any]
"""Guide as JSON."""
_KEPT = 256
"""Number of compiled choices to cache."""


def guide_data(guide: object) -> Data | None:
    """Return a guide as it was before its first token; None where it is of a kind that only this process knows."""
    writer = _WRITERS.get(type(guide))
    return None if writer is None else writer(guide)


class GuideReader:
    """Guides from data, with a tokenizer; choices are compiled once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._walker = lru_cache(_KEPT)(self._compile_choices)
        self._rule = lru_cache(_KEPT)(_stop_rule)

    def read(self, data: Mapping[str, Any]) -> Cursor | Free | GrowingLine | MarkedGuide | OneToken | PatternCursor:
        """Return a guide before its first token."""
        if data["kind"] == "walk":
            return self._walker(_text(data["choices"]), data["left"], data["lead"]).start()
        if data["kind"] == "free":
            rule = self._rule(_text(data["choices"]), data["mid_text"])
            return Free(rule, self.vocabulary, frozenset(data["ends"]), tuple(data["before"]))
        if data["kind"] == "marked":
            return self._read_marked(data)
        if data["kind"] == "line":
            return self._line(_text(data["choices"]), data["left"], frozenset(data["ends"])).start()
        if data["kind"] == "one":
            return OneToken()
        raise BadParameter(f"There is no guide of the kind {data['kind']!r}.")

    def _read_marked(self, data: Mapping[str, Any]) -> MarkedGuide:
        choices = _text(data["choices"])
        ends, before = frozenset(data["ends"]), tuple(data["before"])
        open_text = _choices(choices).is_free

        def compiled(_: Choices, left: str, lead: str) -> Walker | OpenLine | PatternLine:
            return self._line(choices, left, ends) if open_text else self._walker(choices, left, lead)

        after = After(compiled, _choices(choices), data["lead"])
        return MarkedGuide(after, data["mark"], self.vocabulary, ends, data["room"], before)

    def _line(self, choices: str, left: str, ends: frozenset[int]) -> OpenLine:
        open_text = _choices(choices)
        if not isinstance(open_text, OpenText):
            raise BadParameter("A line of open text needs choices of open text.")
        return OpenLine(open_text, self.vocabulary, ends, left)

    def _compile_choices(self, choices: str, left: str, lead: str) -> Walker | PatternLine:
        read = _choices(choices)
        if isinstance(read, OpenText):
            return PatternLine(read, self.vocabulary, left, lead)
        return Walker(read, self.vocabulary, left, lead)


def _walk_data(guide: Cursor | PatternCursor) -> Data | None:
    walker = guide.walker
    choices = _choices_data(walker.choices)
    return choices and {"kind": "walk", "choices": choices, "left": walker.left, "lead": walker.lead}


def _free_data(guide: Free) -> Data | None:
    choices = _choices_data(guide.rule.choices)
    ends, before = sorted(guide.ends), list(guide.before)
    return choices and {
        "kind": "free",
        "choices": choices,
        "mid_text": guide.rule.mid_text,
        "ends": ends,
        "before": before,
    }


def _marked_data(guide: MarkedGuide) -> Data | None:
    after = guide.after
    if not isinstance(after, After) or (choices := _choices_data(after.choices)) is None:
        return None
    return {
        "kind": "marked",
        "choices": choices,
        "lead": after.lead,
        "mark": guide.mark,
        "ends": sorted(guide.ends),
        "room": guide.room,
        "before": list(guide.before),
    }


def _line_data(guide: GrowingLine) -> Data | None:
    line = guide.walker
    return {"kind": "line", "choices": _choices_data(line.choices), "left": line.left, "ends": sorted(line.ends)}


def _one_data(guide: OneToken) -> Data:
    return {"kind": "one"}


_WRITERS: dict[type, Callable[[Any], Data | None]] = {
    Cursor: _walk_data,
    Free: _free_data,
    GrowingLine: _line_data,
    MarkedGuide: _marked_data,
    OneToken: _one_data,
    PatternCursor: _walk_data,
}
"""Functions that write a guide as data, by its class; a subclass may differ, so it is not written."""


@lru_cache(_KEPT)
def _choices_data(choices: Choices) -> Data | None:
    """Return choices as data; None where a class of its own reads replies in its own way."""
    if type(choices) is Flat:
        return {"actions": list(choices.actions)}
    if type(choices) is Sheet:
        return {"slots": [[slot.name, list(slot.options)] for slot in choices.slots], "fill": choices.fill}
    if type(choices) is OpenText:
        patterns = [_pattern_data(pattern) for pattern in choices.patterns]
        open_text = {"ready": list(choices.ready.actions), "limit": choices.limit, "heads": list(choices.heads)}
        return None if None in patterns else open_text | ({"patterns": patterns} if patterns else {})
    return None


def _pattern_data(pattern: Pattern) -> Data | None:
    """Return a pattern as data; None where it is of a class that only this process knows."""
    if type(pattern) is Template:
        return {"template": pattern.text, "pieces": [list(piece) for piece in pattern.pieces]}
    return {"schema": pattern.text} if type(pattern) is JsonForm else None


def _pattern(data: Mapping[str, Any]) -> Pattern:
    if "schema" in data:
        return JsonForm(data["schema"])
    return Template(data["template"], tuple(tuple(piece) for piece in data["pieces"]))


def _text(choices: Mapping[str, Any]) -> str:
    """Return choices as a text, by which they are cached."""
    return json.dumps(choices)


@cache
def _choices(text: str) -> Choices:
    data = json.loads(text)
    if "actions" in data:
        return Flat(data["actions"])
    if "ready" in data:
        return OpenText(data["ready"], data["limit"], data["heads"], map(_pattern, data.get("patterns", ())))
    return Sheet([Slot(name, tuple(options)) for name, options in data["slots"]], data["fill"])


def _stop_rule(choices: str, mid_text: bool) -> StopRule:
    return StopRule(_choices(choices), mid_text)
