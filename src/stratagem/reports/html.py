"""HTML that what it holds cannot break: text is escaped where it enters, and characters that hide are shown by number.

What models, opponents and files say is not ours: it may hold tags, or controls that reverse the order of what is read.
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
_VOID = ("br", "col", "meta")


class Html(str):
    """Markup, which is not escaped again; any other text is."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | bool) -> Html:
    """An element; `class_` is written `class`, `aria_label` as `aria-label`, and an attribute that is False not."""
    if not _TAG.fullmatch(tag):
        raise ValueError(f"{tag!r} is no tag")
    told = "".join(_attribute(name, value) for name, value in attributes.items() if value is not False)
    return Html(f"<{tag}{told}>" if tag in _VOID else f"<{tag}{told}>{join(*children)}</{tag}>")


def _attribute(name: str, value: str | bool) -> str:
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(visible(str(value)))}"'


def join(*children: str, by: str = "") -> Html:
    """Elements and texts one after another."""
    return Html(text(by).join(text(child) for child in children))


def text(said: str) -> Html:
    """Text as markup: escaped, and with every hiding character as its number in a box."""
    if isinstance(said, Html):
        return said
    if _PLAIN.fullmatch(said):
        return Html(escape(said))
    return Html("".join(_boxed(char) if hides(char) else escape(char) for char in said))


def _boxed(char: str) -> str:
    return f'<span class="odd">{_number(char)}</span>'


def visible(said: str) -> str:
    """Plain text with every hiding character as its number in brackets."""
    return "".join(f"[{_number(char)}]" if hides(char) else char for char in said)


def _number(char: str) -> str:
    return f"U+{ord(char):04X}"


def hides(char: str) -> bool:
    """Whether a character is a control, a direction, a half or nothing at all, or breaks lines where none is seen."""
    return char not in "\n\t" and (category(char)[0] == "C" or category(char) in ("Zl", "Zp"))


def as_json(data: Any) -> Html:
    """Data for a script element: nothing in it can end the element, and what is not finite is null."""
    said = json.dumps(_finite(data), allow_nan=False, separators=(",", ":"))
    return Html(said.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _finite(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
