"""Work of every kind on a disk that fails at one call: `failing_work.py FOLDER SHIM SHARE KIND...`.

The commands run in forks of this process, which has loaded everything, and has the library of `failing_writes.c`
loaded before the C library. One undisturbed command counts the calls that change its folder and its cache. Then one
of every SHARE of them, drawn by a key, fails in a command of its own, and the same is begun again on a disk that
works. Prints by kind the number of calls and of cases, and every case that did not end as it should.
"""

import ctypes
import errno
import json
import os
import random
import re
import shutil
import sys
import time
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import torch
from killing import forked
from killing_work import PLAYERS, SWEEP, SWEPT

from run_results import end_of
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of
from stratagem.base.manifest import DIGESTS, faults_of_digests
from stratagem.cli.main import main as command
from stratagem.training.runs.config_file import settings_toml

WORK = "work"
"""Folder of the work, beside its cache, in the folder of a case."""
PLAYED = ["--episodes", "4", "--record", WORK, "--out", f"{WORK}/figures.json"]
COMMANDS = {
    **{name: ["train", f"../inputs/{name}.toml", "--out", WORK] for name in RECIPES},
    "eval": ["eval", "kuhn(hands=1)", "--player", "tiny", "--player", "NashApprox", *PLAYED],
    "tournament": ["tournament", "kuhn(hands=1)", "--players", *PLAYERS, "tiny", *PLAYED],
    # more decisions would add the probe of lower bounds, whose search is slow: a record is cut into files by the clock
    "audit": ["audit", "tiny", "--games", "kuhn(hands=1)", "--decisions", "70", "--out", WORK],
    "sweep": ["sweep", "../inputs/sweep.toml", "--out", WORK, "--any-tree"],
}
ENDLESS = 2**62
MODES = {
    "no space once": (errno.ENOSPC, 0),
    "no space from then on": (errno.ENOSPC, ENDLESS),
    "an error of the device": (errno.EIO, 0),
    "no permission": (errno.EACCES, 0),
}
"""Number of the error, and of the calls after the first that fail, too."""


class End(NamedTuple):
    """End of a command."""

    status: int
    lines: list[str]
    """Lines on the error stream."""


class Whole(NamedTuple):
    """Work that never failed."""

    end: End
    paths: set[Path]
    """Files and folders at the end."""


class Disk:
    """Disk of the cases: the folder of one, which every case finds empty and under the same path."""

    def __init__(self, folder, shim):
        self.case, self.printed, self.log = folder / "case", folder / "printed.txt", folder / "calls.txt"
        self.shim = ctypes.CDLL(shim)

    def renew(self):
        shutil.rmtree(self.case, ignore_errors=True)
        self.case.mkdir()

    def run(self, words, first=0, mode="no space once"):
        """Run a command while calls fail from the first one on; 0 is none."""
        child = forked(lambda: os._exit(self.become(words, first, *MODES[mode])))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return End(status, self.printed.read_text().splitlines())

    def become(self, words, first, error, more):
        """Run a command in this process, and return its status."""
        os.environ["STRATAGEM_CACHE"] = str(self.case / "cache")
        os.chdir(self.case)
        for stream, path in ((1, os.devnull), (2, self.printed)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        numbers = map(ctypes.c_long, (first, first and first + more))
        self.shim.watch_folder(str(self.case).encode(), *numbers, error, log)
        status = _status(words)
        sys.stderr.flush()
        return status

    def calls(self):
        """Kind and path of every call of the last command."""
        return [line.split(" ", 1) for line in self.log.read_text().splitlines()]

    def finished(self, number):
        """Files and folders that got their names before a call of the last command."""
        return {Path(path) for call, path in self.calls()[: number - 1] if call == "rename"}

    def lost(self, number, whole):
        """Return what the last command had finished before a call, and is not there, though a whole work has it."""
        return sorted(path.name for path in self.finished(number) & whole if not path.exists())

    def outcome(self):
        """All that the work is for, and nothing that differs between two equal works."""
        return end_of(self.case / WORK) | _files_of_play(self.case / WORK)


def _files_of_play(folder):
    """Content of the files of an evaluation, a tournament or an audit by path; a run has none."""
    if any(folder.rglob("run.json")):
        return {}
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".parquet", ".json")]
    clocks = {"timings", "pace.json", DIGESTS}  # digests are of times, too
    own = {path.relative_to(folder).as_posix(): path for path in files if not clocks & {*path.parts}}
    faults = [*faults_of_digests(folder)] if (folder / DIGESTS).exists() else []
    return {DIGESTS: faults} | {name: _content(path) for name, path in own.items()}


def _content(path):
    return path.read_bytes() if path.suffix == ".parquet" else _lasting(json.loads(path.read_text()))


