"""Memory of attention by the length of a pack: a dense mask against attention branch by branch, forward and backward.

A pack is a tree of texts of 512 tokens: half of a text is the prompt of all, a quarter that of its group of four. What
is counted is the most that a process holds beyond what it held before, on a processor in fp32, beside the estimate of a
dry run. Each measurement has a process of its own. `python benchmarks/pack_memory.py --tokens 1024 2048 4096 8192`.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from learner_memory import peak_of

if TYPE_CHECKING:
    from stratagem.learn.pass_sizes import AttentionKind

TEXT, GROUP = 512, 4
KINDS: tuple[AttentionKind, ...] = ("dense", "branches")
MIB = 2**10
"""KiB of a MiB."""


def texts(tokens: int) -> list[tuple[int, ...]]:
    """Return texts whose tree has at least so many tokens."""
    found, total, number = list[tuple[int, ...]](), TEXT // 2, 0
    while total < tokens:
        group, own = divmod(number, GROUP)
        shared = [(7 * at + 3) % 1500 for at in range(TEXT // 2)]
        theirs = [(11 * at + 13 * group + 5) % 1500 for at in range(TEXT // 4)]
        found.append((*shared, *theirs, own, *((5 * at + number) % 1500 for at in range(TEXT // 4 - 1))))
        total += TEXT // 4 + (0 if own else TEXT // 4)
        number += 1
    return found


def measure(kind: AttentionKind, tokens: int) -> tuple[int, int, float]:
    """Return the tokens of a pack, the KiB that reading it takes, and the bytes of the estimate."""
    from stratagem.language.models.load import load
    from stratagem.language.models.shapes import ModelShape
    from stratagem.learn.example import Example
    from stratagem.learn.packing import pack_examples
    from stratagem.learn.pass_sizes import PackSize, PassSize
    from stratagem.learn.policy import Policy
    from stratagem.learn.step_memory import StepMemory

    lm = load("tiny")
    lm.model.requires_grad_(True)
    policy = Policy(lm, max_tokens_per_microbatch=2 * tokens, attention=kind)
    examples = [Example(tokens=(*text, 7), loss_positions=(len(text),)) for text in texts(tokens)]
    (pack,) = pack_examples(examples, 2 * tokens)

    def step(some: list[Example]) -> None:
        (own,) = pack_examples(some, 2 * tokens)
        policy.outputs(own, some).logprobs.sum().backward()  # type: ignore[no-untyped-call]

    step(examples[:2])
    gc.collect()
    with suppress(OSError, AttributeError):  # other libraries of C than glibc have none
        ctypes.CDLL(None).malloc_trim(0)  # what the first step has left is not counted as held before
    size = len(pack.tokens)
    passes = (PassSize(1, size, size, masked=kind == "dense"),)
    estimate = StepMemory(ModelShape.of(lm.model.config.to_dict()), "fp32", on_gpu=False).parts(
        [PackSize(passes, len(examples))]
    )
    return size, peak_of(lambda: step(examples)), sum(estimate.values())


def main() -> None:
    """Print a row a length, and by how much memory grows from one length to the next."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", nargs="+", type=int, default=[1024, 2048, 4096, 8192])
    parser.add_argument("--one", nargs=2, metavar=("KIND", "TOKENS"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(*measure(asked.one[0], int(asked.one[1])))
        return
    print("| tokens | dense, MiB | estimate | by branch, MiB | estimate | by branch / dense |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    rows = list[tuple[int, float, float]]()
    for tokens in asked.tokens:
        found = [_in_process(kind, tokens) for kind in KINDS]
        (size, dense, _), (_, ours, _) = found
        cells = [f"{peak / MIB:.0f} | {estimate / 2**20:.0f}" for _, peak, estimate in found]
        rows.append((size, dense, ours))
        print(f"| {size:,} |", " | ".join(cells), f"| {ours / dense:.2f} |", flush=True)
    for before, after in pairwise(rows):
        tokens, dense, ours = (new / old for old, new in zip(before, after, strict=True))
        print(f"{tokens:.2f} times the tokens: {dense:.2f} times the memory with a dense mask, {ours:.2f} by branch")


def _in_process(kind: str, tokens: int) -> tuple[int, float, float]:
    command = [sys.executable, "-W", "ignore", __file__, "--one", kind, str(tokens)]
    size, peak, estimate = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    return int(size), float(peak), float(estimate)


if __name__ == "__main__":
    main()
