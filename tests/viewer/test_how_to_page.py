"""The page on adding a page: its lines and files make a page in a copy of the package, which a browser shows."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shown_folder import episodes_of

from stratagem.playing.store import write_shard

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "how-to" / "add-a-viewer-page.md").read_text("utf-8")
ASK = """
import json, sys
from pathlib import Path
from starlette.testclient import TestClient
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.studio import Studio
client = TestClient(Viewer(Studio(Path(sys.argv[1]))).application(), base_url="http://localhost")
print(json.dumps([client.get("/api/lengths", params=query).json() for query in ({"record": "games"}, {})]))
"""
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
    ignored = shutil.ignore_patterns("__pycache__")
    viewer = shutil.copytree(ROOT / "src" / "stratagem", source / "stratagem", ignore=ignored) / "show" / "viewer"
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


def started(source, program, folder):
    return subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.runs
def test_page_answers_after_the_lines_of_the_guide(changed, record):
    told, _ = started(changed, ASK, record).communicate()
    answer, refused = json.loads(told)
    assert [length for length, _ in answer["lengths"]] == [2, 3]
    assert sum(episodes for _, episodes in answer["lengths"]) == 24
    assert refused == {"error": "The request lacks `record`."}


def test_page_is_drawn_and_in_the_navigation(changed, record, page):
    process = started(changed, OPEN, record)
    try:
        page.goto(process.stdout.readline().strip())
        page.get_by_role("link", name="Lengths", exact=True).click()
        page.get_by_role("heading", name="Lengths").wait_for()
        rows = [row.inner_text().split() for row in page.locator("tbody tr").all()]
        assert [row[0] for row in rows] == ["2", "3"]
        assert sum(int(row[1]) for row in rows) == 24
        assert page.get_by_role("link", name="Lengths", exact=True).get_attribute("aria-current") == "page"
    finally:
        process.communicate("")


def test_guide_is_short():
    assert len(TEXT.split()) <= 900
