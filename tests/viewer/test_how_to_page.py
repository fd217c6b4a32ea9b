"""The page on adding a page: its lines and files make a page in a copy of the package, which a browser shows."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from shown_folder import episodes_of

from stratagem.playing.store import write_shard

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "how-to" / "add-a-viewer-page.md").read_text("utf-8")
OPEN = """
import sys
from pathlib import Path
from stratagem.api.views import open_viewer
opened = open_viewer(Path(sys.argv[1]), port=0, needs_token=False)
print(opened.url, flush=True)
sys.stdin.read()
opened.server.close()
"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def add_lines(path, lines, table):
    """Write the import and the row of a table where the page says."""
    imported, row = lines.splitlines()
    text = path.read_text("utf-8")
    start = re.search("^import|^from stratagem", text, re.MULTILINE).start()
    text = f"{text[:start]}{imported}\n{text[start:]}"
    assert table in text
    path.write_text(text.replace(table, f"{table}{row}\n"), "utf-8")


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """The folder of a copy of the package with the page."""
    source = tmp_path_factory.mktemp("source")
    half_written = shutil.ignore_patterns("*.pyc.*")
    viewer = shutil.copytree(ROOT / "src" / "stratagem", source / "stratagem", ignore=half_written) / "show" / "viewer"
    (module,), (line,), (drawing, row) = blocks("python"), blocks("py"), blocks("js")
    (viewer / "lengths.py").write_text(module, "utf-8")
    (viewer / "static" / "lengths.js").write_text(drawing, "utf-8")
    add_lines(viewer / "routes.py", line, "PAGES: Mapping[str, PageRoute] = {\n")
    add_lines(viewer / "static" / "views.js", row, "export const VIEWS = {\n")
    return source


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """A folder with a record of games of three decisions at most."""
    folder = tmp_path_factory.mktemp("counted")
    write_shard(folder / "games", 0, episodes_of("kuhn(hands=1)", ["random", "random"], 24))
    return folder


@pytest.fixture(scope="module")
def address(changed, record):
    """The address of the changed package's viewer: it starts here, so that its second counts for no test."""
    process = subprocess.Popen(
        [sys.executable, "-c", OPEN, str(record)],
        env={**os.environ, "PYTHONPATH": str(changed)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process.stdout.readline().strip()
    process.communicate("")


def answered(address, query):
    """Return what the page's path answers to a query, the answer to a bad one included."""
    try:
        with urlopen(f"{address}api/lengths{query}") as answer:
            return json.load(answer)
    except HTTPError as refused:
        return json.load(refused)


@pytest.mark.runs
def test_page_answers_after_the_lines_of_the_guide(address):
    answer = answered(address, "?record=games")
    assert [length for length, _ in answer["lengths"]] == [2, 3]
    assert sum(episodes for _, episodes in answer["lengths"]) == 24
    assert answered(address, "") == {"error": "The request lacks `record`."}


def test_page_is_drawn_and_in_the_navigation(address, page):
    page.goto(address)
    page.get_by_role("link", name="Lengths", exact=True).click()
    page.get_by_role("heading", name="Lengths").wait_for()
    rows = [row.inner_text().split() for row in page.locator("tbody tr").all()]
    assert [row[0] for row in rows] == ["2", "3"]
    assert sum(int(row[1]) for row in rows) == 24
    assert page.get_by_role("link", name="Lengths", exact=True).get_attribute("aria-current") == "page"


def test_guide_is_short():
    assert len(TEXT.split()) <= 900
