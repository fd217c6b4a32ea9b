"""Extensions: `new` writes the files of a small working game, player, metric, probe, loss, estimator or algorithm.

The files come from the templates in `extension_templates`. Each has a test beside it, and nothing is overwritten.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from string import Template

from stratagem.api.arguments import as_path, as_text
from stratagem.api.mistakes import one_sentence
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.files import telling, write_file
from stratagem.games.base import Json
from stratagem.games.catalogue import game_names
from stratagem.show.table import ResultTable, text_table

__all__ = ["NewExtension", "new"]
TEMPLATES = Path(__file__).with_name("extension_templates")


@dataclass(frozen=True)
class ExtensionKind:
    """Files of one kind of extension, and the lines by which it is used."""

    files: Mapping[str, str]
    """Template by the path of the file that it becomes."""
    uses: tuple[str, ...]
    """Commands that use it, as templates."""
    entry: str
    """Entry point of an installed package, as a template; empty where the files have it."""


_FILE = {"$module.py": "{kind}.py", "test_$module.py": "{kind}.test"}
_TEST = "pytest test_$module.py"
KINDS: Mapping[str, ExtensionKind] = {
    "game": ExtensionKind(
        {
            "$module/pyproject.toml": "game/pyproject.toml",
            "$module/$module/__init__.py": "game/package.py",
            **{
                f"$module/$module/{part}.py": f"game/{part}.py"
                for part in ("rules", "safety", "players", "demonstrations", "face")
            },
            "$module/tests/test_$module.py": "game/test.py",
        },
        (
            "pip install --no-deps -e $module",
            "stratagem verify-game $name",
            "stratagem play $name --players Reciprocator Keeper",
            "pytest $module",
        ),
        "",
    ),
    "player": ExtensionKind(
        _FILE,
        ("stratagem play 'ipd(rounds=4)' --players $module.py:$class_name TitForTat", _TEST),
        'stratagem.players: "ipd/$class_name" = "$module:$class_name"',
    ),
    "metric": ExtensionKind(
        _FILE,
        ("stratagem eval ipd --player TitForTat --opponents Mixed --metric $module.py:$class_name --no-chance", _TEST),
        'stratagem.metrics: $name = "$module:$class_name"',
    ),
    "probe": ExtensionKind(
        _FILE,
        ("stratagem audit TitForTat --games 'ipd(rounds=3)' --decisions 1200 --probe $module.py:$class_name", _TEST),
        'stratagem.probes: $name = "$module:$class_name"',
    ),
    "loss": ExtensionKind(
        _FILE,
        ("stratagem train grpo/kuhn --set grpo.loss='$module.py:$class_name' --dry-run", _TEST),
        'stratagem.losses: $module = "$module:$class_name"',
    ),
    "advantage": ExtensionKind(
        _FILE,
        ("stratagem train grpo/kuhn --set grpo.advantage='$module.py:$class_name' --dry-run", _TEST),
        'stratagem.advantages: $module = "$module:$class_name"',
    ),
    "algorithm": ExtensionKind(
        {**_FILE, "$module.toml": "algorithm.toml"},
        ("stratagem train $module.toml --out runs/$module --allow-file $module.py", _TEST),
        'stratagem.algorithms: $module = "$module:$class_name"',
    ),
}
"""Kinds of extensions by name."""


@dataclass(frozen=True, repr=False)
class NewExtension(Result):
    """Files of a new extension, and how it is used. It has no figures, so there is no picture."""

    kind: str
    name: str
    """Name of the module."""
    folder: Path
    written: tuple[Path, ...]
    """Paths of the new files."""
    uses: tuple[str, ...]
    """Commands that use and test it, in its folder."""
    entry: str
    """Entry point of an installed package; empty where the files have it."""

    def rows(self) -> list[Json]:
        """Return one row for each file."""
        return [{"file": str(path)} for path in self.written]

    def to_json(self) -> Json:
        """Return the files and the commands, as `stratagem new --json` prints them."""
        return {
            "kind": self.kind,
            "name": self.name,
            "folder": str(self.folder),
            "files": [str(path) for path in self.written],
            "commands": list(self.uses),
            "entry_point": self.entry,
        }

    def tables(self) -> list[ResultTable]:
        rows = [(str(path.relative_to(self.folder)),) for path in self.written]
        return [text_table(f"new {self.kind} in {self.folder}", ("file",), rows)]

    def remarks(self) -> list[str]:
        """Return the commands, and the entry point."""
        entry = [f"A package of your own names it by the entry point {self.entry}."] if self.entry else []
        return ["In this folder:", *(f"  {use}" for use in self.uses), *entry]


@one_sentence
def new(kind: str, name: str, *, folder: str | Path = ".") -> NewExtension:
    """Write a small working game, player, metric or part of training into new files, with its tests.

    A game is a package with rules, players, safety signals, reasons of demonstrators and a face, which one entry point
    brings. Every other extension is one file and its test. Nothing is overwritten.

    Args:
        kind: Kind of extension: game, player, metric, probe, loss, advantage, algorithm.
        name: Name, an identifier of Python such as coin_match.
        folder: Folder for the files.
    """
    kind = as_text(kind, "kind")
    if kind not in KINDS:
        raise UnknownName("kind of extension", kind, list(KINDS))
    words = _words(kind, as_text(name, "name"))
    place, row = as_path(folder, "folder"), KINDS[kind]
    filled = {
        place / _fill(path, words): _fill(_template(template.format(kind=kind)), words)
        for path, template in row.files.items()
    }
    _check_new(place, filled)
    _check_free(kind, words)
    for path, text in filled.items():
        with telling(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text)
    uses = tuple(_fill(use, words) for use in row.uses)
    return NewExtension(kind, words["module"], place, tuple(filled), uses, _fill(row.entry, words))


def _words(kind: str, name: str) -> dict[str, str]:
    """Return the names of module, class and extension; refused where they cannot be names."""
    if not name.isascii() or not name.isidentifier() or iskeyword(name) or name[0] == "_":
        raise BadParameter(f"{name!r} is no name of a module: write an identifier of Python, such as coin_match.")
    module = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
    class_name = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    return {"module": module, "class_name": class_name, "name": module.replace("_", "-")}


def _check_new(folder: Path, filled: Mapping[Path, str]) -> None:
    """Refuse paths that exist; the package of a game is a new folder."""
    for path in filled:
        top = folder / path.relative_to(folder).parts[0]
        if top.exists() or top.is_symlink():
            raise BadParameter(f"{top} exists already, and nothing is overwritten: choose another name or folder.")


def _check_free(kind: str, words: Mapping[str, str]) -> None:
    """Refuse a name that means something else to Python, or to Stratagem."""
    module, name = words["module"], words["name"]
    if module in sys.stdlib_module_names or iskeyword(module) or find_spec(module) is not None:
        raise BadParameter(f"{module} is the name of another module that Python finds: choose another name.")
    if kind == "game" and name in game_names():
        raise BadParameter(f"There is a game called {name} already: choose another name.")


def _template(name: str) -> str:
    return (TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")


def _fill(text: str, words: Mapping[str, str]) -> str:
    return Template(text).substitute(words)
