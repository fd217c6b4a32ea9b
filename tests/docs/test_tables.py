"""Tables of the pages: every row has as many cells as the head of its table."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
CELL = re.compile(r"(?<!\\)\|")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def uneven_rows(page):
    """Rows whose number of cells is not that of the first row of their table."""
    found, width = [], 0
    for line in FENCED.sub("", page).splitlines():
        cells = len(CELL.findall(line)) if line.startswith("|") else 0
        if width and cells and cells != width:
            found.append(line)
        width = (width or cells) if cells else 0
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rows_of_a_table_have_equally_many_cells(path):
    assert uneven_rows(path.read_text("utf-8")) == []


def test_a_row_that_lacks_a_cell_is_found():
    table = "| claim | system | answer |\n| --- | --- | --- |\n| one | A | yes |\n"
    assert uneven_rows(table) == []
    assert uneven_rows(f"{table}| two | no |\n") == ["| two | no |"]
    assert uneven_rows("```text\n| a |\n| a | b |\n```\n") == []
    assert uneven_rows("| `a \\| b` | c |\n| --- | --- |\n") == []


TARGETS = (ROOT / "docs/results/targets.md").read_text("utf-8")
ANSWERS = ("not supported", "not shown", "not run", "supported")
LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")


def cells_of_targets():
    """Yield the cells of each row of the page of targets, without heads and without the table of answers."""
    for line in TARGETS[TARGETS.index("## SEPO") :].splitlines():
        if line.startswith("| ") and not line.startswith(("| ---", "| question |", "| target |")):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


@pytest.mark.parametrize("name", ["targets", "shapellm", "sepo", "sco-pal", "league", "diplomacy", "diplomacy-search"])
def test_results_of_the_systems_have_short_cells(name):
    page = FENCED.sub("", (ROOT / f"docs/results/{name}.md").read_text("utf-8"))
    cells = [cell for line in page.splitlines() if line.startswith("|") for cell in CELL.split(line)]
    assert [cell for cell in cells if len(re.sub(r"\]\([^)]*\)", "]", cell).split()) > 25] == []


def test_each_target_has_one_of_four_answers_with_its_page_and_a_figure_or_a_command():
    rows = list(cells_of_targets())
    assert len(rows) > 70
    for _, answer, figure in rows:
        link = LINK.match(answer)
        assert link, answer
        assert link[1].startswith(ANSWERS), answer
        assert figure.startswith("`") if link[1] == "not run" else re.search(r"\d", figure), figure
