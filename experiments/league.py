"""Runs of docs/results/league.md, resumable: `python experiments/league.py runs/league [--only kuhn] [--seeds 5]`.

Four ways to train in every game: pure self-play, self-play held near to its own average, one fixed opponent, and a
league of three roles; all with the same warm start by seed and as many games of the main learner. To be called from the
project's root. A run that is finished is passed over, one that was broken off goes on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from runs import Run, make

RECIPES = Path("recipes/league")
GAMES, WAYS = ("kuhn", "leduc"), ("self", "held", "fixed", "league")


def jobs(only: str, seeds: int) -> Iterator[Run]:
    """A seed of everything before the next one of anything."""
    for seed in range(seeds):
        for game in GAMES:
            for way in WAYS:
                run = Run(f"{game}-{way}-{seed}", RECIPES / f"{game}-{way}.toml", {"seed": str(seed)}, "league.json")
                if only in run.name:
                    yield run


def main() -> None:
    """Run what is not done yet, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("--only", default="", help="runs whose names hold this")
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    make(jobs(asked.only, asked.seeds), asked.folder)


if __name__ == "__main__":
    main()
