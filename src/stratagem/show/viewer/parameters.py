"""Parameters of a request, checked."""

from __future__ import annotations

from collections.abc import Mapping

from stratagem.base.errors import BadParameter


def require_parameter(asked: Mapping[str, str], name: str) -> str:
    """Return a parameter that must be there."""
    if name not in asked:
        raise BadParameter(f"The request lacks `{name}`.")
    return asked[name]


def number(asked: Mapping[str, str], name: str, otherwise: int) -> int:
    """Return a whole number of at least 0."""
    text = asked.get(name, "")
    if text and not (text.isdecimal() and text.isascii() and len(text) < 10):
        raise BadParameter(f"`{name}` is a number of at least 0, not {text[:20]!r}.")
    return int(text) if text else otherwise


def share(asked: Mapping[str, str], name: str) -> float | None:
    """Return a number of at least 0 that may have decimals; None where it is not given."""
    text = asked.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise BadParameter(f"`{name}` is a number of at least 0, not {text[:20]!r}.")
    return value
