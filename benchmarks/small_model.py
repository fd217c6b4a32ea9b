"""Processor time of a small model's training, step by step, and of the exact figure of a model in leduc.

    OMP_NUM_THREADS=1 python benchmarks/small_model.py [MODEL]

`kuhn-tiny` is trained once: 500 steps of SFT and 60 iterations of SEPO. With a MODEL, such as smollm2, its
exploitability in leduc is computed, too: 288 prompts. Processor time counts, not time on the clock, so a busy neighbour
disturbs less. Run with `make bench-small-model`.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import stratagem as sg
from stratagem.training.online import Online
from stratagem.training.policy import TrainablePolicy

SFT_STEPS = 500


def timed(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    """Note the processor time of each call of a function."""

    def run(*args: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return function(*args, **options)
        finally:
            spent.append(time.process_time() - start)

    return run


def main() -> None:
    """Print the processor times."""
    updates, played = list[float](), list[float]()
    TrainablePolicy.update = timed(TrainablePolicy.update, updates)  # type: ignore[method-assign]
    Online._collect = timed(Online._collect, played)  # type: ignore[method-assign]  # noqa: SLF001
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        sg.train("sepo/kuhn-tiny", out=Path(folder) / "run", progress=False)
    whole = time.process_time() - start
    print(f"{1e3 * statistics.median(updates[:SFT_STEPS]):8.1f} ms  a step of SFT")
    print(f"{1e3 * statistics.median(played):8.1f} ms  the games of an iteration")
    print(f"{1e3 * statistics.median(updates[SFT_STEPS:]):8.1f} ms  the update of an iteration")
    print(f"{whole:8.1f} s   the training")
    for model in sys.argv[1:]:
        start = time.process_time()
        sg.exploitability("leduc", model)
        print(f"{time.process_time() - start:8.1f} s   exploitability of {model} in leduc")


if __name__ == "__main__":
    main()
