"""Safe HTML: text is escaped on entry, and invisible characters are shown by number.

Texts of models, opponents and files are untrusted: they may hold tags, or controls that reverse the order of the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from html import escape
from typing import Any
from unicodedata import category

_PLAIN = re.compile(r"[\n\t\x20-\x7e]*")
_TAG = re.compile(r"[a-z][a-z0-9]*")
_VOID = ("br", "col", "meta", "wbr")
_BREAKS = re.compile(r"(?<=[/_=])(?=\S)|(?<=[.,])(?=[^\s\d])|(?<=[a-z])(?=[A-Z][a-z])")


class Html(str):
    """Markup, which is not escaped again; any other text is."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | bool) -> Html:
    """Make an element; `class_` is written `class`, `aria_label` as `aria-label`, and a False attribute is left out."""
    if not _TAG.fullmatch(tag):
        raise ValueError(f"{tag!r} is no tag")
    attributes_text = "".join(_attribute(name, value) for name, value in attributes.items() if value is not False)
    return Html(f"<{tag}{attributes_text}>" if tag in _VOID else f"<{tag}{attributes_text}>{join(*children)}</{tag}>")


def _attribute(name: str, value: str | bool) -> str:
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(visible(str(value)))}"'


def join(*children: str, by: str = "") -> Html:
    """Join elements and texts."""
    return Html(text(by).join(text(child) for child in children))


def breakable(name: str) -> Html:
    """Escape a name that may break after one of `/._,=` or before a capital, and neither in a word nor in a number."""
    return name if isinstance(name, Html) else join(*_BREAKS.split(name), by=element("wbr"))


def text(words: str) -> Html:
    """Escape a text, with every invisible character as its number in a box."""
    if isinstance(words, Html):
        return words
    if _PLAIN.fullmatch(words):
        return Html(escape(words))
    return Html("".join(_box_character(char) if hides(char) else escape(char) for char in words))


def _box_character(char: str) -> str:
    return f'<span class="odd">{_number(char)}</span>'


def visible(words: str) -> str:
    """Write every invisible character as its number in brackets."""
    return "".join(f"[{_number(char)}]" if hides(char) else char for char in words)


def _number(char: str) -> str:
    return f"U+{ord(char):04X}"


def hides(char: str) -> bool:
    """Return whether a character is a control, a direction, a half or nothing at all, or an unusual line break."""
    return char not in "\n\t" and (category(char)[0] == "C" or category(char) in ("Zl", "Zp"))


def as_json(data: Any) -> Html:
    """Write data for a script element: nothing in it can end the element, and what is not finite is null."""
    words = json.dumps(_finite(data), allow_nan=False, separators=(",", ":"))
    return Html(words.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _finite(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
