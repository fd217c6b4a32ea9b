"""Memory of log-probabilities: 512 tokens of a vocabulary of 262,144 entries, in one go and in chunks.

What is counted is the most that a process holds, forward and backward, beyond what it held before; head and hidden
states (of 64 numbers, so that neither matters) are there before and count for nothing. `python learner_memory.py CHUNK`
is one measurement, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from engine_timing import Figure, count

TOKENS, ENTRIES, HIDDEN = 512, 262_144, 64


def measure() -> Iterator[Figure]:
    """The peaks of both ways, and their ratio."""
    whole, chunks = (_asked(chunk) for chunk in (TOKENS, 0))
    name = f"log-probabilities of {TOKENS} tokens, {ENTRIES:,} entries"
    yield count(f"{name}: in one go", whole / 2**20, "GiB")
    yield count(f"{name}: in chunks", chunks / 2**20, "GiB")
    yield count(f"{name}: chunks to one go", 100 * chunks / whole, "%", "at most 12.5")


def _asked(chunk: int) -> int:
    command = [sys.executable, __file__, str(chunk)]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def peak(chunk: int) -> int:
    """Kilobytes that a forward and a backward pass bring; 0 takes chunks of the default size."""
    import torch

    from stratagem.learn.logprobs import Head, TokenQueries, token_outputs

    head = Head(torch.nn.Linear(HIDDEN, ENTRIES, bias=False).requires_grad_(False), ENTRIES, trained=False)
    states = torch.randn(TOKENS, HIDDEN).requires_grad_()
    nothing = [None] * TOKENS
    wanted = TokenQueries([7] * TOKENS, [1.0] * TOKENS, nothing, nothing)
    token_outputs(head, states[:1], wanted.part(slice(0, 1))).logprobs.sum().backward()  # type: ignore[no-untyped-call]
    return peak_of(lambda: token_outputs(head, states, wanted, chunk or None).logprobs.sum().backward())  # type: ignore[no-untyped-call]


def peak_of(work: Callable[[], object]) -> int:
    """Return the kilobytes that a process holds at most in some work, beyond what it held before."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before = _kilobytes("VmRSS")
    work()
    return _kilobytes("VmHWM") - before


def _kilobytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    print(peak(int(sys.argv[1])))
