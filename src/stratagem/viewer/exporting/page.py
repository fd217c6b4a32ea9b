"""Page of an export: one HTML file with the styles, the script and the data in it, which loads nothing.

Its policy names the digests of its only script and its only style, so nothing else can run, whatever a text holds.
"""

from __future__ import annotations

import hashlib
import html
import re
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

from stratagem.errors import BadParameter
from stratagem.files import write_file
from stratagem.viewer.exporting.bundle import bundle
from stratagem.viewer.exporting.snapshot import Snapshot
from stratagem.viewer.faces.frames import stranger
from stratagem.viewer.files import files_of_pages
from stratagem.viewer.library import Library, open_library
from stratagem.viewer.listing import id_of

_SOURCE, _STANDIN = "/static/source.js", "source_of_file.js"
_ICON = "/static/icon.svg"
_STYLES = re.compile(r'<link rel="stylesheet" href="/static/([\w.]+)">')
_TAG = re.compile(r"<(?=/?(?:script|style)|!--)", re.IGNORECASE)
"""Start of a tag that would end the script, or begin one within it."""
_ESCAPED = r"\\x3c"
"""Template of a less-than sign as strings of JavaScript spell it."""


def export(folder: Path, target: Path, episode: str = "") -> int:
    """Write the replays of a run or a record into one file; return the number of episodes."""
    library = open_library(folder.resolve())
    record = _record(library)
    episode = id_of(library.records[record], episode) if episode else ""
    snapshot = Snapshot(library, record, episode)
    if target.is_dir():
        raise BadParameter(f"{str(target)!r} is a folder: name a file such as replay.html.")
    write_snapshot(snapshot, target, f"{library.root.name} {episode}".strip())
    return snapshot.num_episodes


def write_snapshot(snapshot: Snapshot, target: Path, title: str) -> None:
    """Write the file of a snapshot."""
    packed = snapshot.packed()
    write_file(target, page(packed, snapshot.modules, title))


def _record(library: Library) -> str:
    """Return the record that a folder is, that of the run that it is, or the only one in it."""
    run = library.runs.get(".")
    own = [name for name, path in library.records.items() if name == "." or (run and path == run.record)]
    found = own or list(library.records)
    if len(found) != 1:
        told = "has no record" if not found else f"has {len(found)} records"
        raise BadParameter(f"{str(library.root)!r} {told}: an export is of one, so name a record or its run.")
    return found[0]


def page(packed: str, faces: Iterable[str], title: str) -> str:
    """Return the file."""
    files = files_of_pages()
    index = files["index.html"].read_text("utf-8")
    style = "\n".join(files[name].read_text("utf-8") for name in _STYLES.findall(index))
    script = _script(faces)
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{_plain(title)}</title>
<style>{style}</style>
<body><div id="page"><p class="loading">Loading …</p></div><noscript>This file needs JavaScript.</noscript>
<script type="application/octet-stream" id="answers">{packed}</script>
<script>{script}</script></body>
</html>
"""


def _script(faces: Iterable[str]) -> str:
    """Return the pages and faces as one script, which begins when the data is unpacked."""
    files = files_of_pages()
    modules = {f"/static/{name}": path.read_text("utf-8") for name, path in files.items() if path.suffix == ".js"}
    modules[_SOURCE] = modules.pop(f"/static/{_STANDIN}")
    asked = [face for face in faces if face not in modules]
    modules |= {face: stranger(face.removeprefix("/faces/")).decode("utf-8", "replace") for face in asked}
    icon = f"data:image/svg+xml;base64,{b64encode(files['icon.svg'].read_bytes()).decode()}"
    text = bundle(modules, "/static/main.js", *faces).replace(_ICON, icon)
    return f"(async () => {{\n'use strict';\n{_UNPACK}{_TAG.sub(_ESCAPED, text)}\n}})();"


_UNPACK = """const answers = atob(document.getElementById('answers').textContent);
const packed = Uint8Array.from(answers, (character) => character.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
const held = JSON.parse(await new Response(stream).text());
"""


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _plain(text: str) -> str:
    """Return a text for HTML, with every character that is not printable left out."""
    return html.escape("".join(character if character.isprintable() else " " for character in text))
