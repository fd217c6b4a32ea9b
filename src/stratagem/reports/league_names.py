"""League table with other names for some members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from stratagem.reports.files import EloRating, LeagueMember, LeagueTable, SkillRating

T = TypeVar("T", LeagueMember, EloRating, SkillRating)


def renamed(league: LeagueTable, names: Mapping[str, str]) -> LeagueTable:
    """Rename members; a new name that another member already has is not used."""
    others = {member.name for member in league.members} - names.keys()
    new_names = {old: new for old, new in names.items() if new not in others}
    changes = {
        "members": _renamed_items(league.members, new_names),
        "elo": _renamed_items(league.elo, new_names),
        "skill": _renamed_items(league.skill, new_names),
        "cycles": [_renamed_row(row, new_names) for row in league.cycles],
        "forgotten": [_renamed_row(row, new_names) for row in league.forgotten],
        "aside": {new_names.get(name, name): why for name, why in league.aside.items()},
    }
    return league.model_copy(update=changes)


def _renamed_row(row: Sequence[str], new_names: Mapping[str, str]) -> list[str]:
    return [new_names.get(name, name) for name in row]


def _renamed_items(items: Sequence[T], new_names: Mapping[str, str]) -> list[T]:
    return [item.model_copy(update={"name": new_names.get(item.name, item.name)}) for item in items]
