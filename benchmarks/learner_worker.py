"""The end of a side that works: it gets ready, takes a step whenever it is told to, and says how long it took."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Collection

RANK, ALPHA, RATE, BETA = 16, 32, 1e-5, 0.04
THREADS = int(os.environ.get("LEARNER_THREADS", "2"))
"""The same on both sides: LoRA on all linear layers, the learning rate, the KL coefficient."""


def dtype_of(flags: Collection[str]) -> str:
    """Number format of the frozen weights on both sides; adapters stay in 32 bits."""
    return "bf16" if "bf16" in flags else "fp32"


class Line:
    """Talks with whoever started this process; whatever else is printed goes to its errors."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        self._began = self._used = 0.0

    def told(self) -> bool:
        """Wait for the word; false where there is nothing left to do."""
        found = sys.stdin.readline().strip() == "step"
        self._began, self._used = time.perf_counter(), time.process_time()
        return found

    def tell(self, **facts: float) -> None:
        """The step is done."""
        spent, used = time.perf_counter() - self._began, time.process_time() - self._used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform != "darwin" else 2**30)
        print(json.dumps({"seconds": spent, "processor": used, "gigabytes": peak, **facts}), file=self._out, flush=True)
