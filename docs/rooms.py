"""Measures of the modules: how many have one reader, how many are small, and how many names have two meanings."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

import stratagem
from stratagem.games.packages import PACKAGES

SRC = Path(stratagem.__file__).parent
SMALL, LARGE = 60, 400
"""Lines below which a file is small, and above which it is large."""
PARTS = {
    place.partition(":")[0]
    for package in PACKAGES
    for places in (package.rules, package.safety, package.players, package.reasons, package.face)
    for place in ([places] if isinstance(places, str) else places.values())
}
"""Modules that a declaration of a game names."""
_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_VERBS = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"})
"""Verbs and nouns that end as participles do."""
# `read`, `run` and `cut` are missing: there the participle is the verb.
_IRREGULAR = re.compile(
    "(un|re)?(begun|broken|brought|built|chosen|dealt|done|drawn|driven|felt|forgotten|found|given|gone|heard|held|hidden|"
    "kept|known|learnt|lost|made|meant|met|paid|said|sat|seen|sent|shown|sold|spelt|spent|spoken|stuck|taken|taught|"
    "thought|told|won|written)"
)


class Rooms:
    """Modules of the package with their lines, their importers and their classes."""

    def __init__(self) -> None:
        paths = sorted(SRC.rglob("*.py"))
        self.trees = {_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
        self.lines = {_name(path): path.read_text(encoding="utf-8").count("\n") for path in paths}
        self.imports = {
            name: [n for n in ast.walk(tree) if isinstance(n, _IMPORTS)] for name, tree in self.trees.items()
        }
        self.packages = {_name(path) for path in paths if path.name == "__init__.py"}

    @property
    def modules(self) -> list[str]:
        """Modules that are no package."""
        return [name for name in self.trees if name not in self.packages]

    def with_one_reader(self) -> list[str]:
        """Return the modules that exactly one other imports."""
        readers: defaultdict[str, set[str]] = defaultdict(set)
        for name, nodes in self.imports.items():
            for read in self._imported(nodes):
                readers[read].add(name)
        return sorted(name for name in self.modules if len(readers[name] - {name}) == 1)

    def _imported(self, nodes: Iterable[ast.Import | ast.ImportFrom]) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif node.module:
                below = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from (one if one in self.trees else node.module for one in below)

    def small(self) -> list[str]:
        """Return the modules under 60 lines; a part of a game is one file, however short it is."""
        return [name for name in self.modules if self.lines[name] < SMALL and name not in PARTS]

    def large(self) -> list[str]:
        """Return the modules over 400 lines."""
        return [name for name in self.modules if self.lines[name] > LARGE]

    def import_share(self) -> float:
        """Return the share of lines that import."""
        nodes = [node for own in self.imports.values() for node in own]
        return sum((one.end_lineno or one.lineno) - one.lineno + 1 for one in nodes) / sum(self.lines.values())

    def ambiguous_classes(self) -> dict[str, int]:
        """Return the class names that several modules define, with the number of these."""
        found = Counter(n.name for tree in self.trees.values() for n in tree.body if isinstance(n, ast.ClassDef))
        return {name: number for name, number in found.most_common() if number > 1}

    def participles(self) -> list[str]:
        """Return the functions, methods and classes named by one participle, as `counted`; a property is a value."""
        found = []
        for name, tree in self.trees.items():
            owners: list[tuple[str, ast.Module | ast.ClassDef]] = [("", tree)]
            owners += ((f"{n.name}.", n) for n in tree.body if isinstance(n, ast.ClassDef))
            for owner, node in owners:
                named = (n for n in node.body if isinstance(n, (*_FUNCTIONS, ast.ClassDef)) and not _is_property(n))
                found += [f"{name}:{owner}{n.name}" for n in named if is_participle(n.name)]
        return found

    def report(self) -> list[str]:
        """Return the measures in lines."""
        total = len(self.modules)
        return [
            f"modules  {total}, of {median(self.lines[name] for name in self.modules):.0f} lines in the median",
            f"modules with one reader  {len(self.with_one_reader())}",
            f"modules under {SMALL} lines  {len(self.small())}",
            f"modules over {LARGE} lines  {len(self.large())}",
            f"lines that import  {self.import_share():.1%}",
            f"class names with several meanings  {len(self.ambiguous_classes())}",
            f"names that are a participle  {len(self.participles())}",
        ]


def is_participle(name: str) -> bool:
    """Return whether a name is a single past participle, as `told`, `_drawn` and `Settled`."""
    word = name.lstrip("_")
    one_word = word.isalpha() and word[1:] == word[1:].lower()
    word = word.lower()
    return one_word and word not in _VERBS and bool(word.endswith("ed") or _IRREGULAR.fullmatch(word))


def _is_property(node: ast.stmt) -> bool:
    decorators = node.decorator_list if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) else []
    return any("property" in ast.unparse(one) for one in decorators)


def _name(path: Path) -> str:
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
