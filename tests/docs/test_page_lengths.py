"""Lengths of the pages: a page that has grown is split into tasks, or its details go to the data beside it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GLOSSARY = DOCS / "reference" / "glossary.md"
SHORT_RESULTS = (
    *(
        "atlas",
        "audit",
        "beliefs",
        "board",
        "cheap-talk",
        "collapse",
        "coverage",
        "deal-coverage",
        "labels",
        "language-players",
        "memory",
        "performance",
        "press",
        "readers",
    ),
    *("reading", "reinforce", "search", "shaping"),
)
"""Pages of results of at most 1,500 words; those of the four systems are longer."""
LIMITS = (
    {page: 900 for folder in ("how-to", "tutorials") for page in sorted((DOCS / folder).glob("*.md"))}
    | {DOCS / "results" / f"{name}.md": 1500 for name in SHORT_RESULTS}
    | {
        DOCS / "results" / "what-we-found.md": 1200,
        DOCS / "explanation" / "exploitability.md": 1800,
        ROOT / "README.md": 900,
    }
    | {ROOT / "CONTRIBUTING.md": 1800, ROOT / "CHANGELOG.md": 3500}
)
"""Largest number of words by page."""


def count_words(text):
    """Count what has a letter or a digit: the lines of a table are none."""
    return sum(any(sign.isalnum() for sign in word) for word in text.split())


def test_lines_of_a_table_are_no_words():
    assert count_words("| a b | 1 |\n| --- | --- |\n") == 3


@pytest.mark.parametrize("page", LIMITS, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_has_at_most_so_many_words(page):
    assert count_words(page.read_text("utf-8")) <= LIMITS[page]


def test_all_pages_that_people_write_have_at_most_so_many_words_together():
    pages = {ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "AGENTS", "SECURITY")} | {*DOCS.glob("**/*.md")}
    written = pages - {*DOCS.glob("decisions/*.md")} - {*DOCS.glob("reference/*.md")} | {GLOSSARY}
    assert sum(count_words(page.read_text("utf-8")) for page in written) <= 105_000
