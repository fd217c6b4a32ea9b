"""Terms of requests to servers: timeouts, concurrency, and the tolerated share of failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.language.engines.remote.retries import Patience

FEW = 3
"""Fewer failures than this are borne whatever their share is, since a short evaluation would stop at the first."""

MAX_FAILED = 0.02
"""Default share of requests without a reply behind figures that count."""


class ServerFailed(StratagemError):
    """Server that failed too often, or revoked the key: its replies give no figure."""

    exit_code = 1


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Terms of requests to servers."""

    patience: Patience = field(default_factory=Patience)
    max_concurrent: int = 16
    """Largest number of concurrent requests."""
    max_failures: float = 0.05
    """Largest share of requests without a reply; beyond it nothing more is asked. 0 bears none."""
    max_failed: float = MAX_FAILED
    """Largest share of requests without a reply behind figures that count. One is always borne, unless this is 0."""

    def __post_init__(self) -> None:
        if self.max_concurrent < 1:
            raise BadParameter(
                f"At least one request is under way at a time: `max_concurrent` cannot be {self.max_concurrent}."
            )
        if not 0.0 <= self.max_failures <= 1.0:
            raise BadParameter(f"`max_failures` is a share from 0 to 1, not {self.max_failures}.")
        if not 0.0 <= self.max_failed <= 1.0:
            raise BadParameter(f"`max_failed` is a share from 0 to 1, not {self.max_failed}.")

    def bears(self, failures: int, requests: int) -> bool:
        """Return whether so few of the requests failed: by their share, and below `FEW` always."""
        few = self.max_failures > 0.0 and failures < FEW
        return few or failures <= self.max_failures * requests


_terms: list[Terms] = [Terms()]


def current() -> Terms:
    """Return the terms for servers named now."""
    return _terms[-1]


@contextmanager
def change_terms(**fields: Any) -> Iterator[None]:
    """Ask servers on other terms within; `timeout` and `tries` are those of the patience."""
    patience = {name: fields.pop(name) for name in ("timeout", "tries") if name in fields}
    with use(replace(current(), patience=replace(current().patience, **patience), **fields)):
        yield


@contextmanager
def use(terms: Terms) -> Iterator[None]:
    """Ask servers on these terms within."""
    _terms.append(terms)
    try:
        yield
    finally:
        _terms.pop()
