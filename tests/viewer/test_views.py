"""The two sides of the table of pages name the same pages."""

import re

from stratagem.show.viewer.files import STATIC
from stratagem.show.viewer.routes import PAGES

ROW = re.compile(r"^  '(/\w*)': \{ Page: (\w+)", re.MULTILINE)


def test_every_page_has_a_line_on_both_sides_and_a_file_that_draws_it():
    text = (STATIC / "views.js").read_text("utf-8")
    rows = dict(ROW.findall(text))
    assert len(rows) == text.count("Page:"), "each page is one line"
    assert rows.keys() == PAGES.keys()
    for page in rows.values():
        (file,) = re.findall(rf"^import {{ {page} }} from './(\w+\.js)';", text, re.MULTILINE)
        assert f"export function {page}(" in (STATIC / file).read_text("utf-8")


def test_no_request_belongs_to_two_pages():
    names = [name for page in PAGES.values() for name in (*page.answers, *page.follows)]
    acts = [name for page in PAGES.values() for name in page.actions]
    assert len(set(names)) == len(names)
    assert len(set(acts)) == len(acts)
