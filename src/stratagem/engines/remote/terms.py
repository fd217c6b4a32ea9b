"""On which terms servers are asked: how long one is waited for, how much at once, and how many failures are borne."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from stratagem.engines.remote.retries import Patience
from stratagem.errors import BadParameter, StratagemError

FEW = 3
"""Fewer failures than this are borne whatever their share is, since a short evaluation would stop at the first."""


class ServerFailed(StratagemError):
    """A server that failed too often, or took back the key: what it was asked for can be no figure."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How servers are asked."""

    patience: Patience = field(default_factory=Patience)
    max_concurrent: int = 16
    """Requests that are under way at once."""
    max_failures: float = 0.05
    """The largest share of requests that may come to no reply; beyond it nothing more is asked. 0 bears none."""

    def __post_init__(self) -> None:
        if self.max_concurrent < 1:
            raise BadParameter(
                f"At least one request is under way at a time: `max_concurrent` cannot be {self.max_concurrent}."
            )
        if not 0.0 <= self.max_failures <= 1.0:
            raise BadParameter(f"`max_failures` is a share from 0 to 1, not {self.max_failures}.")

    def bears(self, failures: int, requests: int) -> bool:
        """Whether so many failures of so many requests are few enough: by their share, and below `FEW` always."""
        few = self.max_failures > 0.0 and failures < FEW
        return few or failures <= self.max_failures * requests


_terms: list[Terms] = [Terms()]


def current() -> Terms:
    """The terms on which servers that are named now are asked."""
    return _terms[-1]


@contextmanager
def changed(**fields: Any) -> Iterator[None]:
    """While this lasts, servers are asked on other terms; `timeout` and `tries` are those of the patience."""
    patience = {name: fields.pop(name) for name in ("timeout", "tries") if name in fields}
    _terms.append(replace(current(), patience=replace(current().patience, **patience), **fields))
    try:
        yield
    finally:
        _terms.pop()
