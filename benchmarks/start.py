"""Seconds until a command has printed, as ratios to a bare interpreter and to the import of torch and transformers.

Every program is a fresh process, all of them in turn. Run with `make bench-start`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from engine_timing import race

MAIN = "from stratagem.cli.main import main; main()"
PROGRAMS = {
    "python -c pass": ("-c", "pass"),
    'python -c "import torch, transformers"': ("-c", "import torch, transformers"),
    'python -c "import torch, transformers.models.llama.modeling_llama"': (
        "-c",
        "import torch, transformers.models.llama.modeling_llama",
    ),
    "stratagem --help": ("-c", MAIN, "--help"),
    "stratagem games": ("-c", MAIN, "games"),
    "stratagem eval kuhn --player NashApprox": ("-c", MAIN, "eval", "kuhn", "--player", "NashApprox"),
    "stratagem eval kuhn --player tiny": ("-c", MAIN, "eval", "kuhn", "--player", "tiny"),
}
"""Arguments of the interpreter by what they stand for; the first three are the measures."""


def run(*arguments: str) -> None:
    """Run a program to its end; compiled files of modules may be written, as they are where a package is installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True, env=environment)


def main() -> None:
    """Print the seconds of every program and its ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    sides = {name: lambda arguments=arguments: run(*arguments) for name, arguments in PROGRAMS.items()}
    race(sides, 1)
    seconds = {name: min(timing.seconds) for name, timing in race(sides, repeats).items()}
    bare, libraries, model = list(seconds.values())[:3]
    print(f"{'seconds':>8} {'/ pass':>8} {'/ imports':>10} {'/ with Llama':>13}")
    for name, spent in seconds.items():
        print(f"{spent:8.3f} {spent / bare:8.1f} {spent / libraries:10.2f} {spent / model:13.2f}  {name}")


if __name__ == "__main__":
    main()
