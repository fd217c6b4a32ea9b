"""Runs of docs/results/league.md, resumable: `python experiments/league.py runs/league [--only kuhn] [--seeds 5-20]`.

Ways to train in kuhn and leduc: pure self-play, self-play held near to its own average, one fixed opponent, and a
league of three roles; in kuhn also against one's past, by how often one loses to it, or by ratings that are near.
All have the same SFT by seed and as many games of the main learner. And populations of three learners in the
repeated dilemma, paid alone, or charged as SEPO charges. `smollm2` is kuhn with SmolLM2-135M. To be called from the
project's root. A run that is finished is passed over, one that was broken off goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from experiment import command_line, run

from stratagem.sweeps.planned_run import PlannedRun

RECIPES = Path("recipes/league")
WAYS = {
    "kuhn": ("self", "held", "fixed", "pfsp", "near", "league"),
    "leduc": ("self", "held", "fixed", "league"),
    "smollm2": ("self", "held", "slow", "league"),
}
"""Settings of the main learner's training, by game, and in kuhn with SmolLM2-135M."""
RECIPE_NAMES = {"smollm2": "kuhn-smollm2"}
"""Names of the recipes of games that are not those of the games."""
POPULATIONS = ("ipd-population", "ipd-population-safe")
RUNS: Mapping[str, tuple[Path, ...]] = {
    **{
        f"{game}-{way}": (RECIPES / f"{RECIPE_NAMES.get(game, game)}.toml", RECIPES / "learners" / f"{way}.toml")
        for game, ways in WAYS.items()
        for way in ways
    },
    **{name: (RECIPES / f"{name}.toml",) for name in POPULATIONS},
}
"""Recipes of every run, by its name."""


def jobs(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Plan a seed of everything before the next one of anything."""
    for seed in seeds:
        for name, recipes in RUNS.items():
            yield PlannedRun(f"{name}-{seed}", recipes, {"seed": str(seed)})


def main() -> None:
    """Make the runs."""
    arguments = command_line(__doc__).parse_args()
    run(jobs(arguments.seeds), arguments)


if __name__ == "__main__":
    main()
