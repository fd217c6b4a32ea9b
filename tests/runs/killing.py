"""Kills toy runs with SIGKILL and begins them again: `killing.py FOLDER SEED NUM_TRACED NUM_TIMED` prints what it did.

All runs are forked from this process, which has loaded everything. A traced kill comes at a line of the program that is
drawn from all that are executed, a timed one whenever it comes.
"""

import json
import os
import random
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import torch
from toy_run import Toy, toy_run

import stratagem.playing.store
import stratagem.training.runs

TRACED = (str(Path(stratagem.training.runs.__file__).parent), stratagem.playing.store.__file__)
UNTRACED = ("crc32c", "_varint", "_fields", "_number")
"""Loops over bytes, which would be most of all lines."""
SMALL = Toy(steps=6)


class Moments:
    """Counts the lines that are executed, and kills its own process at one of them."""

    def __init__(self, last=None):
        self.num = 0
        self.last = last

    def begin(self):
        sys.settrace(self._called)

    def _called(self, frame, event, argument):
        code = frame.f_code
        return self._line if code.co_filename.startswith(TRACED) and code.co_name not in UNTRACED else None

    def _line(self, frame, event, argument):
        self.num += 1
        if self.num == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._line


def forked(work):
    """A process that does the work."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:  # noqa: BLE001 - it is printed, and the parent fails by the exit code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def killed(child):
    """Return whether it was killed; anything else but a good end is a failure of the test."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def traced(path, last):
    def work():
        moments = Moments(last)
        moments.begin()
        toy_run(path, SMALL)
        sys.settrace(None)
        path.with_suffix(".moments").write_text(str(moments.num))

    return killed(forked(work))


def timed(path, seconds):
    return kill_after(lambda: toy_run(path, SMALL), seconds)


def kill_after(work, seconds):
    """Return whether work that is killed after so many seconds was not done by then."""
    child = forked(work)
    timer = threading.Timer(seconds, os.kill, (child, signal.SIGKILL))
    timer.start()
    try:
        return killed(child)
    finally:
        timer.cancel()


def kill(folder, num, attempt):
    """So many kills: a run is begun again under fire until it ends, or until there were enough; then it may end."""
    kills, runs = 0, 0
    while kills < num:
        path, runs = folder / f"{attempt.__name__}-{runs}", runs + 1
        while kills < num and attempt(path):
            kills += 1
        assert not killed(forked(lambda path=path: toy_run(path, SMALL)))
    return {"kills": kills, "runs": runs}


def main(folder, seed, num_traced, num_timed):
    rng = random.Random(seed)
    torch.set_num_threads(1)
    os.fsync = lambda _: None  # a kill leaves what is with the system, and waiting for the disk takes most of the time
    toy_run(folder / "warm", SMALL)
    start = time.perf_counter()
    assert not killed(forked(lambda: toy_run(folder / "whole", SMALL)))
    lasts = time.perf_counter() - start
    assert not traced(folder / "counted", None)
    moments = int((folder / "counted.moments").read_text())

    def at_a_line(path):
        return traced(path, rng.randrange(1, moments))

    def at_a_time(path):
        return timed(path, rng.uniform(0, lasts))

    done = {"lines": kill(folder, num_traced, at_a_line), "times": kill(folder, num_timed, at_a_time)}
    print(json.dumps({**done, "moments": moments, "lasts": lasts}))  # noqa: T201 - read by the test


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
