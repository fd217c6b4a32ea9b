"""Plain Markdown of every page beside its HTML, and `llms.txt`, the list of all: `plain_pages.py site/VERSION`.

Programs that read documentation, such as coding agents, need neither a theme nor scripts. The list has the form of
https://llmstxt.org: a title, a summary, and below each heading the pages with what they are about. It is docs/index.md
with its links from the folder of the version.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from reference import lead_to_pages

ROOT = Path(__file__).parents[2]
ALSO = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
INDEX = "docs/index.md"
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)")
"""Address of a link to a file of the project, with its place in the page."""


def pages() -> Iterator[str]:
    """Yield the places of all pages of the site."""
    yield from ALSO
    yield from sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))


def plain(name: str) -> str:
    """Return the Markdown of a page, its links to the reference as links to the pages of the site."""
    return lead_to_pages((ROOT / name).read_text("utf-8"), name.removesuffix(".md"))


def listed(index: str) -> str:
    """Return docs/index.md as a list for programs: its introduction as the summary, links from the root of the site."""
    title, _, rest = index.partition("\n")
    summary, heading, lists = rest.partition("\n## ")
    quoted = "> " + " ".join(summary.split())
    return LINK.sub(_from_root, f"{title}\n\n{quoted}\n{heading}{lists}")


def _from_root(found: re.Match[str]) -> str:
    target = found[1]
    return f"]({target[3:] if target.startswith('../') else f'docs/{target}'}"


def write_pages(folder: Path) -> int:
    """Write the list and all pages, and return their number."""
    names = list(pages())
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(plain(name), encoding="utf-8")
    text = listed(plain(INDEX))
    (folder / "llms.txt").write_text(text, encoding="utf-8")
    for name in LINK.findall(text):  # what it links beside pages, such as notebooks
        target = name.partition("#")[0]
        if not (folder / target).exists() and (ROOT / target).is_file():
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / target, folder / target)
    return len(names)


if __name__ == "__main__":
    print(f"{write_pages(Path(sys.argv[1]))} pages in Markdown, listed in llms.txt")
