"""Check every link inside a built site: `python docs/site/links.py FOLDER`.

A link to a page, a picture, a script or a place in a page must lead somewhere. Links to other hosts are counted, and
not asked, since the check runs without a network.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The links of one page, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the place of one tag."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "srcset" and value:
                self.links += [part.split()[0] for part in value.split(",")]
            elif name in ("id", "name") and value:
                self.places.add(value)


@cache
def _read(path: Path) -> _Page:
    return _Page(path.read_text("utf-8"))


def broken(page: Path, link: str, root: Path) -> str | None:
    """Say why a link of a page leads nowhere; None where it does not, or leads to another host."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(root):
        return "leaves the site"
    if not target.is_file():
        return "there is no such file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in _read(target).places:
        return "there is no such place in the page"
    return None


def main(folder: str) -> int:
    """Print the broken links and the number of all; return 1 if there is a broken one."""
    root = Path(folder).resolve()
    pages = sorted(root.rglob("*.html"))
    links = [(page, link) for page in pages for link in _read(page).links]
    outside = sum(1 for _, link in links if urlsplit(link).scheme in ("http", "https"))
    wrong = [(page, link, why) for page, link in links if (why := broken(page, link, root))]
    for page, link, why in wrong:
        print(f"{page.relative_to(root)}: {link}: {why}")
    print(f"{len(pages)} pages, {len(links) - outside} links inside, {len(wrong)} broken, {outside} to other hosts")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
