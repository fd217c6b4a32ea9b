"""Members of a population: name, player, adapter, parent; and the file that lists them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from stratagem.base.errors import BadRecord, StratagemError, UnknownName
from stratagem.base.files import parse_json, read_small
from stratagem.training.runs.files import write_file

Role = Literal["base", "bot", "main", "main_exploiter", "league_exploiter"]
"""Role of a member.

Base: the model that all adapters are on. Bot: any other player. The others learn, and their checkpoints keep the role
that they learnt in.
"""
Check = Callable[[Path], object]
Admit = Callable[["Member"], object]


def anybody(member: Member) -> None:
    """Admit every member."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """Policy that does not change any more, or a learner."""

    name: str
    role: Role
    player: str = ""
    """Player as `stratagem players` names it; empty for an adapter on the league's base."""
    adapter: str = ""
    """Folder of the adapter, relative to the run's folder; empty for a member without one."""
    base: str = ""
    """Fingerprint of its base; empty for the base of the first learner, and for other players."""
    parent: str = ""
    """Member that it was copied from."""
    step: int = 0
    """Step of the run at which it was made."""
    version: int = 0
    """Number of earlier checkpoints of its line."""
    learns: bool = False
    """True if it still changes."""

    def checkpoint(self, name: str, step: int, adapter: str) -> Member:
        """Make a checkpoint of this learner."""
        return replace(self, name=name, step=step, adapter=adapter, parent=self.name, learns=False)


_USUAL = {field.name: field.default for field in fields(Member)}


class Population:
    """Members in the order in which they came."""

    def __init__(self, members: Mapping[str, Member] | None = None, disabled: Mapping[str, str] | None = None) -> None:
        self._members = dict(members or {})
        self.disabled: dict[str, str] = dict(disabled or {})
        """Disabled members, which cannot play, with the reason."""

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
        """Add a member; its name must be new."""
        if member.name in self._members:
            raise StratagemError(f"There are two members called {member.name}: give each a name of its own.")
        self._members[member.name] = member

    def replace(self, member: Member) -> None:
        """Replace the entry of a member."""
        self[member.name]
        self._members[member.name] = member

    def remove(self, name: str) -> None:
        """A member leaves."""
        self[name]
        del self._members[name]

    def disable(self, name: str, why: str) -> None:
        """Disable a member that cannot play: it is named, and the others continue."""
        self._members.pop(name, None)
        self.disabled[name] = why

    def of(self, *roles: Role, learns: bool | None = None) -> list[Member]:
        """Return the members of some roles, or all; learners, or members that do not change."""
        return [
            member
            for member in self
            if (not roles or member.role in roles) and (learns is None or member.learns == learns)
        ]

    def save(self, path: Path) -> None:
        """Write the file, which people can read: a member a line."""
        rows = ",\n".join(f"  {json.dumps(_row(member))}" for member in self)
        disabled = json.dumps(self.disabled, indent=2)
        write_file(path, f'{{\n"members": [\n{rows}\n],\n"aside": {disabled}\n}}\n')

    @classmethod
    def load(cls, path: Path, folder: Path, checks: Mapping[str, Check], admit: Admit = anybody) -> Population:
        """Load the file; a member that is half-written, or whose adapter is missing or does not fit, is disabled.

        `checks` has a function for each base, by its fingerprint. It is given the folder of every adapter on that base,
        and refuses one that cannot be loaded. `admit` is given every whole member, and refuses one that cannot play in
        this league.
        """
        try:
            data = parse_json(read_small(path))
            rows, population = list(data["members"]), cls(disabled=data["aside"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise BadRecord(
                f"The population {path} cannot be read: {error}. Mend it, or remove {path.parent} to go on from the "
                "checkpoint before."
            ) from error
        for place, row in enumerate(rows):
            name = str(row.get("name") or f"number {place}") if isinstance(row, dict) else f"number {place}"
            try:
                member = _whole(row)
                admit(member)
                _check_adapter(member, folder, checks)
                population.add(member)
                population.disabled.pop(member.name, None)  # it was mended and its row written again
            except StratagemError as error:
                population.disable(name, str(error))
        return population


def _row(member: Member) -> dict[str, Any]:
    """Return the fields of a member that differ from the defaults."""
    return {name: value for name, usual in _USUAL.items() if (value := getattr(member, name)) != usual}


def _whole(row: Any) -> Member:
    """Return the member of a row, if all required fields are there."""
    try:
        member = Member(**row)
    except TypeError as error:
        raise BadRecord(f"It is half-written: {error}.") from error
    kinds = {name: str if usual is MISSING else type(usual) for name, usual in _USUAL.items()}
    for name, kind in kinds.items():
        if type(value := getattr(member, name)) is not kind:
            raise BadRecord(f"It is half-written: {name} is {value!r}.")
    if not member.name:
        raise BadRecord("It is half-written: a member needs `name`.")
    if min(member.step, member.version) < 0:
        raise BadRecord(f"`step` and `version` are 0 or more, not {member.step} and {member.version}.")
    if member.role not in get_args(Role):
        raise BadRecord(f"There is no role {member.role!r}: there are {', '.join(get_args(Role))}.")
    if member.role == "bot" and not member.player:
        raise BadRecord("It is half-written: a bot needs `player`.")
    if member.role not in ("base", "bot") and not member.learns and not member.adapter:
        raise BadRecord("It is half-written: a checkpoint needs `adapter`.")
    return member


def _check_adapter(member: Member, folder: Path, checks: Mapping[str, Check]) -> None:
    if not member.adapter:
        return
    if not (folder / member.adapter).is_dir():
        raise BadRecord(f"Its adapter {member.adapter} is not there.")
    if member.base not in checks:
        raise BadRecord("Its adapter is on another base.")
    checks[member.base](folder / member.adapter)
