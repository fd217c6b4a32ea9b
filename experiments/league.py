"""Runs of docs/results/league.md, resumable: `python experiments/league.py runs/league [--only kuhn] [--seeds 5-20]`.

Ways to train in kuhn and leduc: pure self-play, self-play held near to its own average, one fixed opponent, and a
league of three roles; in kuhn also against one's past, by how often one loses to it, or by ratings that are near.
All have the same SFT by seed and as many games of the main learner. And populations of three learners in the
repeated dilemma, with the payoff alone, or with SEPO's penalties. `smollm2` is kuhn with SmolLM2-135M. Call it from
the project's root. A run that is finished is passed over, one that was broken off goes on.
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
WAY_CHANGES: Mapping[str, Mapping[str, str]] = {
    "fixed": {"learners.main.matchmaker": '{ rule = "fixed", opponent = "base" }'},
}
"""Ways that are settings of a game's recipe; the others are recipes of their own."""
POPULATIONS: Mapping[str, Mapping[str, str]] = {
    "ipd-population": {},
    "ipd-population-safe": {"league.reward_weights": "{ payoff = 1.0, externality = -1.8, collusion = -1.0 }"},
}
"""Populations, with the settings that differ. The weights are those that SEPO gives the dilemma (its table 1)."""


def recipes(game: str, way: str) -> tuple[Path, ...]:
    """Recipes of a game and a way."""
    own = RECIPES / f"{RECIPE_NAMES.get(game, game)}.toml"
    return (own,) if way in WAY_CHANGES else (own, RECIPES / "learners" / f"{way}.toml")


RUNS: Mapping[str, tuple[tuple[Path, ...], Mapping[str, str]]] = {
    **{f"{game}-{way}": (recipes(game, way), WAY_CHANGES.get(way, {})) for game, ways in WAYS.items() for way in ways},
    **{name: ((RECIPES / "ipd-population.toml",), changes) for name, changes in POPULATIONS.items()},
}
"""Recipes and changed settings of every run, by its name."""


def jobs(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Plan a seed of everything before the next one of anything."""
    for seed in seeds:
        for name, (parts, changes) in RUNS.items():
            yield PlannedRun(f"{name}-{seed}", parts, {"seed": str(seed), **changes})


def main() -> None:
    """Make the runs."""
    arguments = command_line(__doc__).parse_args()
    run(jobs(arguments.seeds), arguments)


if __name__ == "__main__":
    main()
