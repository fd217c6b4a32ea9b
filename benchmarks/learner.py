"""Speed and memory of a training step, as ratios to trl's trainers with the same settings, all in one run.

The model is SmolLM2-135M-Instruct in 32 bits, or in bf16, with LoRA of rank 16 on all linear layers. Each side is a
process of its own, which keeps its own peak of memory; the two take steps in turn, so a slow spell of the machine meets
both. The first step of each warms up and is left out. Run with `make bench-learner`, or one part by `--only`.

Replies are of full length on both sides: ours are guided by what never ends, trl's may not end before the last token,
and either side stops where a reply is shorter. "trl as it comes" keeps trl's default, which computes activations again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import learner_memory
from engine_timing import Figure, Timing, count
from learner_sides import Facts, raced

from stratagem.base.provenance import source


class Task(NamedTuple):
    """A step that both sides take."""

    name: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    faster: str
    smaller: str = ""


STEP = "policy gradient"
TASKS = {
    "grpo": Task(STEP, ("grpo",), ("grpo",), "at least 3", "at most 50"),
    "grpo-free": Task(f"{STEP}, no reference", ("grpo-free",), ("grpo-free",), "at least 4", "at most 50"),
    "grpo-default": Task(f"{STEP}, trl as it comes", ("grpo",), ("grpo", "gradient_checkpointing"), "at least 3"),
    "grpo-again": Task(
        f"{STEP}, both computing again",
        ("grpo", "gradient_checkpointing"),
        ("grpo", "gradient_checkpointing"),
        "at least 3",
    ),
    "grpo-bf16": Task(f"{STEP} in bf16", ("grpo", "bf16"), ("grpo", "bf16"), "at least 3", "at most 50"),
    "sft": Task("demonstrations", ("sft",), ("sft",), "at least 1"),
    "sft-bf16": Task("demonstrations in bf16", ("sft", "bf16"), ("sft", "bf16"), "at least 1"),
    "kto": Task("judged replies", ("kto",), ("kto",), "at least 1"),
}
PARTS = (*TASKS, "memory")


def figures(part: str, steps: int) -> Iterator[Figure]:
    """The figures of one part."""
    if part == "memory":
        yield from learner_memory.measure()
        return
    task = TASKS[part]
    found = raced({"ours": ("learner_ours", *task.ours), "trl": ("learner_trl", *task.theirs)}, steps)
    assert len({facts["tokens"] for side in found.values() for facts in side}) == 1
    times = {side: Timing(tuple(one["seconds"] for one in facts)) for side, facts in found.items()}
    used = {side: Timing(tuple(one["processor"] for one in facts)) for side, facts in found.items()}
    peaks = {side: _peak(facts) for side, facts in found.items()}
    for side in ("trl", "ours"):
        yield times[side].figure(f"{task.name}: {side}", "s")
        yield count(f"{task.name}: {side}, peak", peaks[side], "GiB")
    yield times["ours"].times(times["trl"], f"{task.name}: times as fast as trl", task.faster)
    yield used["ours"].times(used["trl"], f"{task.name}: the same in processor time")
    yield count(f"{task.name}: our memory to trl's", 100 * peaks["ours"] / peaks["trl"], "%", task.smaller)


def _peak(facts: list[Facts]) -> float:
    return max(one["gigabytes"] for one in facts)


def machine() -> dict[str, str | int]:
    """Return the machine of the figures; nothing heavy is imported, since a child's peak begins at its parent's."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "load": f"{os.getloadavg()[0]:.1f}",
        **{name: version(name) for name in ("torch", "transformers", "peft", "trl")},
    }


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="the parts to run")
    parser.add_argument("--steps", type=int, default=3, help="steps of each side that count")
    parser.add_argument("--threads", type=int, default=2, help="of each side; one, on a machine that others use too")
    parser.add_argument("--json", type=Path, help="a file that is given the figures too")
    options = parser.parse_args()
    os.environ |= {"LEARNER_THREADS": str(options.threads), "OMP_NUM_THREADS": str(options.threads)}
    command, known = f"python {shlex.join(sys.argv)}", {**machine(), "threads": options.threads}
    print(f"$ {command}\n{', '.join(f'{name} {value}' for name, value in known.items())}\n")
    print(f"{'best':>10} {'median':>10} {'of':>3} {'unit':9} {'asked':12}")
    found: list[Figure] = []
    for part in options.only:
        for figure in figures(part, options.steps):
            found.append(figure)
            numbers = f"{figure.best:10,.2f} {figure.median:10,.2f} {figure.repeats:3}"
            print(f"{numbers} {figure.unit:9} {figure.asked:12} {figure.name}", flush=True)
        if options.json:
            everything = {"command": command, **source(), **known, "figures": [figure._asdict() for figure in found]}
            options.json.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
