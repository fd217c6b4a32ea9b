"""Checks without models: within `forbid_loading`, a check that needs a loaded model is left to the start of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from stratagem.base.errors import StratagemError


class NotLoaded(StratagemError):
    """Model that is not loaded, since a dry run loads none."""

    def __init__(self, model: str) -> None:
        super().__init__(f"A dry run loads no model, so what needs {model} is checked when the run starts.")


_left_out: ContextVar[dict[str, None] | None] = ContextVar("left_out", default=None)


@contextmanager
def forbid_loading() -> Iterator[dict[str, None]]:
    """Raise `NotLoaded` within where a model would be loaded; yield the names of these models."""
    names: dict[str, None] = {}
    token = _left_out.set(names)
    try:
        yield names
    finally:
        _left_out.reset(token)


def is_dry() -> bool:
    """Return whether this is a dry run, which may be made on another machine than the run."""
    return _left_out.get() is not None


def check_loads(model: object) -> None:
    """Refuse to load a model in a dry run."""
    names = _left_out.get()
    if names is not None:
        names[str(model)] = None
        raise NotLoaded(str(model))


__all__ = ["NotLoaded", "check_loads", "forbid_loading", "is_dry"]
