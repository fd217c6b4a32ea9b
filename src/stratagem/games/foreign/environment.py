"""Interface between an environment of another package and the checks; one small adapter a package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stratagem.games.base import Seat


class Environment(ABC):
    """One environment, as its package makes it: seats act one after another."""

    package: str
    """Distribution that the environment comes from."""

    @property
    @abstractmethod
    def seats(self) -> int:
        """Number of seats; known after `reset`."""

    @abstractmethod
    def reset(self, seed: int) -> None:
        """Begin an episode."""

    @property
    @abstractmethod
    def to_act(self) -> Seat | None:
        """Seat to act; None when the episode is over."""

    @abstractmethod
    def shown(self, seat: Seat) -> str:
        """Return what this seat has been shown."""

    @abstractmethod
    def legal(self) -> tuple[str, ...] | None:
        """Return the legal actions of the seat to act; None where the environment does not say them."""

    @abstractmethod
    def step(self, action: str) -> str:
        """Play an action of the seat to act; return the reason of a refusal, or an empty text."""

    @property
    @abstractmethod
    def payoffs(self) -> tuple[float, ...]:
        """Return of each seat so far."""

    @property
    @abstractmethod
    def inner(self) -> Any:
        """The environment without wrappers, from which a translation reads what it says in no other way."""


def version_of(package: str) -> str:
    """Return the version of a distribution; a question mark where it has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def unlike(text: str, other: str) -> str:
    """Return the first lines in which two texts differ, or how the longer one goes on."""
    lines = zip(text.splitlines(), other.splitlines(), strict=False)
    for one, two in lines:
        if one != two:
            return f"{one[:120]!r} and {two[:120]!r}"
    more = max(text, other, key=len)[min(len(text), len(other)) :]
    return f"the {'first' if len(text) > len(other) else 'second'} goes on with {more.strip()[:120]!r}"
