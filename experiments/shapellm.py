"""Runs of ShapeLLM's experiments, resumable: `python experiments/shapellm.py RUNS tiny --only baseline,shaper`.

Every recipe of a folder of recipes/shapellm is run with every seed, as RUNS/FOLDER-RECIPE-SEED, so that the report of
one takes its seeds together; `--only` takes those recipes whose names end so. `table` in the place of a folder is the
paper's main table with `tiny`: 65 runs, of which the baselines that end in one of several equilibria have ten seeds. To
be called from the project's root. A run that is finished is passed over, one that was broken off goes on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from runs import Run, make

RECIPES = Path("recipes/shapellm")
FOLDERS = sorted(path.name for path in RECIPES.glob("*") if path.name not in ("games", "models", "pairs", "start"))

TABLE = {f"{game}-{pair}": 5 for game in ("ipd", "imp", "icg", "c-ipd", "ish") for pair in ("baseline", "shaper")}
TABLE |= {f"{game}-baseline": 10 for game in ("icg", "c-ipd", "ish")}
"""How many seeds of which recipe are in the paper's Tables 1 and 3."""


def jobs(folder: str, only: tuple[str, ...], seeds: int) -> Iterator[Run]:
    """What is to be run, a seed of all before the next one of any."""
    if folder == "table":
        wanted = {RECIPES / "tiny" / f"{name}.toml": count for name, count in TABLE.items()}
    else:
        wanted = dict.fromkeys(sorted((RECIPES / folder).glob("*.toml")), seeds)
    for seed in range(max(wanted.values())):
        for recipe, count in wanted.items():
            if seed < count and recipe.stem.endswith(only):
                name = f"{recipe.parent.name}-{recipe.stem}-{seed}"
                yield Run(name, recipe, {"seed": str(seed)}, ends_with="outcome.json")


def main() -> None:
    """Run what is not done yet, one after the other, seed by seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="where the runs lie")
    parser.add_argument("folder", choices=["table", *FOLDERS], help="whose recipes")
    parser.add_argument("--only", default="", help="recipes whose names end so, several with commas between them")
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    make(jobs(asked.folder, tuple(asked.only.split(",")), asked.seeds), asked.runs)


if __name__ == "__main__":
    main()
