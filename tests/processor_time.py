"""Processor time of tests: a test may take a second without a mark, and `--cpu-times=N` lists the N dearest.

Time on the clock says little on a machine that others use; this is time of the processor, in the process of the test
and in those that it started. What counts is the test alone: neither its fixtures nor the first import of a library.

A busy or slow machine needs more processor time for the same work. So a test that took over `LIMIT` seconds is compared
with a loop of known work, timed at once: it fails only if it took `NOISE` times as long as `LIMIT` allows here.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

LIMIT = 1.0
"""Seconds that a test may take where nothing else runs."""
NOISE = 3.0
"""Beside ten other processes on two cores a test takes up to 2.5 times as long, and the loop hardly longer."""
LOOP, LOOP_SECONDS = 200_000, 0.0075
"""A loop of this length, and the seconds that it takes where nothing else runs."""
MARKS = {"long", "runs", "llama"}
IMPORT = 20
"""A test that reads in so many modules is the first that uses a library."""


class ProcessorTime:
    """Plugin that measures every test, and fails one that takes too long."""

    def __init__(self, listed: int, *, limited: bool) -> None:
        self._listed, self._limited = listed, limited
        self._before, self._modules = 0.0, 0
        self._phases: Counter[tuple[str, str]] = Counter()

    def pytest_runtest_logstart(self) -> None:
        """Begin to count."""
        self._begin()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Note what a phase took, and fail a call that took too long."""
        report = yield
        seconds, modules = spent(living=False) - self._before, len(sys.modules) - self._modules
        report.processor_time = seconds
        counts = self._limited and report.when == "call" and report.passed
        if counts and modules < IMPORT and not MARKS & {*item.keywords} and seconds > allowed(seconds):
            report.outcome, report.longrepr = "failed", told(seconds)
        self._begin()
        return report

    def _begin(self) -> None:
        self._before, self._modules = spent(living=False), len(sys.modules)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what is reported, in the process that lists it."""
        self._phases[report.nodeid, report.when] += getattr(report, "processor_time", 0.0)  # none of a lost process

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the dearest tests and files."""
        if not self._listed:
            return
        files: Counter[str] = Counter()
        for (test, _), seconds in self._phases.items():
            files[test.partition("::")[0]] += seconds
        phases = Counter({f"{when:8} {test}": seconds for (test, when), seconds in self._phases.items()})
        total = f"processor time: {spent(living=True):.0f} s, of tests {sum(files.values()):.0f} s"
        terminalreporter.section(total)
        for seconds in (files, phases):
            for name, spent_there in seconds.most_common(self._listed):
                terminalreporter.line(f"{spent_there:8.2f} s {name}")


def told(seconds: float) -> str:
    """Return what a test that took too long is told."""
    return f"The test took {seconds:.1f} s of processor time, not {LIMIT:g}: give it less to do, or mark it `runs`."


def allowed(seconds: float) -> float:
    """Return the seconds that a test may take here and now."""
    return LIMIT if seconds <= LIMIT else LIMIT * NOISE * max(1.0, _loop_seconds() / LOOP_SECONDS)


def _loop_seconds() -> float:
    start, total = time.thread_time(), 0
    for number in range(LOOP):
        total += number % 7
    return time.thread_time() - start


def spent(*, living: bool) -> float:
    """Return the seconds of this process and of those it waited for; with `living`, of those that still run too."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    others = _living() if living else _of_programs()
    return time.process_time() + ended.ru_utime + ended.ru_stime + others


def _of_programs() -> float:
    """Return the seconds of programs that ran in forks of one process, which itself still runs."""
    forked = sys.modules.get("chapters.forked")
    return forked.Programs.seconds if forked else 0.0


def _living() -> float:
    """Return the seconds of all living descendants, and of those that they waited for."""
    below: dict[int, list[tuple[int, float]]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        below.setdefault(int(fields[1]), []).append((int(status.parent.name), seconds))
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        for process, seconds in below.get(waiting.pop(), ()):
            total += seconds
            waiting.append(process)
    return total
