"""Page around the sections: one file without dependencies, which works without a server and reaches no network.

Only the script that is named by its digest in the page's policy may run, so no text of a run ever can.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from stratagem import __version__
from stratagem.show.html import Html, element, join, text
from stratagem.show.reports.section import Section

REPORTS = Path(__file__).parent
MODULES = ("plot_scales.js", "plot_marks.js", "plot.js")
"""Modules that draw a picture, each after those that it imports."""
STYLES = ("plot.css", "page.css", "section.css")
_BETWEEN_MODULES = re.compile(r"^import .*\n|^export (?=class|const|function)", re.MULTILINE)


def page(title: str, header: Html, sections: Sequence[Section], *, pictures: bool = True, of: str = "the run") -> str:
    """Write the whole document; without `pictures` it has no script."""
    scripts = _scripts() if pictures else ()
    head = join(
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(scripts)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        Html(f"<style>{''.join(map(_own, STYLES))}</style>"),
    )
    contents = element("nav", *(element("a", section.title, href=f"#{section.name}") for section in sections))
    footer = element("footer", f"Written by stratagem {__version__} from the files of {of}. The page needs no network.")
    main = element("main", header, contents, *(section.html() for section in sections), footer, class_="report")
    body = join(main, *(Html(f"<script>{script}</script>") for script in scripts))
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def policy(scripts: Sequence[str]) -> str:
    """Return the content security policy of the page: run these scripts, use styles and embedded pictures.

    Nothing else.
    """
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _scripts() -> tuple[str, ...]:
    """Return the script that draws the pictures: modules of the pages of `stratagem view`, joined to one."""
    joined = "".join(_BETWEEN_MODULES.sub("", _own(name)) for name in (*MODULES, "page.js"))
    script = f'"use strict";\n(() => {{\n{joined}}})();\n'
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("the script of the page would end its own element")
    return (script,)


@cache
def _own(name: str) -> str:
    return REPORTS.joinpath(name).read_text(encoding="utf-8")


def header(
    name: str,
    state: str,
    sentence: str,
    verdict: Sequence[str],
    tiles: Sequence[tuple[str, str]],
    figures: Html = Html(""),  # noqa: B008 - a constant
) -> Html:
    """Write the head of the page: the run, its status, and the summary."""
    title = element("h1", name, " ", element("span", state, class_=f"state {state}"))
    return element("header", title, summary(sentence, verdict, tiles, figures), class_="top")


def summary(sentence: str, verdict: Sequence[str], tiles: Sequence[tuple[str, str]], figures: Html) -> Html:
    """Write the verdict of a run with its figures, below the reason why it failed."""
    facts = [element("div", element("dt", name), element("dd", value)) for name, value in tiles]
    return join(
        element("p", sentence, class_="bad") if sentence else text(""),
        element("div", *(element("p", line) for line in verdict), class_="verdict"),
        figures,
        element("dl", *facts, class_="tiles"),
    )
