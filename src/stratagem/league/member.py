"""One of a population: who it is, what it plays with, whom it came from; and the file that lists all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from stratagem.errors import BadRecord, StratagemError, UnknownName
from stratagem.runs.files import write_file

Role = Literal["base", "bot", "main", "main_exploiter", "league_exploiter"]
"""Base: the model that all adapters are on. Bot: any other player. The others learn, and their checkpoints keep the
role that they learnt in."""
Check = Callable[[Path], object]


@dataclass(frozen=True, kw_only=True)
class Member:
    """A policy that does not change any more, or a learner."""

    name: str
    role: Role
    player: str = ""
    """Who plays, as `stratagem players` names players; empty for an adapter on the league's base."""
    adapter: str = ""
    """The folder of its adapter, from the run's folder; empty for whoever has none."""
    base: str = ""
    """The fingerprint of what the adapter is on."""
    parent: str = ""
    """Whom it was copied from."""
    step: int = 0
    """At which step of the run it was made."""
    version: int = 0
    """How often its line had been kept before."""
    learns: bool = False
    """Whether it still changes."""

    def kept(self, name: str, step: int, adapter: str) -> Member:
        """A checkpoint of this learner."""
        return replace(self, name=name, step=step, adapter=adapter, parent=self.name, learns=False)


_USUAL = {field.name: field.default for field in fields(Member)}


class Population:
    """Everybody, in the order in which they came."""

    def __init__(self, members: Mapping[str, Member] | None = None, aside: Mapping[str, str] | None = None) -> None:
        self._members = dict(members or {})
        self.aside: dict[str, str] = dict(aside or {})
        """Who cannot play, and why."""

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> Member:
        if name not in self._members:
            raise UnknownName("member of the league", name, self._members)
        return self._members[name]

    def add(self, member: Member) -> None:
        """Somebody new; two of one name cannot be told apart."""
        if member.name in self._members:
            raise StratagemError(f"There are two members called {member.name}: give each a name of its own.")
        self._members[member.name] = member

    def replace(self, member: Member) -> None:
        """What is known of a member has changed."""
        self[member.name]
        self._members[member.name] = member

    def remove(self, name: str) -> None:
        """A member leaves."""
        self[name]
        del self._members[name]

    def set_aside(self, name: str, why: str) -> None:
        """A member that cannot play: it is named, and the others go on."""
        self._members.pop(name, None)
        self.aside[name] = why

    def of(self, *roles: Role, learns: bool | None = None) -> list[Member]:
        """Those of some roles, or everybody; learners, or those that do not change."""
        return [
            member
            for member in self
            if (not roles or member.role in roles) and (learns is None or member.learns == learns)
        ]

    def save(self, path: Path) -> None:
        """Write the file, which people can read: a member a line."""
        rows = ",\n".join(f"  {json.dumps(_row(member))}" for member in self)
        aside = json.dumps(self.aside, indent=2)
        write_file(path, f'{{\n"members": [\n{rows}\n],\n"aside": {aside}\n}}\n')

    @classmethod
    def load(cls, path: Path, folder: Path, base: str, check: Check) -> Population:
        """Read the file; a member that is half-written, or whose adapter is missing or does not fit, is set aside.

        `check` is given the folder of every adapter that is there, and refuses one that cannot be loaded.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            rows, population = list(data["members"]), cls(aside=data["aside"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise BadRecord(
                f"The population {path} cannot be read: {error}. Mend it, or remove {path.parent} to go on from the "
                "checkpoint before."
            ) from error
        for place, row in enumerate(rows):
            name = str(row.get("name") or f"number {place}") if isinstance(row, dict) else f"number {place}"
            try:
                member = _whole(row)
                _check_adapter(member, folder, base, check)
                population.add(member)
            except StratagemError as error:
                population.set_aside(name, str(error))
        return population


def _row(member: Member) -> dict[str, Any]:
    """What differs from the defaults."""
    return {name: value for name, usual in _USUAL.items() if (value := getattr(member, name)) != usual}


def _whole(row: Any) -> Member:
    """The member of a row, if it says all that such a member needs."""
    try:
        member = Member(**row)
    except TypeError as error:
        raise BadRecord(f"It is half-written: {error}.") from error
    kinds = {name: str if usual is MISSING else type(usual) for name, usual in _USUAL.items()}
    for name, kind in kinds.items():
        if type(value := getattr(member, name)) is not kind:
            raise BadRecord(f"It is half-written: {name} is {value!r}.")
    if member.role not in get_args(Role):
        raise BadRecord(f"There is no role {member.role!r}: there are {', '.join(get_args(Role))}.")
    if member.role == "bot" and not member.player:
        raise BadRecord("It is half-written: a bot needs `player`.")
    if member.role not in ("base", "bot") and not member.learns and not member.adapter:
        raise BadRecord("It is half-written: a checkpoint needs `adapter`.")
    return member


def _check_adapter(member: Member, folder: Path, base: str, check: Check) -> None:
    if not member.adapter:
        return
    if not (folder / member.adapter).is_dir():
        raise BadRecord(f"Its adapter {member.adapter} is not there.")
    if member.base != base:
        raise BadRecord("Its adapter is on another base.")
    check(folder / member.adapter)
