"""Two processes that take steps in turn, so that a slow spell of the machine meets both; each keeps its own peak."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

Facts = dict[str, float]


class Side:
    """A process that takes a step whenever it is told to."""

    def __init__(self, script: str, *args: str) -> None:
        self.name = " ".join((script, *args))
        command = [sys.executable, str(Path(__file__).with_name(f"{script}.py")), *args]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        self._answer()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def step(self) -> Facts:
        """One step: its seconds, and the most gigabytes that the process has held so far."""
        assert self._process.stdin is not None
        print("step", file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Facts:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with {self._process.wait()} before it was done.")
        facts: Facts = json.loads(line)
        return facts


def raced(sides: dict[str, tuple[str, ...]], steps: int) -> dict[str, list[Facts]]:
    """Steps of all sides in turn; the first of each, which warms up, is not kept."""
    found: dict[str, list[Facts]] = {}
    running = {name: Side(*call).__enter__() for name, call in sides.items()}
    try:
        for number in range(steps + 1):
            for name, side in running.items():
                facts = side.step()
                if number:
                    found.setdefault(name, []).append(facts)
    finally:
        for side in running.values():
            side.__exit__(None, None, None)
    return found
