"""Headlines of README as a published table: its file is that of the stored results."""

import re
from pathlib import Path

import pytest
from headlines import TARGET, headlines, spread, text

from stratagem.games import make_game
from stratagem.sweeps.reproduction.published import read_paper
from stratagem.sweeps.reproduction.table_plan import TablePlan

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_file_of_the_headlines_is_that_of_the_stored_results():
    assert TARGET.read_text("utf-8") == text(), "write it again: python experiments/headlines.py"


def test_every_stored_seed_is_in_its_range_and_far_values_are_not():
    for row in headlines():
        low, high = spread(row.values)
        assert low <= min(row.values)
        assert high >= max(row.values)
    assert spread([1.0, 2.0, 3.0]) == pytest.approx(
        (2.0 - 9.9248 * (4 / 3) ** 0.5, 2.0 + 9.9248 * (4 / 3) ** 0.5), rel=1e-4
    )


def test_runs_of_the_headlines_are_recipes_of_today():
    paper = read_paper(TARGET)
    (table,) = paper.tables
    runs = TablePlan(TARGET, paper, table, "tiny", Path("runs"), (0,)).list_runs()
    assert len(runs) == len(paper.runs)
    assert {run.recipe().algorithm for run in runs} == {"sepo", "shapellm", "scopal"}


def test_metrics_of_the_headlines_are_of_the_games_of_their_runs():
    """A run writes its metrics under the name of the game's spec."""
    paper = read_paper(TARGET)
    (table,) = paper.tables
    runs = {
        run.name.removesuffix("-0"): run.recipe()
        for run in TablePlan(TARGET, paper, table, "tiny", Path("runs"), (0,)).list_runs()
    }
    of_metrics = [row for row in headlines() if row.at.startswith("metrics/")]
    assert len(of_metrics) == 7
    for row in of_metrics:
        names = [make_game(text).spec.name for text in runs[row.run].games]
        assert row.at in [f"metrics/{name}/exact/exploitability" for name in names]


PAGES = {"kuhn": "sepo", "leduc": "sepo", "dice": "sepo", "scopal": "sco-pal", "chicken": "shapellm"}
"""Page of results of each headline, by the start of its run."""


def test_printed_figures_are_those_of_readme_and_of_its_pages():
    """Pages print one to three digits, or a percentage; of chicken they count the seeds that the first seat wins."""
    readme = (ROOT / "README.md").read_text("utf-8")
    for row in headlines():
        name = PAGES[row.run.partition("-")[0]]
        assert f"(docs/results/{name}.md)" in readme
        page = readme if row.run.startswith("kuhn") else (ROOT / f"docs/results/{name}.md").read_text("utf-8")
        mean = sum(row.values) / len(row.values)
        forms = (f"{mean:.3f}".lstrip("0"), f"{mean:.2f}".lstrip("0"), f"{100 * mean:.1f}")
        printed = any(re.search(rf"(?<![\d.]){re.escape(form)}(?!\d)", page) for form in forms)
        assert printed or row.label.startswith("chicken"), row
