"""Changes between two outcomes of a case: figures that moved, vanished or are new, and lines that differ."""

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from flat_figures import Figure
from golden_cases import Outcome

MOST_LINES = 6
"""Number of lines of a differing text that are printed."""


@dataclass(frozen=True)
class Renames:
    """New names of what is stored under old ones; an empty new name drops it on purpose."""

    keys: Mapping[str, str] = field(default_factory=dict)
    """New key by old key, or by the parts with which it begins."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """New text by a text in the label of a row."""
    words: Mapping[str, str] = field(default_factory=dict)
    """New text by a text in a printed line."""

    def figure(self, stored: Figure) -> Figure | None:
        """Return a stored figure under its new names; None where it was dropped on purpose."""
        row = _replaced(stored.row, self.rows)
        for old in sorted(self.keys, key=len, reverse=True):
            if stored.key == old or stored.key.startswith(f"{old}."):
                new = self.keys[old]
                return stored._replace(row=row, key=new + stored.key[len(old) :]) if new else None
        return stored._replace(row=row)

    def line(self, stored: str) -> str:
        """Return a stored line in its new words."""
        return " ".join(_replaced(stored, self.words).split())


def _replaced(text: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def read_renames(path: Path) -> Renames:
    """Read the table of renamed keys, rows and words."""
    return Renames(**tomllib.loads(path.read_text(encoding="utf-8")))


def changes(stored: Outcome, today: Outcome, renames: Renames, tolerance: float = 0.0) -> list[str]:
    """Return a sentence for each change; a `tolerance` is relative, and 0 compares to the last bit."""
    return [*_figure_changes(stored, today, renames, tolerance), *_line_changes(stored, today, renames)]


def _figure_changes(stored: Outcome, today: Outcome, renames: Renames, tolerance: float) -> Iterator[str]:
    now = {figure[:3]: figure.value for figure in today.figures}
    expected = [figure for old in stored.figures if (figure := renames.figure(old)) is not None]
    for figure in expected:
        if figure[:3] not in now:
            yield f"{_name(figure)} vanished, it was {_decimal(figure.value)}"
        elif not _is_equal(figure.value, now[figure[:3]], tolerance):
            yield f"{_name(figure)} moved from {_decimal(figure.value)} to {_decimal(now[figure[:3]])}"
    known = {figure[:3] for figure in expected}
    yield from (
        f"{_name(figure)} is new: {_decimal(figure.value)}" for figure in today.figures if figure[:3] not in known
    )


def _is_equal(old: str, new: str, tolerance: float) -> bool:
    if old == new or not tolerance or (old + new).count("0x") != 2:
        return old == new
    return math.isclose(float.fromhex(old), float.fromhex(new), rel_tol=tolerance, abs_tol=tolerance)


def _name(figure: Figure) -> str:
    return f"{figure.face}: {figure.row}: {figure.key}" if figure.row else f"{figure.face}: {figure.key}"


def _decimal(value: str) -> str:
    return repr(float.fromhex(value)) if "0x" in value else value


def _line_changes(stored: Outcome, today: Outcome, renames: Renames) -> Iterator[str]:
    for face in dict.fromkeys([*stored.texts, *today.texts]):
        old = [renames.line(line) for line in stored.texts.get(face, [])]
        new = today.texts.get(face, [])
        differing = [
            line
            for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
            if tag != "equal"
            for line in (*(f"- {one}" for one in old[a:b]), *(f"+ {one}" for one in new[c:d]))
        ]
        yield from (f"{face}: {line}" for line in differing[:MOST_LINES])
        if len(differing) > MOST_LINES:
            yield f"{face}: and {len(differing) - MOST_LINES} further lines"
