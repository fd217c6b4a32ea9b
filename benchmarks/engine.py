"""Speed of language models, as ratios to public tools on the same model and prompts, all in one run.

The model is SmolLM2-135M-Instruct. Sides that are compared take turns, so a slow spell of the machine meets both; the
best of the repeats is printed and the median beside it. Run with `make bench-engine`, or one part by `--only`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterator

import engine_adapters
import engine_constrained
import engine_decode
import engine_prefix
import engine_tables
import torch
import transformers
from engine_timing import Figure

from stratagem.base.provenance import source

PARTS = ("decode", "prefix", "constrained", "adapters", "tables")


def figures(part: str, repeats: int, rivals: str | None) -> Iterator[Figure]:
    """The figures of one part, as they are found."""
    if part == "decode":
        return engine_decode.measure(repeats)
    if part == "prefix":
        return engine_prefix.measure(repeats)
    if part == "constrained":
        return engine_constrained.measure(repeats, rivals)
    if part == "adapters":
        return engine_adapters.measure(repeats)
    return engine_tables.measure(repeats)


def machine() -> dict[str, str | int]:
    """Return the machine and the versions of the figures."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="the parts to run")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rivals", help="a Python that has xgrammar, llguidance and outlines-core")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    command = f"python {shlex.join(sys.argv)}"
    if not options.json:
        print(f"$ {command}\n{', '.join(f'{name} {value}' for name, value in machine().items())}\n")
        print(f"{'best':>10} {'median':>10} {'of':>3} {'unit':9} {'asked':12}")
    found: list[Figure] = []
    for part in options.only:
        for figure in figures(part, options.repeats, options.rivals):
            found.append(figure)
            if not options.json:
                print(line(figure), flush=True)
    if options.json:
        about = {"command": command, **source(), **machine()}
        print(json.dumps({**about, "figures": [f._asdict() for f in found]}, indent=2))


def line(figure: Figure) -> str:
    """One figure of the table."""
    numbers = f"{figure.best:10,.2f} {figure.median:10,.2f} {figure.repeats:3}"
    return f"{numbers} {figure.unit:9} {figure.asked:12} {figure.name}"


if __name__ == "__main__":
    main()
