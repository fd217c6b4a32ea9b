"""Check of published tables against the texts of their papers: `python experiments/check_published.py PAPERS [NAME]`.

PAPERS is a folder with the text of each paper, under the name that its `published.toml` has as `text`. The figures of a
row must stand in the order of the columns within a few lines, between the caption of their table and the next one, or
the one before where the paper has captions below. A caption is a line that begins with the table's name, as `Table 2`.
A table with `printed_in`, or without a name of that kind, is sought in the whole text.

It prints each row that is not found, and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from stratagem.sweeps.reproduction.published import (
    PublishedPaper,
    PublishedRow,
    PublishedTable,
    file_of,
    paper_names,
    read_paper,
)

LINES = 4
"""Largest number of lines over which the figures of a row are spread."""
_CAPTION = re.compile(r"(?:\d+\s+)?[#*\s]*(Table|Figure)\s+([A-Z]?\.?\d+)(\s*[:.])?")
_SIGNS = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "*": None, "$": None, "{": None, "}": None, "\\": None, "_": None, "^": None}
)


def plain(text: str) -> str:
    """Return a text without marks of markdown, HTML and TeX, with one kind of minus and single spaces."""
    return " ".join(re.sub(r"\\pm|±", " ± ", re.sub(r"</?\w+>", "", text)).translate(_SIGNS).split())


def lines_at(table: PublishedTable, lines: Sequence[str], captions: str) -> Sequence[str]:
    """Return the part of a text in which the figures of a table stand."""
    kind, number = ("Figure", table.id[7:]) if table.id.startswith("figure-") else ("Table", table.id)
    if table.printed_in or not number[-1:].isdigit():
        return lines
    found = [(index, caption) for index, line in enumerate(lines) if (caption := _CAPTION.match(line))]
    named = [(index, caption[2], caption[3]) for index, caption in found if caption[1] == kind]
    own = [caption for caption in named if caption[1].casefold() == number.casefold()]
    if not own:
        return ()
    start = next((index for index, _, mark in own if mark), own[0][0])
    others = [index for index, name, _ in named if name != own[0][1]]
    if captions == "above":
        return lines[start : min((index for index in others if index > start), default=len(lines))]
    return lines[max((index for index in others if index < start), default=0) : start]


def is_printed(figures: Sequence[str], lines: Sequence[str]) -> bool:
    """Test whether figures stand in their order within a few successive lines."""
    whole = r".*?".join(rf"(?<![\d.\-]){re.escape(plain(figure))}(?!\d|\.\d)" for figure in figures)
    windows = (" ".join(lines[index : index + LINES]) for index in range(len(lines)))
    return any(re.search(whole, window) for window in windows)


def missing_rows(paper: PublishedPaper, text: str) -> Iterator[tuple[PublishedTable, PublishedRow]]:
    """Yield the rows whose figures are not in a text."""
    lines = [line for line in map(plain, text.splitlines()) if line]
    for table in paper.tables:
        part = lines_at(table, lines, paper.captions)
        for row in table.rows:
            figures = [figure for figure in row.published if figure]
            if figures and not is_printed(figures, part):
                yield table, row


def check(name: str, folder: Path) -> int:
    """Print the rows of a paper that are not in its text, and return their number."""
    paper = read_paper(file_of(name))
    if not paper.text:
        print(f"{name}: `text` in its published.toml names no file.")
        return 1
    missing = list(missing_rows(paper, (folder / paper.text).read_text(encoding="utf-8")))
    for table, row in missing:
        print(f"{name}, table {table.id}, {row.label}: not found: {', '.join(filter(None, row.published))}")
    checked = sum(any(row.published) for table in paper.tables for row in table.rows)
    print(f"{name}: {checked - len(missing)} of {checked} rows are in {paper.text}.")
    return len(missing)


def main() -> None:
    """Check one paper, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", type=Path, help="folder of the texts")
    parser.add_argument("name", nargs="?", choices=paper_names(), help="paper; all without one")
    arguments = parser.parse_args()
    names = [arguments.name] if arguments.name else paper_names()
    sys.exit(1 if sum([check(name, arguments.papers) for name in names]) else 0)


if __name__ == "__main__":
    main()
