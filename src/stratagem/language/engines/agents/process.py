"""Process of an agent: it reads questions from its standard input and writes answers to its standard output.

Every question has a number, which its answer repeats, so several can be open at once. A line that answers no question
ever asked counts as the answer to the oldest open one; the late answer to a closed question is dropped.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

from stratagem.language.engines.agents.wire import HELLO, MOST_BYTES, PROTOCOL, line_of, malformed_answer
from stratagem.language.engines.remote.replies import quote_start
from stratagem.language.engines.remote.retries import Failure

_MOST_STRAY = 1000
"""Largest number of lines in a row that answer nothing."""
_MOST_CONCURRENT = 1024
_REMEMBERED = 4096
"""Number of bytes of the error output that are kept."""
_LEAVE = 1.0
"""Seconds after the end of its input in which a process may leave."""
_PAUSE = 0.01
LIVING: set[int] = set()
"""Ids of the processes that run."""


class EarlyExit(Failure):
    """End of a process before an answer."""

    def __init__(self, why: str, *, alone: bool) -> None:
        super().__init__(why, kind="exit")
        self.alone = alone
        """True if no other question was open, so that this one is the reason."""


class ProgramCommand(NamedTuple):
    """Program with its arguments, its environment and its limits."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    timeout: float
    concurrent: int
    """Largest number of open questions; 0 asks the process."""


class Process:
    """Running agent that has said hello."""

    def __init__(self, child: asyncio.subprocess.Process, command: ProgramCommand) -> None:
        self._child, self._command = child, command
        self._numbers = count(1)
        self._next = 1
        self._open: dict[int, asyncio.Future[object]] = {}
        """Questions without an answer by number, the oldest first."""
        self._num_answers = self._num_stray = 0
        self._errors = b""
        self.is_over = False
        self.slots = asyncio.Semaphore(1)
        self._listening = asyncio.create_task(self._listen())
        self._draining = asyncio.create_task(self._drain())

    @classmethod
    async def start(cls, command: ProgramCommand) -> Process:
        """Start a process and exchange greetings."""
        pipe = asyncio.subprocess.PIPE
        try:
            child = await asyncio.create_subprocess_exec(
                *command.arguments,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env=dict(command.environment),
                limit=MOST_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            raise Failure(f"cannot be started ({error.strerror})", reached=False, kind="exit") from None
        LIVING.add(child.pid)
        process = cls(child, command)
        try:
            await process._greet()
        except BaseException:
            await process.close()
            raise
        return process

    async def _greet(self) -> None:
        """Say hello; a process that does not answer in kind cannot be used."""
        try:
            answer = await self._send_message(HELLO)
        except Failure as failure:
            raise Failure(f"did not answer the greeting: it {failure.why}", reached=False, kind=failure.kind) from None
        hello = answer if isinstance(answer, dict) else {}
        if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
            raise Failure(
                f"answered the greeting with {quote_start(json.dumps(answer))}, not with {json.dumps(HELLO)}",
                reached=False,
                kind="malformed",
            )
        declared = hello.get("concurrent", 1)
        if type(declared) is not int or not 1 <= declared <= _MOST_CONCURRENT:
            raise Failure(
                f'answered the greeting with "concurrent": {quote_start(json.dumps(declared))}, which should be a '
                f"whole number from 1 to {_MOST_CONCURRENT}",
                reached=False,
                kind="malformed",
            )
        self.slots = asyncio.Semaphore(self._command.concurrent or declared)

    async def ask(self, question: Mapping[str, Any]) -> object:
        """Return the answer to a question, whatever it is; the caller holds one of the slots."""
        before = self._num_answers
        try:
            return await self._send_message(question)
        except Failure as failure:
            if failure.kind == "timeout" and self._num_answers == before:
                self.is_over = True
                self.kill()  # it is stuck, and the next question would wait behind this one
            raise

    async def _send_message(self, message: Mapping[str, Any]) -> object:
        number = next(self._numbers)
        self._next = number + 1
        future = self._open[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._command.timeout):
                await self._write(line_of({"id": number, **message}))
                return await future
        except TimeoutError:
            raise Failure(f"gave no answer within {self._command.timeout:g} s", kind="timeout") from None
        finally:
            self._open.pop(number, None)
            future.cancel()

    async def _write(self, line: bytes) -> None:
        assert self._child.stdin is not None
        with suppress(ConnectionError):  # it has left, which `_listen` notices
            self._child.stdin.write(line)
            await self._child.stdin.drain()

    async def _listen(self) -> None:
        """Read lines until the end of the output, or until they are too long or too many."""
        assert self._child.stdout is not None
        why: Failure | None = None
        try:
            while line := await self._child.stdout.readline():
                self._take(line)
                if self._num_stray > _MOST_STRAY:
                    why = malformed_answer(f"wrote more than {_MOST_STRAY} lines that answer nothing")
                    break
        except ValueError:  # a line longer than the limit
            why = malformed_answer(f"wrote a line of more than {MOST_BYTES >> 20} MiB")
        await self._end(why)

    def _take(self, line: bytes) -> None:
        """Give a line to the question that it answers."""
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = line.decode("utf-8", "replace").strip()
        given = answer.get("id") if isinstance(answer, dict) else None
        number = given if type(given) is int else 0
        # a question stays open until who asked it runs again, and many lines may be read before that
        waiting = {asked: future for asked, future in self._open.items() if not future.done()}
        oldest = next(iter(waiting), None)
        is_late = 0 < number < self._next and number not in waiting
        if oldest is None or is_late:
            self._num_stray += 1
            return
        self._num_stray, self._num_answers = 0, self._num_answers + 1
        future = waiting[number if number in waiting else oldest]
        if given is None or number in waiting:
            future.set_result(answer)
        else:
            future.set_exception(
                malformed_answer(f"answered the question {quote_start(repr(given))}, which was never asked")
            )

    async def _end(self, why: Failure | None) -> None:
        """End the process and fail the open questions."""
        is_stuck, self.is_over = self.is_over, True  # then a question that is closed is the reason
        if why is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._child.wait(), _LEAVE)
        self.kill()
        status = await self._child.wait()
        LIVING.discard(self._child.pid)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._draining), _LEAVE)
        open_ones = [future for future in self._open.values() if not future.done()]
        alone = len(open_ones) == 1 and not is_stuck
        for future in open_ones:
            future.set_exception((alone and why) or EarlyExit(self._farewell(status), alone=alone))

    def _farewell(self, status: int) -> str:
        """Describe the end of the process by its status and the last line of its error output."""
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        how = f"was ended by signal {-status}" if status < 0 else f"exited with status {status}"
        return f"{how}: {quote_start(lines[-1])}" if lines else how

    async def _drain(self) -> None:
        """Read the error output, which would fill its pipe, and keep its end."""
        assert self._child.stderr is not None
        while piece := await self._child.stderr.read(_REMEMBERED):
            self._errors = (self._errors + piece)[-_REMEMBERED:]

    def kill(self) -> None:
        """End the process and its own children at once."""
        _kill(self._child.pid)

    async def close(self) -> None:
        """End the input of the process; one that does not leave is killed."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._listening), _LEAVE)
        self.kill()
        await self._listening
        self._draining.cancel()


def _kill(pid: int, how: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a process that was started here, and to its own children."""
    if pid in LIVING:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, how)