def _lasting(data):
    """Return the data without the time that the work took, and without the words of the command."""
    if isinstance(data, dict):
        return {key: _lasting(value) for key, value in data.items() if key not in ("seconds", "command")}
    return [*map(_lasting, data)] if isinstance(data, list) else data


def _status(words):
    sys.argv = ["stratagem", *words]
    try:
        command()
    except SystemExit as left:
        if not isinstance(left.code, int | None):
            sys.stderr.write(f"{left.code}\n")
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


def again(words, folder):
    """Return the command that goes on."""
    if words[0] == "train" and folder.exists():
        return ["train", WORK, "--resume"]
    return [*words, "--resume"] if "--record" in words and (folder / "evaluation.json").exists() else words


VARYING = re.compile(r" GiB| after \d+ s$")
"""Lines that differ between equal runs: choices by free memory, and progress of slow ones."""


def problem(disk, words, number, mode, whole, expected):
    """Return what is wrong with the case of a call; empty where nothing is."""
    disk.renew()
    end = disk.run(words, number, mode)
    others = Counter(end.lines) - Counter(whole.end.lines)
    said = [line for line in others.elements() if not VARYING.search(line)]
    if lost := disk.lost(number, whole.paths):
        return f"{' | '.join(said)} Lost: {lost}"
    if end.status == 0:
        return "" if disk.outcome() == expected else f"status 0 with another outcome {_differing(disk, expected)}"
    if end.status != 1 or not is_a_sentence(said):
        return f"status {end.status}: {' | '.join(said[-6:])}"
    resumed = disk.run(again(words, disk.case / WORK))
    if resumed.status != 0:
        return f"{said[-1]} Then status {resumed.status}: {' | '.join(resumed.lines[-6:])}"
    return "" if disk.outcome() == expected else f"{said[-1]} Then another outcome {_differing(disk, expected)}"


def is_a_sentence(said):
    return len(said) == 1 and said[0].endswith(".") and not said[0].startswith(" ")


def _differing(disk, expected):
    found = disk.outcome()
    return sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name))


def check(disk, kind, share):
    """Let calls of one kind of work fail, each in a case of its own."""
    words, problems = COMMANDS[kind], []
    disk.renew()
    end = disk.run(words)
    assert end.status == 0, end
    calls, expected, whole = disk.calls(), disk.outcome(), Whole(end, set(disk.case.rglob("*")))
    finished = len(disk.finished(len(calls)) & whole.paths)
    rng = random.Random(kind)
    numbers = sorted(rng.sample(range(1, len(calls) + 1), -(-len(calls) // share)))
    for number in numbers:
        mode = rng.choice(list(MODES))
        if wrong := problem(disk, words, number, mode, whole, expected):
            call, path = calls[number - 1]
            problems.append(f"{number} {call} {Path(path).relative_to(disk.case)}, {mode}: {wrong}")
    kinds = dict(Counter(call for call, _ in calls))
    return {"calls": kinds, "cases": len(numbers), "problems": problems, "parts": len(expected), "finished": finished}


def read_in(disk, words):
    """Import what a command imports: it would be most of the time of every case."""
    disk.renew()
    told = disk.printed.with_name("modules.json")

    def run():
        status = disk.become(words, 0, 0, 0)
        told.write_text(json.dumps(sorted(sys.modules)))
        os._exit(status)

    os.waitpid(forked(run), 0)
    for name in json.loads(told.read_text()):
        with suppress(Exception):  # some are parts of others, or made by hand
            import_module(name)


def prepare(folder):
    """Write what the commands read; it lies on a disk that works."""
    folder.mkdir()
    for name in RECIPES:
        recipe = algorithm_of({"algorithm": name}).recipe_type.read({"algorithm": name, **RECIPES[name]})
        (folder / f"{name}.toml").write_text(settings_toml(recipe))
    (folder / "recipe.toml").write_text(SWEPT)
    (folder / "sweep.toml").write_text(SWEEP)


def main(folder, shim, share, *kinds):
    torch.set_num_threads(1)
    folder = Path(folder).resolve()
    prepare(folder / "inputs")
    disk = Disk(folder, shim)
    for kind in kinds or COMMANDS:
        read_in(disk, COMMANDS[kind])
        start = time.perf_counter(), sum(os.times()[2:4])
        found = check(disk, kind, int(share))
        seconds, spent = time.perf_counter() - start[0], sum(os.times()[2:4]) - start[1]
        print(json.dumps({"kind": kind, **found, "seconds": round(seconds), "cpu": round(spent, 1)}), flush=True)  # noqa: T201 - read by the test


if __name__ == "__main__":
    main(*sys.argv[1:])
