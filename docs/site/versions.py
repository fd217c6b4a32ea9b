"""List the versions of the site in a folder, and lead its first page to the newest: `versions.py site`.

Every version is a folder of its own, so a new build leaves the old ones as they are. Their pages read the list from
`versions.js` beside the folders, which works without a server.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

_VERSION = re.compile(r"\d+(\.\d+)*")
FIRST = """<!doctype html>
<meta charset="utf-8">
<title>Stratagem</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<p><a href="{newest}/index.html">Stratagem {newest}</a></p>
"""


def versions(folder: Path) -> list[str]:
    """Return the versions that were built into a folder, the newest first."""
    names = [path.name for path in folder.iterdir() if path.is_dir() and _VERSION.fullmatch(path.name)]
    return sorted(names, key=lambda name: tuple(map(int, name.split("."))), reverse=True)


def main(folder: Path) -> None:
    """Write the list and the first page."""
    built = versions(folder)
    if not built:
        sys.exit(f"{folder} holds no built version; `make site` builds one.")
    (folder / "versions.js").write_text(f"window.stratagemVersions = {json.dumps(built)};\n", encoding="utf-8")
    (folder / "index.html").write_text(FIRST.format(newest=built[0]), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