@atexit.register
def _end_all() -> None:
    """Ask all processes to end, and kill those that do not."""
    for pid in list(LIVING):
        _kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _LEAVE
    while LIVING and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    for pid in list(LIVING):
        _kill(pid)


class RestartingProcess:
    """Process that is started when it is first asked, and again after its end."""

    def __init__(self, command: ProgramCommand, max_concurrent: int) -> None:
        self._command = command
        self.slots = asyncio.Semaphore(max_concurrent)
        self._process: Process | None = None
        self._starting, self._alone = asyncio.Lock(), asyncio.Lock()

    async def ask(self, question: Mapping[str, Any]) -> object:
        """Return the answer to a question.

        Where a process ends while several questions are open, each of them is asked again in a process of its own, so
        that a question suffers only from itself.
        """
        try:
            return await self._share_process(question)
        except EarlyExit as exited:
            if exited.alone:
                raise
        async with self._alone:
            process = await Process.start(self._command)
            try:
                return await process.ask(question)
            finally:
                await process.close()

    async def _share_process(self, question: Mapping[str, Any]) -> object:
        while True:
            process = await self._running()
            async with process.slots:
                if not process.is_over:
                    return await process.ask(question)

    async def _running(self) -> Process:
        async with self._starting:
            if self._process is None or self._process.is_over:
                self._process = None
                self._process = await Process.start(self._command)
            return self._process

    async def aclose(self) -> None:
        if self._process is not None:
            await self._process.close()
