"""Runs on credit by order in Diplomacy, resumable: `python experiments/diplomacy_runs.py RUNS STUDY --seeds 3`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed. The arms of
a seed begin with one SFT model.

`orders`    GRPO on branched rollouts of a year; the worth of an order is left out, added to the advantage, or a factor,
            with its sign (`times`) or without (`magnitude`).
`variants`  The first of these against itself in all seats, and with an exponential moving average as the reference.
`matches`   A league in which a learner meets members by lost games (PFSP), some of them reserved, or by near ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from experiment import command_line, run

from stratagem.sweeps.planned_run import PlannedRun

NEAR = (Path("recipes/diplomacy/small-near.toml"),)
LEAGUE = Path("recipes/league")
JUDGED = {"games": '["diplomacy"]', "grpo.iterations": "50"}
"""Orders are valued one by one only where the game judges them."""
ORDERS: Mapping[str, Mapping[str, str]] = {
    "none": {"grpo.advantage": "group_mean(normalize_std=False)"},
    "plus": {"grpo.advantage": "per_order(combine=add, of=group_mean(normalize_std=False))"},
    "times": {"grpo.advantage": "per_order(combine=multiply, of=group_mean(normalize_std=False))"},
    "magnitude": {"grpo.advantage": "per_order(combine=magnitude, of=group_mean(normalize_std=False))"},
}
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "self": {"grpo.opponents": "{ self = 1.0 }", "grpo.chance_seeds": "independent"},
    "ema": {
        "grpo.loss": '{ kl_estimator = "k3", kl_coef = 0.05, entropy_coef = 0.01 }',
        "reference": '{ type = "ema", ema_decay = 0.9 }',
    },
}
_PFSP = '{ rule = "pfsp", weighting = "squared", self_play = 0.2, reserved = 0.2 }'
MATCHES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "pfsp": ("pfsp", {}),
    "reserved": ("pfsp", {"learners.main.matchmaker": _PFSP}),
    "rating-near": ("near", {}),
}


def start(folder: Path, seed: int) -> tuple[PlannedRun, dict[str, str]]:
    """The run that makes the SFT model of a seed, and the changes by which another run begins with it."""
    sft = PlannedRun(
        f"sft-{seed}",
        NEAR,
        {"seed": str(seed), **JUDGED, "grpo.iterations": "1", "test_episodes": "7", "validation_episodes": "7"},
        first=True,
    )
    return sft, {"seed": str(seed), "model": f"run:{folder / sft.name}@start", "sft.epochs": "0"}


def branched(folder: Path, seeds: Iterable[int], arms: Mapping[str, Mapping[str, str]]) -> Iterator[PlannedRun]:
    """The arms of every seed by GRPO on branched rollouts."""
    for seed in seeds:
        sft, begin = start(folder, seed)
        yield sft
        for name, changes in arms.items():
            yield PlannedRun(f"{name}-{seed}", NEAR, {**begin, **JUDGED, **changes})


def matches(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The leagues of every seed."""
    for seed in seeds:
        sft, begin = start(folder, seed)
        yield sft
        for name, (learners, changes) in MATCHES.items():
            recipes = (LEAGUE / "diplomacy.toml", LEAGUE / "learners" / f"{learners}.toml")
            yield PlannedRun(f"{name}-{seed}", recipes, {**begin, **changes})


STUDIES: Mapping[str, Callable[[Path, Iterable[int]], Iterator[PlannedRun]]] = {
    "orders": lambda folder, seeds: branched(folder, seeds, ORDERS),
    "variants": lambda folder, seeds: branched(folder, seeds, VARIANTS),
    "matches": matches,
}


def main() -> None:
    """Make the runs of a study."""
    arguments = command_line(__doc__, STUDIES, seeds=range(3)).parse_args()
    run(STUDIES[arguments.study](arguments.folder, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
