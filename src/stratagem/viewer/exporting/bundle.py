"""Bundle of ES modules as one script: each becomes a function, after those that it imports.

It reads the modules of the pages and one-file faces: imports and exports begin a line, as `import { a } from './b.js';`
and `export function f`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath

from stratagem.errors import StratagemError

_IMPORT = re.compile(r"""^import\s+([\w\s{},*$]+?)\s+from\s+['"]([^'"\n]+)['"];?""", re.MULTILINE)
_NAMED = re.compile(r"^export\s+((?:async\s+)?function\*?|class)\s+([\w$]+)", re.MULTILINE)
_PARTS = re.compile(r"^export\s+(const|let|var)\s+\{([^}]*)\}", re.MULTILINE)
_VALUE = re.compile(r"^export\s+(const|let|var)\s+([\w$]+)", re.MULTILINE)
_DEFAULT = re.compile(r"^export\s+default\s+", re.MULTILINE)
_LIST = re.compile(r"(?:^|(?<=;))export\s*\{([^}]*)\};?", re.MULTILINE)
_LEFT = re.compile(r"^(?:import\b(?!\()|export\b).*", re.MULTILINE)


class Unbundled(StratagemError):
    """Module that cannot be put into one file."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"The module {name} cannot be put into one file: {why}.")


def bundle(modules: Mapping[str, str], *entries: str) -> str:
    """Return the script of all modules that some need, by their addresses; the first is run last."""
    written: dict[str, str] = {}
    for entry in (*entries[1:], entries[0]):
        for name in _order(modules, entry, []):
            if name not in written:
                written[name] = _wrapped(name, modules[name])
    return "const made = {};\nconst need = (name) => made[name];\n" + "\n".join(written.values())


def _order(modules: Mapping[str, str], name: str, path: list[str]) -> Iterator[str]:
    """Yield the modules that one needs, and it after them."""
    if name in path:
        raise Unbundled(name, "it imports itself by way of " + ", ".join(path[path.index(name) + 1 :] or ["itself"]))
    if name not in modules:
        raise Unbundled(path[-1] if path else name, f"it imports {name}, which is no module of the pages")
    for _, address in _IMPORT.findall(modules[name]):
        yield from _order(modules, _resolved(address, name), [*path, name])
    yield name


def _resolved(address: str, name: str) -> str:
    return normpath(join(dirname(name), address))


def _wrapped(name: str, text: str) -> str:
    """Return a module as a call of a function that fills its exports."""
    told: list[tuple[str, str]] = []
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _IMPORT.sub(lambda found: _needed(found[1], _resolved(found[2], name)), text)
    text = _DEFAULT.sub("out.default = ", text)
    for pattern, group in ((_NAMED, 2), (_PARTS, 2), (_VALUE, 2), (_LIST, 1)):
        text = pattern.sub(lambda found: _noted(found, found[group], told), text)  # noqa: B023 - called at once
    if left := _LEFT.search(text):
        raise Unbundled(name, f"write {left[0].strip()[:60]!r} as one import or export a line")
    exports = "".join(f"Object.defineProperty(out, '{shown}', {{ get: () => {own} }});\n" for own, shown in told)
    return f"{{ const out = made['{name}'] = {{}};\n(() => {{\n{exports}{text}\n}})(); }}"


def _noted(found: re.Match[str], names: str, told: list[tuple[str, str]]) -> str:
    """Note what an export declares, and return its text without the word."""
    for piece in names.split(","):
        own, _, shown = piece.strip().partition(" as ")
        if own:
            told.append((own.split(":")[-1].strip(), (shown or own.split(":")[-1]).strip()))
    return "" if found.re is _LIST else re.sub(r"^export\s+", "", found[0])


def _needed(names: str, name: str) -> str:
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
