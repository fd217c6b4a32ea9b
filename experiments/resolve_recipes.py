"""Recipes of stored results that lack theirs, resolved from their commands by the program of their commit.

    python experiments/resolve_recipes.py docs/results/*.json

A run writes its resolved recipe, and `write_results` keeps it beside the results. Older results have the commit and
the command alone. This program takes the source and the recipes of each commit out of the repository, and lets them
read the command. It writes the recipe under the names of today as recipes/DIGEST.json, and its digest into the row.

`recipe_from` in a row says that its recipe was read so: `command`, or `command at COMMIT` where the repository lacks
the commit of the run, and that of the result read the command. A row without a recipe has the reason there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from result_tables import RECIPES, Layout, indented, read_results, run_lines, seedless, store_recipe
from stored_commands import StoredCommand, read_command

from stratagem.algorithms.catalogue import upgrade_data

_ROOT = Path(__file__).parents[1]
_READER = """
import json, sys, tomllib
from pathlib import Path
from stratagem.training.runs.config_file import settings_toml
try:
    from stratagem.algorithms.catalogue import read_any
except ImportError:  # the first commits had one algorithm
    from stratagem.algorithms.recipe import read_recipe as read_any

def path_of(name):
    return Path(name) if Path(name).exists() else Path("recipes", name + ".toml")

def read(recipes, changes):
    paths = [path_of(name) for name in recipes]
    try:
        return tomllib.loads(settings_toml(read_any(paths[0] if len(paths) == 1 else paths, changes)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print(json.dumps([read(*command) for command in json.load(sys.stdin)]))
"""
"""Program that reads commands in the tree of a commit: recipes and changes of each in, settings or an error out."""
_OF_A_RUN = "none: the command continues a run, whose settings were not stored"


@dataclass(frozen=True)
class LackingRow:
    """Row of a result that has a command of training and no recipe."""

    file: Path
    row: dict[str, Any]
    commit: str

    @property
    def command(self) -> StoredCommand:
        """Command of the run."""
        return read_command(self.row["command"])


def lacking_rows(file: Path, data: Any, commit: str = "") -> Iterator[LackingRow]:
    """Yield the rows without a recipe; a row without a commit has that of the table around it."""
    if isinstance(data, dict):
        commit = data.get("commit", commit)
        if str(data.get("command", "")).startswith("stratagem train ") and "recipe" not in data:
            yield LackingRow(file, data, commit)
    for value in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from lacking_rows(file, value, commit)


def commit_that_reads(file: Path, commit: str) -> str:
    """Return the commit of a row or, where the repository lacks it, the first one whose file has the row."""
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=_ROOT, capture_output=True, check=False
    )
    if known.returncode == 0:
        return commit
    return _git("log", "--reverse", "--format=%H", f"-S{commit}", "--", str(file.resolve())).decode().split()[0]


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=_ROOT, check=True, stdout=subprocess.PIPE).stdout


def read_at(commit: str, commands: Sequence[StoredCommand]) -> list[dict[str, Any] | str]:
    """Let the program of a commit read commands; an error is a text."""
    asked = json.dumps([[command.recipes, dict(command.changes)] for command in commands]).encode()
    with TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=_git("archive", commit, "src", "recipes"), check=True)
        reader = [sys.executable, "-c", _READER]
        own = {**os.environ, "PYTHONPATH": f"{folder}/src"}
        done = subprocess.run(reader, cwd=folder, env=own, input=asked, check=True, stdout=subprocess.PIPE)
    read: list[dict[str, Any] | str] = json.loads(done.stdout)
    return read


def set_recipe(lacking: LackingRow, at: str, data: dict[str, Any] | str) -> None:
    """Write the recipe of a row into its file, and the digest into the row; or the reason why there is none."""
    row, recipe_from = lacking.row, "command" if at == lacking.commit else f"command at {at}"
    if isinstance(data, str):
        row |= {"recipe": None, "recipe_from": f"none: {data}"}
        return
    recipe, upgrade = upgrade_data(data)
    if upgrade.lost:
        row |= {"recipe": None, "recipe_from": f"none: {'; '.join(upgrade.lost)}"}
        return
    row |= {"recipe": store_recipe(seedless(recipe), lacking.file.parent / RECIPES), "recipe_from": recipe_from}


def resolve(rows: Sequence[LackingRow]) -> None:
    """Resolve the recipes of rows, those of one commit together."""
    by_commit = defaultdict(list)
    for lacking in rows:
        if lacking.command.resume:
            lacking.row.update({"recipe": None, "recipe_from": _OF_A_RUN})
        else:
            by_commit[lacking.file, lacking.commit].append(lacking)
    for (file, commit), of_commit in by_commit.items():
        at = commit_that_reads(file, commit)
        for lacking, data in zip(of_commit, read_at(at, [lacking.command for lacking in of_commit]), strict=True):
            set_recipe(lacking, at, data)


def layout_of(file: Path, data: Mapping[str, Any]) -> Layout:
    """Return the layout that a file is written in."""
    text = file.read_text(encoding="utf-8")
    for layout in (indented, run_lines):
        if layout(data) == text:
            return layout
    raise ValueError(f"{file} was not written by `write_results`, and would change all over.")


def main() -> None:
    """Resolve the recipes of the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="files of results")
    for file in parser.parse_args().files:
        data = read_results(file)
        if rows := list(lacking_rows(file, data)):
            layout = layout_of(file, data)
            resolve(rows)
            file.write_text(layout(data), encoding="utf-8")
            print(f"{file}: {len(rows)} rows")


if __name__ == "__main__":
    main()
