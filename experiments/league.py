"""Runs of docs/results/league.md, resumable: `python experiments/league.py runs/league [--only kuhn] [--seeds 5-20]`.

Ways to train in kuhn and leduc: pure self-play, self-play held near to its own average, one fixed opponent, and a
league of three roles; in kuhn also against one's past, by how often one loses to it, or by ratings that are near.
All have the same SFT by seed and as many games of the main learner. And populations of three learners in the
repeated dilemma, paid alone, or charged as SEPO charges. To be called from the project's root. A run that is
finished is passed over, one that was broken off goes on.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from runs import Run, make

RECIPES = Path("recipes/league")
WAYS = {
    "kuhn": ("self", "held", "fixed", "pfsp", "near", "league"),
    "leduc": ("self", "held", "fixed", "league"),
}
"""Settings of the main learner's training, by game."""
POPULATIONS = ("ipd-population", "ipd-population-safe")
RUNS: Mapping[str, tuple[Path, ...]] = {
    **{
        f"{game}-{way}": (RECIPES / f"{game}.toml", RECIPES / "learners" / f"{way}.toml")
        for game, ways in WAYS.items()
        for way in ways
    },
    **{name: (RECIPES / f"{name}.toml",) for name in POPULATIONS},
}
"""Recipes of every run, by its name."""


def jobs(only: Sequence[str], seeds: Iterable[int]) -> Iterator[Run]:
    """A seed of everything before the next one of anything."""
    for seed in seeds:
        for name, recipes in RUNS.items():
            run = Run(f"{name}-{seed}", recipes, {"seed": str(seed)}, "league.json")
            if any(part in run.name for part in only):
                yield run


def which_seeds(text: str) -> range:
    """The first N seeds of `N`, or those from the first to the last of `FIRST-LAST`."""
    found = re.fullmatch(r"(?:(?P<first>\d+)-)?(?P<last>\d+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of seeds, as 5, nor a range, as 5-20")
    if found["first"] is None:
        return range(int(found["last"]))
    return range(int(found["first"]), int(found["last"]) + 1)


def main() -> None:
    """Run what is not done yet, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("--only", nargs="+", default=[""], help="runs whose names hold one of these")
    parser.add_argument("--seeds", type=which_seeds, default="5", help="how many from 0 on, or FIRST-LAST")
    asked = parser.parse_args()
    make(jobs(asked.only, asked.seeds), asked.folder)


if __name__ == "__main__":
    main()
