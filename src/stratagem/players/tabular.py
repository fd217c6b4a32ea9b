"""Tabular player: for each situation the probability of each action.

A file is JSON: `{"schema_version": 1, "missing": "refuse", "policy": {"K:": {"PASS": 0, "BET": 1}}}`. A situation is
looked up by its information set and then by its state, so a short table by state serves where histories do not matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.base.files import read_small, write_file
from stratagem.base.options import is_number
from stratagem.games.base import View
from stratagem.players.base import Ask, Mix, Move, Traits, draw, is_probability
from stratagem.players.members import PlayerBase
from stratagem.players.uniform import uniform

SCHEMA_VERSION = 1
_LARGEST = 1e9
"""Number from which on one is no probability; a whole number of JSON may be beyond every float."""
Missing = Literal["refuse", "uniform"]
Table = Mapping[str, Mix]
_SHAPE = '{"schema_version": 1, "missing": "refuse" or "uniform", "policy": {situation: {action: probability}}}'


class TablePlayer(PlayerBase):
    """Plays the mixture of its table; a missing situation is refused, or played uniformly if the table says so."""

    def __init__(self, table: Table, *, missing: Missing = "refuse", label: str = "unsaved") -> None:
        if missing not in ("refuse", "uniform"):
            raise BadRecord(f"In the table {label} `missing` must be refuse or uniform, not {missing!r}.")
        self.table = {key: _check_row(key, mix, label) for key, mix in _items(table, label)}
        self.missing = missing
        self.label = label
        self.traits = self._declare_traits()

    @classmethod
    def load(cls, path: str | Path) -> TablePlayer:
        """Load a player from a file."""
        if not str(path):
            raise BadRecord("A table is named by its file, as in table:PATH.")
        content = _read(Path(path))
        if not isinstance(content, dict) or set(content) - {"missing"} != {"schema_version", "policy"}:
            raise BadRecord(f"{path} is no table of a policy, which reads {_SHAPE}.")
        if content["schema_version"] != SCHEMA_VERSION:
            version = content["schema_version"]
            raise BadRecord(f"{path} has schema_version {version!r}, and this version reads {SCHEMA_VERSION}.")
        return cls(content["policy"], missing=content.get("missing", "refuse"), label=str(path))

    def save(self, path: str | Path) -> None:
        """Write the table, all of it or nothing."""
        content = {"schema_version": SCHEMA_VERSION, "missing": self.missing, "policy": self.table}
        write_file(Path(path), json.dumps(content, indent=1) + "\n")

    @property
    def name(self) -> str:
        return f"table:{self.label}"

    def _declare_traits(self) -> Traits:
        """Declare a checksum of the table as the version, so that results tell a changed file from the one played."""
        text = json.dumps([self.missing, self.table], sort_keys=True)
        mixes = self.missing == "uniform" or any(max(mix.values()) < 1.0 for mix in self.table.values())
        return Traits(version=crc32(text.encode()), stochastic=mixes, memory=None)

    def turn(self, ask: Ask) -> Move:
        return Move(draw(self.policy(ask.view), ask.key))

    def policy(self, view: View[Any]) -> Mix:
        mix = self._row(view)
        strange = [action for action, p in mix.items() if p > 0.0 and action not in view.choices]
        if strange:
            raise BadRecord(
                f"The table {self.label} plays {strange[0]!r} at {view.info_key!r}, where the choices are "
                f"{view.choices.summary()}."
            )
        return {action: p for action, p in mix.items() if action in view.choices}

    def _row(self, view: View[Any]) -> Mix:
        mix = self.table.get(view.info_key) or self.table.get(view.state_key)
        if mix is not None:
            return mix
        if self.missing == "uniform":
            return uniform(view.choices)
        raise CannotCompute(
            f'The table {self.label} says nothing about {view.info_key!r}: add it, or set "missing" to "uniform".'
        )


def _read(path: Path) -> Any:
    try:
        return json.loads(read_small(path))
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path} is not JSON: {error}.") from error


def _items(table: Any, label: str) -> list[tuple[str, Any]]:
    if not isinstance(table, Mapping):
        raise BadRecord(f"In the table {label} `policy` must map situations to actions with probabilities.")
    return list(table.items())


def _check_row(key: str, mix: Any, label: str) -> dict[str, float]:
    """Check one row and normalise its probabilities, whose sum may be off by rounding."""
    if not isinstance(mix, Mapping) or not all(_is_number(p) for p in mix.values()):
        raise BadRecord(f"In the table {label} the row {key!r} must map actions to probabilities.")
    total = sum(mix.values())
    if min(mix.values(), default=0.0) < 0.0:
        raise BadRecord(f"In the table {label} the row {key!r} has a negative probability.")
    if abs(total - 1.0) > 1e-6:
        raise BadRecord(f"In the table {label} the row {key!r} sums to {total:g}, not to 1.")
    row = {str(action): float(p) for action, p in mix.items()}
    return row if is_probability(row) else {action: p / total for action, p in row.items()}


def _is_number(value: Any) -> bool:
    return is_number(value) and abs(value) < _LARGEST
