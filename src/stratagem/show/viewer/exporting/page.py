"""Page of an export: one HTML file with the styles, the script and the data in it, which loads nothing.

Its policy names the digests of its only script and its only style, so nothing else can run, whatever a text holds.
"""

from __future__ import annotations

import hashlib
import html
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from posixpath import dirname, join, normpath

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.files import write_file
from stratagem.show.viewer.exporting.snapshot import RecordSnapshot
from stratagem.show.viewer.faces.frames import stranger
from stratagem.show.viewer.files import files_of_pages
from stratagem.show.viewer.library import Library, open_library
from stratagem.show.viewer.listing import id_of

_IMPORT = re.compile(r"""^import\s+([\w\s{},*$]+?)\s+from\s+['"]([^'"\n]+)['"];?""", re.MULTILINE)
_NAMED = re.compile(r"^export\s+((?:async\s+)?function\*?|class)\s+([\w$]+)", re.MULTILINE)
_PARTS = re.compile(r"^export\s+(const|let|var)\s+\{([^}]*)\}", re.MULTILINE)
_VALUE = re.compile(r"^export\s+(const|let|var)\s+([\w$]+)", re.MULTILINE)
_DEFAULT = re.compile(r"^export\s+default\s+", re.MULTILINE)
_LIST = re.compile(r"(?:^|(?<=;))export\s*\{([^}]*)\};?", re.MULTILINE)
_LEFT = re.compile(r"^(?:import\b(?!\()|export\b).*", re.MULTILINE)


class UnbundledModule(StratagemError):
    """Module that cannot be put into one file."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"The module {name} cannot be put into one file: {why}.")


def bundle(modules: Mapping[str, str], *entries: str) -> str:
    """Return the script of all modules that some need, by their addresses; the first is run last."""
    written: dict[str, str] = {}
    for entry in (*entries[1:], entries[0]):
        for name in _order(modules, entry, []):
            if name not in written:
                written[name] = _wrap_module(name, modules[name])
    return "const made = {};\nconst need = (name) => made[name];\n" + "\n".join(written.values())


def _order(modules: Mapping[str, str], name: str, path: list[str]) -> Iterator[str]:
    """Yield the modules that one needs, and it after them."""
    if name in path:
        raise UnbundledModule(
            name, "it imports itself by way of " + ", ".join(path[path.index(name) + 1 :] or ["itself"])
        )
    if name not in modules:
        raise UnbundledModule(path[-1] if path else name, f"it imports {name}, which is no module of the pages")
    for _, address in _IMPORT.findall(modules[name]):
        yield from _order(modules, _resolve_address(address, name), [*path, name])
    yield name


def _resolve_address(address: str, name: str) -> str:
    return normpath(join(dirname(name), address))


def _wrap_module(name: str, text: str) -> str:
    """Return a module as a call of a function that fills its exports."""
    told: list[tuple[str, str]] = []
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _IMPORT.sub(lambda found: _declare_import(found[1], _resolve_address(found[2], name)), text)
    text = _DEFAULT.sub("out.default = ", text)
    for pattern, group in ((_NAMED, 2), (_PARTS, 2), (_VALUE, 2), (_LIST, 1)):
        text = pattern.sub(lambda found: _note_export(found, found[group], told), text)  # noqa: B023 - called at once
    if left := _LEFT.search(text):
        raise UnbundledModule(name, f"write {left[0].strip()[:60]!r} as one import or export a line")
    exports = "".join(f"Object.defineProperty(out, '{shown}', {{ get: () => {own} }});\n" for own, shown in told)
    return f"{{ const out = made['{name}'] = {{}};\n(() => {{\n{exports}{text}\n}})(); }}"


def _note_export(found: re.Match[str], names: str, told: list[tuple[str, str]]) -> str:
    """Note what an export declares, and return its text without the word."""
    for piece in names.split(","):
        own, _, shown = piece.strip().partition(" as ")
        if own:
            told.append((own.split(":")[-1].strip(), (shown or own.split(":")[-1]).strip()))
    return "" if found.re is _LIST else re.sub(r"^export\s+", "", found[0])


def _declare_import(names: str, name: str) -> str:
    """Return the import of names as a declaration."""
    first, brace, rest = names.partition("{")
    lines, plain = [], first.strip().rstrip(",").strip()
    if plain.startswith("*"):
        lines.append(f"const {plain.split()[-1]} = need('{name}');")
    elif plain:
        lines.append(f"const {plain} = need('{name}').default;")
    if brace:
        inner = ", ".join(
            re.sub(r"\s+as\s+", ": ", piece.strip()) for piece in rest.rstrip("} \n").split(",") if piece.strip()
        )
        lines.append(f"const {{ {inner} }} = need('{name}');")
    return " ".join(lines)


_SOURCE, _STANDIN = "/static/source.js", "source_of_file.js"
_ICON = "/static/icon.svg"
_STYLES = re.compile(r'<link rel="stylesheet" href="/static/([\w.]+)">')
_TAG = re.compile(r"<(?=/?(?:script|style)|!--)", re.IGNORECASE)
"""Start of a tag that would end the script, or begin one within it."""
_ESCAPED = r"\\x3c"
"""Template of a less-than sign as strings of JavaScript spell it."""


def export(
    folder: Path, target: Path, episode: str = "", tell: Callable[[int, int], None] = lambda done, total: None
) -> int:
    """Write the replays of a run or a record into one file; return the number of episodes.

    `tell` hears how many episodes are done, of how many.
    """
    library = open_library(folder.resolve())
    record = _record(library)
    episode = id_of(library.records[record], episode) if episode else ""
    snapshot = RecordSnapshot(library, record, episode, tell)
    if target.is_dir():
        raise BadParameter(f"{str(target)!r} is a folder: name a file such as replay.html.")
    write_snapshot(snapshot, target, f"{library.root.name} {episode}".strip())
    return snapshot.num_episodes


def write_snapshot(snapshot: RecordSnapshot, target: Path, title: str) -> None:
    """Write the file of a snapshot."""
    packed = snapshot.pack_answers()
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
