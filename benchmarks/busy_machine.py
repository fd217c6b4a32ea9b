"""Time of a short training run beside other programs, by how long the threads of torch spin before they sleep.

`python benchmarks/busy_machine.py` trains Kuhn poker with `tiny` for a few steps on all cores, beside as many busy
programs as there are cores, and beside none. GOMP_SPINCOUNT is the number of rounds: 1,000 is that of the command, and
300,000 the default of GNU's OpenMP, which the wheels of torch for Linux use. The best of three counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SPINS = {"1,000 (ours)": "1000", "300,000 (default)": "300000"}
SHORT = ("sft.epochs=1", "sft.num_examples=1000", "sepo.iterations=2", "evaluate_every=2", "test_episodes=2")
BUSY = "while True: pass"
TRIALS = 3


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Run this number of programs that take a core each."""
    programs = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(number)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def seconds(spins: str, cores: int) -> float:
    """Return the time of one training run on all cores."""
    changes = [word for change in SHORT for word in ("--set", change)]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(Path(sys.executable).parent / "stratagem"),
            "train",
            "recipes/sepo/kuhn-tiny.toml",
            "--out",
            f"{folder}/run",
        ]
        begin = time.perf_counter()
        subprocess.run(
            [*command, *changes],
            env={**os.environ, "GOMP_SPINCOUNT": spins, "OMP_NUM_THREADS": str(cores)},
            check=True,
            capture_output=True,
        )
        return time.perf_counter() - begin


def main() -> None:
    """Print the table in Markdown."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"| rounds of spinning | alone, s | beside {cores} busy programs, s |\n| --- | --- | --- |")
    for title, spins in SPINS.items():
        times = []
        for number in (0, cores):
            with busy(number):
                times.append(min(seconds(spins, cores) for _ in range(TRIALS)))
        print(f"| {title} | {times[0]:.1f} | {times[1]:.1f} |")


if __name__ == "__main__":
    main()
