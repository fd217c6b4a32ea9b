"""Processes that share the tests: `--jobs N` forks N of them once the tests are found.

What is dear is done once, before they fork: finding the tests, and reading in the libraries. A process is given the
tests of the next file when it begins the last test that it has. One that dies fails its test, and another goes on.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import gc
import os
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import groupby, pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

import pytest

READ_IN = (
    "stratagem.cli.main",
    "stratagem.api.evaluations",
    "stratagem.algorithms.catalogue",
    "transformers.models.llama.modeling_llama",
    "peft",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
)
"""Modules that many tests use; to read one in starts no thread, which a fork would lack."""
COLLECTIONS = (20_000, 20, 50)
"""New objects, and young and middle collections, between collections: with Python's own they took 8 % of the suite."""
ENDED = "ended"
NOTABLE = 0.1
"""Seconds of a fixture that are worth a report."""


class Jobs:
    """Plugin of pytest that runs the tests in processes."""

    def __init__(self, config: pytest.Config, number: int) -> None:
        self._config, self._number = config, number
        self._running: dict[Connection, Job] = {}
        self._files: deque[list[int]] = deque()

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        """Keep what tests and source are compiled to, whatever the environment says: to compile them is half of it."""
        before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
        try:
            return (yield)
        finally:
            sys.dont_write_bytecode = before

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the tests, file by file, in the processes."""
        if session.testsfailed or self._config.option.collectonly:
            return None  # pytest itself says why
        _read_in()
        numbered = groupby(range(len(session.items)), lambda number: session.items[number].path)
        self._files = deque(list(numbers) for _, numbers in numbered)
        try:
            self._run(session)
        finally:
            self._kill()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        return True

    def _run(self, session: pytest.Session) -> None:
        for _ in range(min(self._number, len(self._files))):
            self._start(session)
        while self._running and not (session.shouldfail or session.shouldstop):
            for link in wait(list(self._running)):
                self._listen(session, self._running[link])

    def _kill(self) -> None:
        """End the processes that still run, where the tests are broken off."""
        for job in self._running.values():
            os.kill(job.process, signal.SIGTERM)
            os.waitpid(job.process, 0)
        self._running.clear()

    def _start(self, session: pytest.Session) -> None:
        here, there = Pipe()
        process = os.fork()
        if not process:
            for link in (here, *self._running):
                link.close()
            _work(session, there)
        there.close()
        self._running[here] = Job(process, here)

    def _listen(self, session: pytest.Session, job: Job) -> None:
        """Give a process what it asks for, or report what it says of a test."""
        said = _heard(job.link)
        if said == ENDED:
            self._ended(session, job)
            return
        if said is None:
            given = self._files.popleft() if self._files else []
            job.given.extend(given)
            job.link.send(given)
            return
        item = session.items[job.given.popleft()]
        for what, data in said:
            self._say(what, data)
        self._config.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _say(self, what: str, data: dict[str, Any]) -> None:
        hook = self._config.hook
        if what == "report":
            report = hook.pytest_report_from_serializable(config=self._config, data=data)
            hook.pytest_runtest_logreport(report=report)
            return
        message = warnings.WarningMessage(**data.pop("warning"))
        hook.pytest_warning_recorded.call_historic(kwargs={"warning_message": message, **data})

    def _ended(self, session: pytest.Session, job: Job) -> None:
        """Fail the test that a process has died of, and start another for the tests that it was given."""
        del self._running[job.link]
        status = os.waitstatus_to_exitcode(os.waitpid(job.process, 0)[1])
        if not job.given:
            return
        item = session.items[job.given.popleft()]
        said = f"The process of this test ended with status {status}."
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", said, "call")
        self._config.hook.pytest_runtest_logreport(report=report)
        if job.given:
            self._files.appendleft(list(job.given))
        self._start(session)


@dataclass
class Job:
    """A process, and the tests that it has been given and has said nothing of, by their numbers."""

    process: int
    link: Connection
    given: deque[int] = field(default_factory=deque)


class Told:
    """Plugin of a process that keeps what is told of a test, and gives it once the test has ended."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._told: list[tuple[str, dict[str, Any]]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report; that a fixture was made or ended says something only if it failed, spoke or took a while."""
        if report.passed:
            report.keywords = {}
        if report.when == "call" or not report.passed or report.sections or report.duration > NOTABLE:
            data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
            self._told.append(("report", data))

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, when: str, nodeid: str) -> None:
        """Keep a warning as text under its category, or the next one that Python itself has."""
        kind = next(kind for kind in warning_message.category.__mro__ if kind.__module__ == builtins.__name__)
        where = {"filename": warning_message.filename, "lineno": warning_message.lineno}
        warning = {"message": kind(str(warning_message.message)), "category": kind, **where}
        self._told.append(("warning", {"warning": warning, "when": when, "nodeid": nodeid, "location": None}))

    def take(self) -> list[tuple[str, dict[str, Any]]]:
        """Return what was kept, once."""
        taken, self._told = self._told, []
        return taken


def _read_in() -> None:
    """Import what many tests use, and exempt it from garbage collection, as conftest.py does with the tests."""
    gc.disable()
    for name in READ_IN:
        with contextlib.suppress(ImportError):
            import_module(name)
    gc.freeze()
    gc.enable()
    gc.set_threshold(*COLLECTIONS)
    if shown := sys.modules.get("chapters.shown"):
        shown.programs()  # one process for the programs of all jobs


def _heard(link: Connection) -> object:
    try:
        return link.recv()
    except EOFError:
        return ENDED


def _work(session: pytest.Session, link: Connection) -> NoReturn:
    """Be a process that runs tests until none is given, and end."""
    status = 1
    try:
        _be_silent(session.config.pluginmanager)
        _run_tests(session, link)
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, it ends this process only
        traceback.print_exc(file=sys.__stderr__)
    finally:
        atexit._run_exitfuncs()
        os._exit(status)


def _be_silent(plugins: pytest.PytestPluginManager) -> None:
    """Leave the terminal to the parent, and capture outputs in files of this process's own."""
    plugins.unregister(name="terminalreporter")
    capture = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()


def _run_tests(session: pytest.Session, link: Connection) -> None:
    told = Told(session.config)
    session.config.pluginmanager.register(told)
    told.take()  # the warnings from before, which the parent has
    for number, following in pairwise(_numbers(link)):
        after = None if following is None else session.items[following]
        session.config.hook.pytest_runtest_protocol(item=session.items[number], nextitem=after)
        link.send(told.take())


def _numbers(link: Connection) -> Iterator[int | None]:
    """Yield the numbers of tests as they are asked for, and None at the end."""
    link.send(None)
    while given := link.recv():
        yield from given
        link.send(None)
    yield None
