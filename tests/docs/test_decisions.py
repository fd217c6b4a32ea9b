"""Pages of decisions: short, of one form, in the index, with figures of their sources; and the page for agents."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "decisions"
PAGES = sorted({*FOLDER.glob("*.md")} - {FOLDER / "index.md"})
HEADINGS = ["Decision", "Alternatives", "Measurement", "What would change it"]
LINK = re.compile(r"\]\(([^)#\s]+)[^)\s]*\)")
NAMED = re.compile(r"`([\w./-]+/[\w./-]+|[A-Z]+\.md)`")
"""Path of the repository in a sentence."""
FIGURE = re.compile(r"(?<![\w.])\d*(?:,\d{3})*\.?\d+(?![\w])")
UNMEASURED = re.compile(r"\bnot (?:measured|stored|compared|timed)\b|Nothing was measured|No measurement")
AGENTS = (ROOT / "AGENTS.md").read_text("utf-8")


def section(text, heading):
    """Return the text below a heading."""
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0].strip()


def figures(text):
    """Return the numbers of a text, in one spelling."""
    return {found.replace(",", "").lstrip("0") or "0" for found in FIGURE.findall(text)}


def sources(page, text):
    """Return the files that a text links or names."""
    linked = [(page.parent / target).resolve() for target in LINK.findall(text) if not target.startswith("https:")]
    return [*linked, *(ROOT / name for name in NAMED.findall(text))]


def unsupported(page, text):
    """Return the figures of a measurement that none of its sources has."""
    known = set().union(*(figures(source.read_text("utf-8")) for source in sources(page, text)))
    plain = NAMED.sub("", re.sub(r"\]\([^)]*\)", "]", text))
    return figures(plain) - known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_decision_page_has_its_four_parts_in_at_most_300_words(page):
    text = page.read_text("utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert all(section(text, heading) for heading in HEADINGS)
    assert len(text.split()) <= 300
    assert len(re.findall(r"\.(?:\s|$)", re.sub(r"\([^)]*\)", "", section(text, "Decision")))) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_decision_page_has_figures_of_its_sources_or_says_that_nothing_was_measured(page):
    text = section(page.read_text("utf-8"), "Measurement")
    assert unsupported(page, text) == set()
    assert sources(page, text), "a measurement names the page that has it"
    assert figures(LINK.sub("]", text)) or UNMEASURED.search(text)


def test_a_figure_without_a_source_is_found():
    page = FOLDER / "own-decode-path.md"
    assert unsupported(page, "1.58 times as fast, or 7,654.3 ([engine](../results/performance.md))") == {"7654.3"}


def test_index_of_decisions_lists_every_page_once():
    rows = re.findall(r"^\| \[(.*?)\]\((.*?)\) \|", (FOLDER / "index.md").read_text("utf-8"), re.MULTILINE)
    titles = {page.name: page.read_text("utf-8").partition("\n")[0].removeprefix("# ") for page in PAGES}
    assert {name: title for title, name in rows} == titles
    assert len(rows) == len(PAGES) >= 12


@pytest.mark.parametrize("name", ["docs/index.md", "CONTRIBUTING.md"])
def test_index_of_decisions_is_linked(name):
    page = ROOT / name
    assert FOLDER / "index.md" in sources(page, page.read_text("utf-8"))


def test_page_for_agents_is_short_and_names_what_exists():
    assert len(AGENTS.splitlines()) <= 40
    paths = re.findall(r"`((?:\w+/)+[\w.-]*|[A-Z]+\.md)`", AGENTS)
    packages = re.findall(r"`(\w+)`", AGENTS.partition("## Layout")[2].partition("## Commands")[0])
    assert len(paths) > 6
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert len(packages) > 12
    assert [name for name in packages if not (ROOT / "src" / "stratagem" / name).is_dir()] == []
