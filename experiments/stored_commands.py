"""Commands of training in files of results, as they are written today.

    python experiments/stored_commands.py docs/results/sepo.json

A result names the command that made it, in the keys and the recipes of its time. This program prints each of them under
the names of today, by the table that `stratagem train` and `stratagem upgrade` read. A recipe may have other settings
today than it had then: those are in recipes/DIGEST.json, whose digest stands beside the command.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratagem.algorithms.catalogue import algorithm_of, upgrade_data
from stratagem.base.renamed.recipes import successor_of
from stratagem.training.recipe_file import AnyRecipe, over, recipe_data
from stratagem.training.shipped import recipe_path

_TRAIN = "stratagem train "
_OPTION = re.compile(r" --(?=(?:set|out|resume)\b)")


@dataclass(frozen=True)
class StoredCommand:
    """Recipes of a command of training, and the settings that it changes."""

    recipes: tuple[str, ...]
    changes: Mapping[str, str]
    out: str = ""
    """Folder of the run."""
    resume: bool = False
    """True if it continues a run, which has its own settings."""

    def __str__(self) -> str:
        changes = [word for place, value in self.changes.items() for word in ("--set", f"{place}={value}")]
        out = ["--out", self.out] if self.out else []
        resume = ["--resume"] if self.resume else []
        return shlex.join(["stratagem", "train", *self.recipes, *out, *changes, *resume])


def stored_commands(data: object) -> Iterator[str]:
    """Yield every command of training in the data of a result."""
    waiting = [data]
    while waiting:  # half a million numbers, each of which a call would make dear
        value = waiting.pop()
        if isinstance(value, str):
            if value.startswith(_TRAIN):
                yield value
        elif isinstance(value, dict | list):
            waiting.extend(reversed(value.values() if isinstance(value, dict) else value))


def read_command(command: str) -> StoredCommand:
    """Read a command; some were stored without the quotes of a shell, so a value ends at the next option."""
    recipes, *options = _OPTION.split(command.removeprefix(_TRAIN))
    changes, out, resume = {}, "", False
    for option in options:
        name, _, value = option.strip().partition(" ")
        if name == "set":
            place, _, given = _unquoted(value).partition("=")
            changes[place] = given
        elif name == "out":
            out = value
        resume |= name == "resume"
    return StoredCommand(tuple(recipes.split()), changes, out, resume)


def _unquoted(value: str) -> str:
    """Take the quotes of a shell away, if there are any around the whole or around the value."""
    quoted = value.startswith("'") or "='" in value
    return "".join(shlex.split(value)) if quoted else value


def renewed(command: StoredCommand) -> StoredCommand:
    """Replace removed recipes by their successors; later settings hold."""
    recipes: list[str] = []
    changes: dict[str, str] = {}
    for name in command.recipes:
        new = None if Path(name).exists() else successor_of(name)
        recipes += [name] if new is None else [f"recipes/{recipe}.toml" for recipe in new.recipes]
        changes |= {} if new is None else new.changes
    return StoredCommand(tuple(recipes), {**changes, **command.changes}, command.out, command.resume)


def renewed_data(command: StoredCommand) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """Return the settings of a command under the names of today, the renamed keys, and what would be lost."""
    paths = [recipe_path(name) for name in command.recipes]
    changed = recipe_data(paths, command.changes)
    algorithm = {"algorithm": changed["algorithm"]} if "algorithm" in changed else {}
    _, upgrade = upgrade_data({**algorithm, **_nested(command.changes, changed)})
    kept = {place: value for place, value in command.changes.items() if not _is_renamed(place, upgrade.renamed)}
    new, _ = upgrade_data({**algorithm, **_nested(command.changes.keys() - kept.keys(), changed)})
    return over(recipe_data(paths, kept), new), upgrade.renamed, upgrade.lost


def _nested(changes: Iterable[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed settings alone, as tables."""
    nested: dict[str, Any] = {}
    for place in changes:
        *tables, name = place.split(".")
        inside, values = nested, data
        for table in tables:
            inside, values = inside.setdefault(table, {}), values[table]
        inside[name] = values[name]
    return nested


def recipe_of_command(command: str) -> AnyRecipe:
    """Read the settings of a stored command under the names of today."""
    data, _, lost = renewed_data(renewed(read_command(command)))
    if lost:
        raise ValueError("; ".join(lost))
    return algorithm_of(data).recipe_type.read(data)


def main() -> None:
    """Print the commands of the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="files of results")
    for path in parser.parse_args().files:
        for command in stored_commands(json.loads(path.read_text(encoding="utf-8"))):
            print(renewed_command(read_command(command)))


def renewed_command(command: StoredCommand) -> StoredCommand:
    """Write a command under the names of today."""
    now = renewed(command)
    if now.resume:
        return now
    data, renamed, _ = renewed_data(now)
    if not renamed:
        return now
    kept = {place: value for place, value in now.changes.items() if not _is_renamed(place, renamed)}
    base = recipe_data([recipe_path(name) for name in now.recipes])
    return StoredCommand(now.recipes, {**kept, **dict(_differences(data, base, kept))}, now.out)


def _is_renamed(place: str, renamed: Mapping[str, str]) -> bool:
    """Test whether a place is renamed, stands in a renamed table, or is a table with renamed keys."""
    return any(f"{place}.".startswith(f"{old}.") or old.startswith(f"{place}.") for old in renamed)


def _differences(
    data: Mapping[str, Any], base: Mapping[str, Any], kept: Mapping[str, str], at: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the settings that differ from those of the recipes, and are not among the kept ones."""
    for key, value in data.items():
        place = f"{at}.{key}" if at else key
        if place in kept:
            continue
        if isinstance(value, Mapping) and isinstance(base.get(key, {}), Mapping):
            yield from _differences(value, base.get(key, {}), kept, place)
        elif base.get(key) != value:
            yield place, value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    main()
