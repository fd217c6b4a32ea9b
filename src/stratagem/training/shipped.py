"""Recipes that ship with the package, by names such as sepo/kuhn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from stratagem.errors import BadParameter, UnknownName
from stratagem.renamed.recipes import successor_of

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

    @property
    def group(self) -> str:
        """Folder of the recipe, such as shapellm/games."""
        return self.name.rpartition("/")[0]


def shipped_recipes(word: str = "") -> Iterator[ShippedRecipe]:
    """Find the shipped recipes that have a word in their name or summary, by name."""
    for name, path in sorted(_paths().items()):
        recipe = ShippedRecipe(name, path, summary_of(path.read_text(encoding="utf-8")))
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
    shipped = _paths()
    if found := shipped.get(name.removeprefix(_PREFIX).removesuffix(_SUFFIX)):
        return found
    if successor := successor_of(name):
        raise BadParameter(f"There is no recipe {name[:200]} any more: write `stratagem train {successor}`.")
    if name.endswith(_SUFFIX):
        return path
    if near := get_close_matches(name, shipped, n=4):
        raise UnknownName("recipe", name, near)
    raise BadParameter(f"There is no recipe {name[:200]!r}: give the path of a file, or a name of `stratagem recipes`.")


def is_published(path: Path) -> bool:
    """True for the file of a paper's printed tables; a recipe elsewhere may have its name."""
    return path.name == PUBLISHED and path.parent.parent == PAPERS


def summary_of(text: str) -> str:
    """Take the first sentence of the comment at the top of a recipe; a command there is left out."""
    lines = re.match(r"(?:#.*\n?)*", text)[0].splitlines()  # type: ignore[index]
    words = " ".join(line.lstrip("# ") for line in lines if not line.startswith("# stratagem "))
    return re.split(r"(?<=\.)\s", words, maxsplit=1)[0]


def _paths() -> dict[str, Path]:
    files = (path for path in SHIPPED.rglob(f"*{_SUFFIX}") if not is_published(path))
    return {path.relative_to(SHIPPED).with_suffix("").as_posix(): path for path in files}


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long a name, or a character that no path has
        return False
