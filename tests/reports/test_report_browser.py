"""The page in a real browser, without any network: everything is drawn, nothing of a run runs, nothing is too wide."""

import re
import shutil
import subprocess

import pytest
from made_runs import HOSTILE, begun, whole, write

from stratagem.show.reports.report import write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.runs, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]
FRAME = """<!doctype html><iframe src="{path}" width="{width}" height="900" style="border:0"></iframe><script>
onload = () => {{
  const page = document.querySelector("iframe").contentDocument.documentElement;
  document.body.dataset.over = page.scrollWidth - page.clientWidth;
  document.body.dataset.drawn = page.dataset.drawn;
  document.body.dataset.pictures = page.querySelectorAll("svg.plot-area .trace path").length > 10;
}};
</script>"""


def opened(path, folder):
    """Return the page once its scripts have run; every name of a host leads nowhere."""
    options = (
        *("--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"),
        *("--allow-file-access-from-files", "--disable-web-security", f"--user-data-dir={folder / 'profile'}"),
        *("--virtual-time-budget=8000", "--window-size=1500,1000", "--enable-logging=stderr", "--dump-dom"),
    )
    done = subprocess.run(
        [CHROMIUM, *options, path.as_uri()], capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Of a run whose texts would like to be markup."""
    run = whole(tmp_path_factory.mktemp("runs") / "run", words=HOSTILE)
    write(run, "findings.json", {"x": {"count": 1, "first": HOSTILE, "level": "fault"}})
    return write_report(run)


def test_every_picture_is_drawn_and_no_text_is_run(report, tmp_path):
    dom, complaints = opened(report, tmp_path)
    pictures = len(re.findall(r'<figure class="plot', report.read_text("utf-8")))
    assert pictures > 10
    assert f'data-drawn="{pictures}"' in dom
    assert len(re.findall(r'class="plot-area"', dom)) == pictures
    assert "<title>run: finished</title>" in dom
    assert complaints == []


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_wider_than_the_window(report, tmp_path, width):
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(path=report.as_uri(), width=width), encoding="utf-8")
    dom, _ = opened(frame, tmp_path)
    assert 'data-over="0"' in dom
    assert 'data-pictures="true"' in dom


def test_a_run_that_has_just_begun_opens_too(tmp_path):
    dom, complaints = opened(write_report(begun(tmp_path / "run")), tmp_path)
    assert 'data-drawn="0"' in dom
    assert complaints == []


def test_a_script_that_is_not_the_pages_own_is_refused(report, tmp_path):
    changed = tmp_path / "changed.html"
    page = report.read_text("utf-8").replace("</body>", "<script>document.title = 'taken'</script></body>")
    changed.write_text(page, encoding="utf-8")
    dom, complaints = opened(changed, tmp_path)
    assert "<title>run: finished</title>" in dom
    assert any("Content Security Policy" in line for line in complaints)
