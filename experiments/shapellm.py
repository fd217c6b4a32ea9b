"""Runs of ShapeLLM's experiments, resumable: `python experiments/shapellm.py RUNS tabular [--only ipd] [--seeds 5]`.

Every recipe of a folder of recipes/shapellm is run with every seed, as RUNS/FOLDER-RECIPE-SEED, so that the report of
one takes its seeds together. To be called from the project's root. A run that is finished is passed over, one that was
broken off goes on. Two processes may share the work: each run is locked.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

RECIPES = Path("recipes/shapellm")
FOLDERS = sorted(path.name for path in RECIPES.glob("*") if path.name not in ("games", "models", "pairs", "start"))


def command(recipe: Path, run: Path, seed: int) -> list[str]:
    """What begins a run, or goes on with it."""
    stratagem = [sys.executable, "-c", "from stratagem.cli.main import main; main()", "train"]
    if (run / "run.json").is_file():
        return [*stratagem, str(run), "--resume"]
    return [*stratagem, str(recipe), "--out", str(run), "--set", f"seed={seed}"]


def main() -> None:
    """Run what is not done yet, one after the other, seed by seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="where the runs lie")
    parser.add_argument("folder", choices=FOLDERS, help="whose recipes")
    parser.add_argument("--only", default="", help="runs whose names hold this")
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    for seed in range(asked.seeds):
        for recipe in sorted((RECIPES / asked.folder).glob("*.toml")):
            run = asked.runs / f"{asked.folder}-{recipe.stem}-{seed}"
            if asked.only in run.name and not (run / "outcome.json").is_file():
                words = command(recipe, run, seed)
                print(" ".join(words), flush=True)
                subprocess.run(words, check=False, env=environment)


if __name__ == "__main__":
    main()
