"""Settings of Sphinx for the documentation site; `make site` builds it.

The pages are the Markdown files of the repository at their own places, so that a link works on a code host and on the
site. The contents in the sidebar are the links of docs/index.md under their headings: a page is listed once.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from moved import MOVED, TEMPLATE
from reference import lead_to_pages
from sequence import drawn
from synonyms import SYNONYMS, index_entries

ROOT = Path(__file__).parents[2]
project = "Stratagem"
author = "The Stratagem developers"
_STATED = re.search(r'^__version__ = "(.+)"', (ROOT / "src/stratagem/__init__.py").read_text("utf-8"), re.MULTILINE)
version = release = _STATED[1] if _STATED else ""

extensions = ["myst_parser", "sphinx_copybutton"]
include_patterns = ["docs/*.md", "docs/**/*.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
root_doc = "docs/index"
templates_path = ["templates"]
html_theme = "furo"
html_title = f"Stratagem {version}"
html_logo = html_favicon = "../../src/stratagem/show/viewer/static/icon.svg"
copybutton_exclude = ".linenos, .gp, .go"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "landing.html"} | dict.fromkeys(MOVED, TEMPLATE)
html_context = {"moved": MOVED}
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_show_sourcelink = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "versions.html",
        "sidebar/scroll-end.html",
    ]
}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
pygments_style = "friendly"
pygments_dark_style = "monokai"

_LINK = re.compile(r"\]\(([\w./-]+\.md)\)")
_ALSO = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


def contents(index: str) -> str:
    """Tables of contents for the sidebar, one a heading, of the pages that docs/index.md links."""
    parts = re.split(r"^## (.+)$", index, flags=re.MULTILINE)[1:]
    tables = [_table(title, _LINK.findall(text)) for title, text in zip(parts[::2], parts[1::2], strict=True)]
    return "\n".join((*tables, _table("The project", [f"../{name}" for name in _ALSO])))


def _table(caption: str, pages: list[str]) -> str:
    entries = "\n".join(dict.fromkeys(pages))
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def _prepared(app: Any, document: str, source: list[str]) -> None:
    source[0] = lead_to_pages(drawn(source[0]), document) + index_entries(document)
    if document == root_doc:
        source[0] += contents(source[0])


def setup(app: Any) -> None:
    """Draw the diagrams of all pages, and give the list of pages its tables of contents."""
    app.connect("source-read", _prepared)
    app.add_config_value("synonyms", dict(SYNONYMS), "env", dict)  # pages are read again when the words change
