"""Mutants by area: single places of the source that are changed on purpose, and the tests that ought to fail then."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = Path("src/stratagem")
AREAS = (
    *("learning", "algorithms", "league", "evaluation", "engines", "games", "prompting", "integrations", "auditing"),
    *("viewer", "reproduction", "players", "workers"),
)
"""Each has a file of its own beside this one."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One changed place."""

    area: str
    file: str
    """The source file, from `src/stratagem`."""
    old: str
    """The text that is replaced; it occurs once in the file."""
    new: str
    tests: tuple[str, ...]
    """Test files, or node ids, from `tests`: narrow ones, so that a mutant takes seconds."""
    equivalent: str = ""
    """The reason why no test can notice it; empty for a mutant that must be killed."""

    @property
    def path(self) -> Path:
        """The source file, from the root of the repository."""
        return SOURCE / self.file

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.file}: {old!r} -> {new!r}"

    def applied(self, text: str) -> str:
        """The file's text with the change."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {text.count(self.old)} times, and a mutant needs it once")
        return text.replace(self.old, self.new)


def mutants(*only: str) -> list[Mutant]:
    """All mutants, or those in whose area, file, texts or tests one of some texts occurs."""
    told = ((one, f"{one.area} {one} {' '.join(one.tests)}") for one in _every())
    return [one for one, text in told if not only or any(some in text for some in only)]


def _every() -> Iterator[Mutant]:
    for area in AREAS:
        for row in tomllib.loads((HERE / f"{area}.toml").read_text("utf-8"))["mutant"]:
            yield Mutant(area=area, **{**row, "tests": tuple(row["tests"])})
