"""Sections of a report as pages: the same objects as in its file, as trees without anything that could run."""

import re
from html import escape

from page_client import ask
from shown_folder import HOSTILE, add_step
from starlette.testclient import TestClient

from stratagem.show.html import Html, element, join
from stratagem.show.reports.figure import PictureFacts, picture
from stratagem.show.reports.report import report_html, write_report
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.report_pages import report_page, report_pages, tree_of
from stratagem.show.viewer.studio import Studio
from stratagem.training.runs.folder import RunFolder


def markup(node):
    """The HTML of a tree; the data of a picture is left out."""
    if isinstance(node, str):
        return escape(node)
    tag, given, *children = node
    kept = {name: value for name, value in given.items() if name != "data"}
    names = "".join(f' {name}="{escape(value)}"' if value else f" {name}" for name, value in kept.items())
    inside = "".join(map(markup, children))
    return f"<{tag}{names}>" if tag in ("br", "col", "wbr") else f"<{tag}{names}>{inside}</{tag}>"


def test_pages_are_the_sections_of_the_file(folder):
    run = RunFolder(folder / "runs" / "first")
    text = re.sub(r"<script.*?</script>", "", report_html(run))
    pages = report_pages(run)
    assert list(pages)[1:] == re.findall(r'<section id="(\w+)"', text)
    for name, page in pages.items():
        assert "".join(map(markup, page["body"])) in text, name
        assert f'<p class="shows">{escape(page["shows"])}</p>' in text or name == "summary"


def test_pictures_keep_their_traces():
    (node,) = tree_of(picture("a title", [{"x": [1], "y": [2.5]}], reading=PictureFacts("chips", "1 step")))
    assert node[1]["data"]["traces"] == [{"x": [1], "y": [2.5]}]
    assert [part[0] for part in node[2:]] == ["figcaption", "div", "p"]


def test_foreign_markup_cannot_run_or_lead_away():
    foreign = Html(
        "<p onclick='x()' style='position:fixed' class=a>one<script>alert(1)</script><style>p{}</style>"
        "<iframe src=//evil>two</iframe><a href='https://evil'>three</a><a href='#curves'>four</a><img src=x onerror=y>"
    )
    assert tree_of(foreign) == [
        ["p", {"class": "a"}, "one", "two", ["a", {}, "three"], ["a", {"href": "#curves"}, "four"]]
    ]
    assert tree_of(join(element("p", HOSTILE)))[0][2].startswith("<img src=x onerror=")
    assert tree_of(Html("</p></div>a<b>c")) == ["a", ["b", {}, "c"]]


def test_page_follows_the_run(folder):
    client = TestClient(Viewer(Studio(folder)).application(), base_url="http://127.0.0.1:8150")
    first = ask(client, "report", run="runs/first", section="curves")
    assert first["section"]["title"] == "Metrics over training"
    assert first["file"] is None
    add_step(folder / "runs" / "first", 5)
    write_report(RunFolder(folder / "runs" / "first"))
    second = ask(client, "report", run="runs/first", section="curves")
    assert second["section"] != first["section"]
    assert second["file"] == "runs/first/report.html"
    assert "did you mean curves" in ask(client, "report", 404, run="runs/first", section="curve")["error"]
    assert ask(client, "report", run="runs/first")["section"]["name"] == "summary"
    assert report_page.__doc__
