"""Trial of an OpenSpiel game in a short-lived process with limits of memory and time.

OpenSpiel allocates what its parameters say, and some of its parsers end the process. So a game that a stranger names is
first made, and played for some turns, where it can harm nobody.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from functools import lru_cache
from typing import NamedTuple

from stratagem.base.garbage import resident_memory

MEMORY = 1 << 28
"""Bytes that a game may need beyond those of OpenSpiel itself."""
SECONDS = 5
"""Processor time that a game may need to be made and to play some turns."""
RESIDENT = 2 * MEMORY
"""Resident bytes at which the process is ended where the system sets no limit; OpenSpiel itself takes a third of it."""
PAUSE = 0.1
"""Seconds between two looks at the memory of the process."""
_WALL_SECONDS = 60
"""Time after which the process is ended on a machine that is busy with something else."""
_TOTAL = 1 << 30
"""Bytes that all games which passed a trial may need together, since each stays loaded."""
_TURNS = 100
"""Number of turns that are played, those of chance included."""
_MAKE = """
import sys, pyspiel
pyspiel.load_game(sys.argv[1]).new_initial_state()
"""
_PLAY = f"""
import random, resource, sys
import pyspiel
def size(field):
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[field]) * resource.getpagesize()
    except OSError:  # macOS: the largest resident memory so far, in bytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
if sys.platform == "linux":  # macOS does not keep to it; the process that began this one looks at its memory
    resource.setrlimit(resource.RLIMIT_AS, (size(0) + {MEMORY},) * 2)
before = size(1)
game = pyspiel.load_game(sys.argv[1])
state, kind, draw = game.new_initial_state(), game.get_type(), random.Random(0)
game.num_players(), game.min_utility(), game.max_utility()
for turn in range({_TURNS}):
    if state.is_terminal():
        break
    together = state.is_simultaneous_node()
    chosen = []
    for seat in range(game.num_players()) if together else [state.current_player()]:
        legal = state.legal_actions(seat) if together else state.legal_actions()
        if seat >= 0:
            names = [state.action_to_string(seat, action) for action in legal]
            told = state.observation_string(seat) if kind.provides_observation_string else str(state)
        chosen.append(draw.choice(legal) if legal else 0)
    state.apply_actions(chosen) if together else state.apply_action(chosen[0])
print(max(0, size(1) - before))
"""
_trying = threading.Lock()
"""Held during a trial: a page that asks for many games at once begins one process at a time."""
_passed: dict[str, int] = {}
"""Bytes of each game that passed its trial in this process."""


class Trial(NamedTuple):
    """Outcome of a trial."""

    passed: bool
    memory: int = 0
    """Bytes that the game needed."""


def survives(text: str) -> bool:
    """Return whether OpenSpiel makes the game of this text without ending its process; there are no limits."""
    return _run_program(_MAKE, text, None) is not None


def is_small(text: str) -> bool:
    """Return whether a game can be made and played within the limits, beside those that were tried before."""
    with _trying:
        trial = try_game(text)
        others = sum(memory for other, memory in _passed.items() if other != text)
        if not trial.passed or others + trial.memory > _TOTAL:
            return False
        _passed[text] = trial.memory
        return True


@lru_cache(maxsize=1024)
def try_game(text: str) -> Trial:
    """Make and play a game in a limited process."""
    told = _run_program(_PLAY, text, _WALL_SECONDS)
    return Trial(True, int(told)) if told is not None and told.strip().isdecimal() else Trial(passed=False)


def _run_program(program: str, text: str, seconds: float | None) -> str | None:
    """Return what a program prints about a game, and None where it fails; its errors, which may quote, are dropped."""
    command = [sys.executable, "-P", "-c", program, text]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except (ValueError, OSError):  # the text may be no argument of a command
        return None
    with process:
        printed = _await_output(process, seconds)
    return printed.decode("ascii", "replace") if process.returncode == 0 else None


def _await_output(process: subprocess.Popen[bytes], seconds: float | None) -> bytes:
    """Return what a process prints; with a limit of time it is killed at that limit and at that of its memory."""
    begun = time.monotonic()
    while True:
        try:
            return process.communicate(timeout=None if seconds is None else PAUSE)[0]
        except subprocess.TimeoutExpired:
            late = seconds is not None and time.monotonic() - begun > seconds
            if late or resident_memory(process.pid) > RESIDENT:
                process.kill()
