"""Recipes that ship with the package, by names such as sepo/kuhn."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.renamed.recipes import successor_of

SHIPPED = Path(__file__).parents[1] / "recipes"
"""Folder of the shipped recipes; in the repository a link to its folder `recipes`."""
PAPERS, PUBLISHED = SHIPPED / "papers", "published.toml"
"""Folder of the papers' own settings, and name of the file of a paper's printed tables, which is no recipe."""
_PREFIX, _SUFFIX = "recipes/", ".toml"


@dataclass(frozen=True)
class ShippedRecipe:
    """Recipe of the package."""

    name: str
    """Path in the folder of recipes, without the suffix."""
    path: Path
    """File of the recipe."""
    summary: str
    """First sentence of the comment at the top of the file."""

    others: tuple[str, ...] = ()
    """Recipes that the command at the top of the file composes it with; it is a part where there are any."""

    @property
    def command(self) -> str:
        """Command that trains by it, with the recipes that it is composed with in their order."""
        return command_of(self.path.read_text(encoding="utf-8"))

    @property
    def group(self) -> str:
        """Folder of the recipe, such as shapellm/games."""
        return self.name.rpartition("/")[0]


def shipped_recipes(word: str = "") -> Iterator[ShippedRecipe]:
    """Find the shipped recipes that have a word in their name or summary, by name."""
    for name, path in sorted(_paths().items()):
        text = path.read_text(encoding="utf-8")
        recipe = ShippedRecipe(name, path, summary_of(text), others_of(name, text))
        if word.casefold() in f"{recipe.name} {recipe.summary}".casefold():
            yield recipe


def recipe_names() -> list[str]:
    """Return the names of the shipped recipes."""
    return sorted(_paths())


def recipe_path(name: str, folder: Path = Path()) -> Path:
    """Find a recipe by its path from a folder or, where no such path exists, by its name among the shipped ones."""
    path = folder / name
    if _exists(path):
        return path
    shipped, short = _paths(), name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    if found := shipped.get(short):
        return found
    if successor := successor_of(name):
        raise BadParameter(f"There is no recipe {name[:200]} any more: write `stratagem train {successor}`.")
    if os.path.islink(path):  # noqa: PTH114 - it raises nothing, whatever the path
        raise BadParameter(f"The recipe {name!r} is a link that leads to no file.")
    if near := get_close_matches(name, _recipes_beside(name, path), n=4) or get_close_matches(short, shipped, n=4):
        raise UnknownName("recipe", name, near)
    if name.endswith(_SUFFIX):
        return path
    raise BadParameter(f"There is no recipe {name[:200]!r}: give the path of a file, or a name of `stratagem recipes`.")


def name_of(path: Path) -> str:
    """Return the name of a shipped recipe by its path, and any other path as it is."""
    return path.relative_to(SHIPPED).with_suffix("").as_posix() if path.is_relative_to(SHIPPED) else str(path)


def command_of(text: str) -> str:
    """Return the command at the top of a recipe; empty where it has none."""
    first = text.partition("\n")[0].lstrip("# ")
    return first if first.startswith("stratagem train ") else ""


def others_of(name: str, text: str) -> tuple[str, ...]:
    """Return the recipes that the command at the top of a recipe composes it with, by name."""
    words = command_of(text).partition(" --")[0].split()[2:]
    return tuple(word for each in words if (word := each.removeprefix(_PREFIX).removesuffix(_SUFFIX)) != name)


def check_part(paths: Sequence[Path], error: BadParameter) -> None:
    """Raise a short error where one part of a recipe was given alone, and the given one otherwise."""
    for recipe in shipped_recipes():
        if [recipe.path] == list(paths) and recipe.others:
            raise BadParameter(
                f"{recipe.name} is a part of a recipe, and cannot be trained alone: give the others, too, as in "
                f"`{recipe.command}`."
            ) from error
    raise error


def is_published(path: Path) -> bool:
    """True for the file of a paper's printed tables; a recipe elsewhere may have its name."""
    return path.name == PUBLISHED and path.parent.parent == PAPERS


def summary_of(text: str) -> str:
    """Take the first sentence of the comment at the top of a recipe; a command there is left out."""
    lines = re.match(r"(?:#.*\n?)*", text)[0].splitlines()  # type: ignore[index]
    words = " ".join(line.lstrip("# ") for line in lines if not line.startswith("# stratagem "))
    return re.split(r"(?<=\.)\s", words, maxsplit=1)[0]


@cache  # what ships does not change while the program runs
def _paths() -> dict[str, Path]:
    files = (path for path in SHIPPED.rglob(f"*{_SUFFIX}") if not is_published(path))
    return {path.relative_to(SHIPPED).with_suffix("").as_posix(): path for path in files}


def _recipes_beside(name: str, path: Path) -> list[str]:
    try:
        return [str(Path(name).with_name(beside.name)) for beside in path.parent.glob(f"*{_SUFFIX}")]
    except (OSError, ValueError):
        return []


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long a name, or a character that no path has
        return False
