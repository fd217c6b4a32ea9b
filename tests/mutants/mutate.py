"""Mutation testing: change one place of the source at a time, and see that the tests named for it fail.

    python tests/mutants/mutate.py --only credit --jobs 2

Each job has a copy of the source and the tests. The tests of all chosen mutants must first pass on an unchanged copy.
The status is 1 where a mutant survives without a stated reason, or is killed in spite of one.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import importlib
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from mutants import AREAS, ROOT, SOURCE, Mutant, mutants

COPIED, LINKED = ("src", "recipes", "tests", "experiments", "docs"), ("examples", "pyproject.toml")
"""The package trusts its own recipes, and those are a link in its source: a copy has both.

Tests run programs by the code of the pages, which finds the source beside it.
"""
HEAVY = ("torch", "transformers.models.llama.modeling_llama", "scipy.optimize", "scipy.stats", "pyarrow.parquet")
HEAVY += ("pydantic", "hypothesis", "pyspiel", "peft")
"""Loaded once, before the jobs fork: most of what a short test run costs."""
OPTIONS = ("-x", "-q", "-W", "ignore", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:anyio")
OPTIONS += ("-m", "not long and not llama", "--no-cpu-limit")
TIMEOUT = 300.0
ELSEWHERE = 90
"""The status of a job that tested another copy of the package."""


@dataclass(frozen=True)
class Outcome:
    """Result of a run of tests on a copy."""

    status: int
    """pytest's exit status; -1 for a run that took too long."""
    seconds: float
    log: str

    @property
    def failed(self) -> bool:
        """True if tests failed, or never ended, as tests of a mutant should."""
        return self.status in (1, -1)


Task = tuple[Mutant | None, tuple[str, ...]]
"""A mutant, or None for the unchanged source, and the tests to run."""


def main() -> int:
    """Run the chosen mutants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", nargs="+", default=[""], help="mutants with such a text in them")
    parser.add_argument("--jobs", type=int, default=1, help="how many run at a time")
    parser.add_argument("--skip-baseline", action="store_true", help="do not first run the tests on unchanged source")
    asked = parser.parse_args()
    chosen, start = mutants(*asked.only), time.monotonic()
    os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is loaded; with more threads sums have other last bits
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        copies = [_copied(Path(folder) / str(number)) for number in range(max(1, asked.jobs))]
        if not asked.skip_baseline and not _sound(copies, chosen):
            return 1
        found = dict(_outcomes(copies, [(one, one.tests) for one in chosen], _tell))
    wrong = _summed_up(found)
    print(f"{len(found)} mutants in {(time.monotonic() - start) / 60:.1f} minutes")
    return int(wrong)


def _sound(copies: Sequence[Path], chosen: Iterable[Mutant]) -> bool:
    """Return whether all tests pass on the unchanged source."""
    tests = sorted({test for one in chosen for test in one.tests})
    print(f"{len(tests)} tests or files of tests on the unchanged source", flush=True)
    sound = True
    for (_, names), outcome in _outcomes(copies, [(None, (test,)) for test in tests], lambda task, outcome: None):
        if outcome.status:
            print(f"{names[0]} fails on the unchanged source, with status {outcome.status}:\n{outcome.log}")
            sound = False
    return sound


def _copied(to: Path) -> Path:
    """A copy of what tests need, with compiled files that count only for the very source: by its hash, not its time."""
    for name in COPIED:
        shutil.copytree(
            ROOT / name, to / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    for name in LINKED:
        (to / name).symlink_to(ROOT / name)
    compileall.compile_dir(to / "src", quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return to


def _outcomes(
    copies: Sequence[Path], tasks: Sequence[Task], tell: Callable[[Task, Outcome], None]
) -> Iterator[tuple[Task, Outcome]]:
    """Every task with its outcome, as many at a time as there are copies."""
    waiting, free = list(reversed(tasks)), list(copies)
    running: dict[BaseProcess, tuple[Task, Path, str, float]] = {}
    while waiting or running:
        while waiting and free:
            task, copy = waiting.pop(), free.pop()
            before = _changed(task, copy)
            running[_started(task, copy)] = (task, copy, before, time.monotonic())
        wait([process.sentinel for process in running], timeout=1.0)
        for process, (task, copy, before, began) in list(running.items()):
            seconds = time.monotonic() - began
            if process.is_alive() and seconds < TIMEOUT:
                continue
            outcome = Outcome(_status(process), seconds, _log(copy).read_text("utf-8", errors="replace")[-2000:])
            if task[0] is not None:
                (copy / task[0].path).write_text(before, "utf-8")
            del running[process]
            free.append(copy)
            tell(task, outcome)
            yield task, outcome


def _changed(task: Task, copy: Path) -> str:
    """Apply the mutant to the copy; the text of the file before."""
    if task[0] is None:
        return ""
    path = copy / task[0].path
    before = path.read_text("utf-8")
    path.write_text(task[0].applied(before), "utf-8")
    return before


def _started(task: Task, copy: Path) -> BaseProcess:
    """A process that runs the tests on the copy."""
    process = multiprocessing.get_context("fork").Process(target=_tested, args=(copy, task[1]))
    process.start()
    return process


def _log(copy: Path) -> Path:
    return copy / "log"


def _status(process: BaseProcess) -> int:
    if process.is_alive():
        process.kill()
        process.join()
        return -1
    process.join()
    return process.exitcode if process.exitcode is not None else -1


def _tested(copy: Path, tests: tuple[str, ...]) -> None:
    """Run tests of a copy on its own source; this process is a fork and ends with pytest's status."""
    os.chdir(copy)
    log = os.open(_log(copy), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    sys.dont_write_bytecode = True
    vars(sys.modules["__main__"]).pop("__file__", None)  # workers that a test starts would load all mutants with it
    sys.path.insert(0, str(copy / "src"))
    os.environ |= {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    status = int(pytest.main([*OPTIONS, *(f"tests/{test}" for test in tests)]))
    package = sys.modules.get("stratagem")
    if package is not None and not str(package.__file__).startswith(str(copy / SOURCE)):
        status = ELSEWHERE
    sys.stdout.flush()
    os._exit(status)


def _verdict(mutant: Mutant, outcome: Outcome) -> str:
    if not outcome.failed and outcome.status:
        return "broken"
    if outcome.failed:
        return "killed though equivalent" if mutant.equivalent else "killed"
    return "equivalent" if mutant.equivalent else "survived"


def _tell(task: Task, outcome: Outcome) -> None:
    if task[0] is not None:
        print(f"{_verdict(task[0], outcome):<10} {outcome.seconds:5.1f} s  {task[0]}", flush=True)


def _summed_up(found: dict[Task, Outcome]) -> bool:
    """Print how many of each area ended how, and what must not be; whether there is any of that."""
    counts: Counter[tuple[str, str]] = Counter()
    wrong = []
    for (mutant, _), outcome in found.items():
        assert mutant is not None
        verdict = _verdict(mutant, outcome)
        counts[mutant.area, verdict] += 1
        if verdict not in ("killed", "equivalent"):
            wrong.append(f"{verdict}: {mutant}" + (f"\n{outcome.log}" if verdict == "broken" else ""))
    print(f"\n{'area':<12}{'killed':>8}{'equivalent':>12}{'other':>8}")
    for area in AREAS:
        own = {verdict: number for (of, verdict), number in counts.items() if of == area}
        other = sum(number for verdict, number in own.items() if verdict not in ("killed", "equivalent"))
        print(f"{area:<12}{own.get('killed', 0):>8}{own.get('equivalent', 0):>12}{other:>8}")
    print("\n".join(["", *wrong]) if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
