"""Write the reference pages from the code, and refresh the outputs that the other pages show: `make docs`.

The pages of the reference are not committed: `catalogue.py reference` writes them alone, for the site.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from chapters.bibliography import bibliography
from chapters.command_line import command_line
from chapters.described import game_language
from chapters.engines import engines
from chapters.extensions import extensions
from chapters.figures import metrics, suites
from chapters.games import games
from chapters.grpo import grpo
from chapters.homes import homes
from chapters.language import language
from chapters.league import league
from chapters.learning import advantages, checks, losses, matchmakers, optimizers, samplers
from chapters.manual import help_texts, manual
from chapters.players import players
from chapters.python import python
from chapters.records import records
from chapters.reinforce import reinforce
from chapters.runs import runs
from chapters.scopal import scopal
from chapters.shaping import shaping
from chapters.shown import refreshed
from chapters.training import recipes

from stratagem.cli.loading import HELP

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MANUAL = DOCS / "man" / "stratagem.1"

REFERENCE: dict[str, Callable[[], str]] = {
    "games": games,
    "game-language": game_language,
    "players": players,
    "language-models": language,
    "metrics": metrics,
    "suites": suites,
    "command-line": command_line,
    "python": python,
    "extensions": extensions,
    "records": records,
    "recipes": recipes,
    "shaping": shaping,
    "scopal": scopal,
    "grpo": grpo,
    "reinforce": reinforce,
    "league": league,
    "engines": engines,
    "losses": losses,
    "matchmakers": matchmakers,
    "optimizers": optimizers,
    "samplers": samplers,
    "advantages": advantages,
    "checks": checks,
    "runs": runs,
    "map": homes,
    "bibliography": bibliography,
}
"""The pages of `docs/reference`, by name."""


def written_by_hand() -> list[Path]:
    """Every page that people write; the outputs in them are refreshed, the words are left alone."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("**/*.md"))]
    return [page for page in pages if page.parent != DOCS / "reference" or page.stem not in REFERENCE]


@cache
def reference_page(name: str) -> str:
    """Return the text of a page of the reference, written once in a process."""
    return REFERENCE[name]()


def main(*, only_reference: bool) -> None:
    """Write every page that has changed, and say which."""
    for name in REFERENCE:
        _update(DOCS / "reference" / f"{name}.md", reference_page(name))
    if only_reference:
        return
    _update(MANUAL, manual())
    _update(HELP, help_texts())
    for path in written_by_hand():
        _update(path, refreshed(path.read_text("utf-8")))


def _update(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main(only_reference="reference" in sys.argv[1:])
