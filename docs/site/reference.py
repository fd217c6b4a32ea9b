"""Links to generated pages of the reference: on a code host to their list, on the site to the pages themselves.

`docs/reference/README.md` is committed and has a heading for each generated page. So a page links to
`reference/README.md#games "kuhn"`: the page of games, at its heading `kuhn`. The site leads there.
"""

from __future__ import annotations

import re

LISTED = re.compile(r'\]\(((?:[\w./-]*/)?)README\.md#([a-z-]+)(?: "([\w-]+)")?\)')
"""Folder, page and heading of a link to the list."""
_NAMED = re.compile(r"`([a-z-]+)\.md`")


def lead_to_pages(source: str, document: str) -> str:
    """Return a page of the site with its links to the list of the reference as links to the pages."""
    inside = document.startswith("docs/reference/")
    if document == "docs/reference/README":
        source = _NAMED.sub(r"[\1](\1.md)", source)

    def page(found: re.Match[str]) -> str:
        folder, name, heading = found.groups()
        if not inside and not folder.endswith("reference/"):
            return found[0]
        return f"]({folder}{name}.md{f'#{heading}' if heading else ''})"

    return LISTED.sub(page, source)
