"""The works that code and pages cite, each with the places that cite it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from chapters.markdown import page, table

ROOT = Path(__file__).resolve().parents[2]
WORKS = ROOT / "docs" / "bibliography.toml"
SOURCE = ROOT / "src" / "stratagem"
SEASONS = ("Spring", "Fall", "Winter")
"""Words that stand before a year of Diplomacy, and are no author."""
_NAME = r"(?:von )?[A-Z][a-zà-ÿ]+(?:[A-Z][a-z]+)?(?:-[A-Z][a-z]+)*"
_CITED = re.compile(rf"\b({_NAME}(?:(?:, {_NAME})* and {_NAME}| et al\.)?)(?:'s|,)? \(?((?:1[89]|20)\d\d[a-z]?)\b")
"""Authors and year: `Kuhn 1950`, `Bell and McCaffrey (2002)`, `Shao et al. 2024`."""
_GENERATED = "docs/reference/"


class Work(NamedTuple):
    """Book, article or program."""

    citation: str
    """Authors and year, as texts cite it."""
    authors: str
    title: str
    published_in: str = ""
    arxiv: str = ""

    @property
    def year(self) -> str:
        """Year of the citation."""
        return self.citation.rpartition(" ")[2].rstrip("abc")

    @property
    def entry(self) -> str:
        """The work in a sentence."""
        link = f"[arXiv:{self.arxiv}](https://arxiv.org/abs/{self.arxiv})" if self.arxiv else ""
        places = ", ".join(filter(None, (self.published_in, link)))
        return ". ".join(filter(None, (f"{self.authors}, {self.year}", self.title, places))) + "."


def read_works() -> list[Work]:
    """Read all works, in the order of the file."""
    entries: Mapping[str, Mapping[str, str]] = tomllib.loads(WORKS.read_text("utf-8"))
    return [
        Work(name, one["authors"], one["title"], one.get("in", ""), one.get("arxiv", ""))
        for name, one in entries.items()
    ]


def citations(text: str) -> Iterator[str]:
    """Yield the citations of a text, whose lines may break inside of one."""
    lines = (re.sub(r"^\s*#(?: |$)", " ", line) for line in text.splitlines())
    for names, year in _CITED.findall(" ".join(" ".join(lines).split())):
        if names not in SEASONS:
            yield f"{names} {year}"


def citing_files() -> Iterator[Path]:
    """Yield the files that may cite: the source, and the pages that people write."""
    yield from sorted(SOURCE.rglob("*.py"))
    pages = sorted((ROOT / "docs").rglob("*.md"))
    yield from (one for one in pages if not one.relative_to(ROOT).as_posix().startswith(_GENERATED))
    yield ROOT / "docs" / "reference" / "glossary.md"


def places() -> dict[str, list[Path]]:
    """Return the files that cite each work."""
    found: dict[str, list[Path]] = {}
    for file in citing_files():
        for name in dict.fromkeys(citations(file.read_text("utf-8"))):
            found.setdefault(name, []).append(file)
    return found


def bibliography() -> str:
    """The page."""
    cited = places()
    rows = ((work.citation, work.entry, ", ".join(map(_place, cited[work.citation]))) for work in read_works())
    return page(
        "Bibliography",
        "Each work that the code or a page cites, with the modules of `src/stratagem` and the pages that do. The "
        "papers of the four systems are in `CITATION.cff`.",
        table(("citation", "work", "cited in"), rows),
    )


def _place(file: Path) -> str:
    """Return a module as code, and a page as a link."""
    if file.suffix == ".py":
        return f"`{'.'.join(file.relative_to(SOURCE).with_suffix('').parts)}`"
    name = file.relative_to(ROOT / "docs").as_posix()
    return f"[{file.stem}]({file.name if name.startswith('reference/') else f'../{name}'})"
