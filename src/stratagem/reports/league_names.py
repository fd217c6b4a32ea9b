"""League table with other names for some members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from stratagem.reports.files import LeagueTable, Rated, Shown, Skilled

T = TypeVar("T", Shown, Rated, Skilled)


def renamed(found: LeagueTable, names: Mapping[str, str]) -> LeagueTable:
    """Rename members; a name that another member has already is not given again."""
    others = {member.name for member in found.members} - names.keys()
    called = {old: new for old, new in names.items() if new not in others}
    changes = {
        "members": _called(found.members, called),
        "elo": _called(found.elo, called),
        "skill": _called(found.skill, called),
        "cycles": [_named(row, called) for row in found.cycles],
        "forgotten": [_named(row, called) for row in found.forgotten],
        "aside": {called.get(name, name): why for name, why in found.aside.items()},
    }
    return found.model_copy(update=changes)


def _named(row: Sequence[str], called: Mapping[str, str]) -> list[str]:
    return [called.get(name, name) for name in row]


def _called(every: Sequence[T], called: Mapping[str, str]) -> list[T]:
    return [one.model_copy(update={"name": called.get(one.name, one.name)}) for one in every]
