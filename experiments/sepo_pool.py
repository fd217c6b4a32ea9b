"""Does the pool's figure see exploitability? `python experiments/sepo_pool.py docs/results/sepo.json [--out FILE]`.

Spearman's rank correlation of what the pool wins (`exploit`) and exact exploitability over checkpoints of
`experiments/sepo.py RUNS pool --seeds 20`: four of each run of four arms in Kuhn poker. Intervals resample seeds, each
with all its checkpoints, since those of one seed are not independent. Beside it, where `experiments/sepo.py RUNS bits`
has been run: the variance of the last exact figure over ten last-bit perturbations of one seed, and over ten seeds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sepo import BIT_ARMS, POOL_ARMS

from stratagem.games.key import Key

Run = Mapping[str, Any]
Points = np.ndarray[Any, np.dtype[np.float64]]
STEPS = (0, 20, 40, 60)
"""Iterations at which a run's checkpoint is taken."""
ROUNDS = 10_000
"""Resamples of seeds."""


def checkpoints(run: Run) -> Points:
    """Pool exploit and exact exploitability of a run at `STEPS`; the start is in every arm of a seed alike."""
    pool, exact = (run["curves"][name] for name in ("exploit", "exact"))
    rows = [
        (pool["values"][pool["steps"].index(step)], exact["values"][exact["steps"].index(step)])
        for step in STEPS
        if step in pool["steps"] and step in exact["steps"]
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def by_seed(arms: Mapping[str, Sequence[Run]], names: Sequence[str]) -> dict[int, Points]:
    """All checkpoints of a seed, over the arms; those of the start once."""
    told: dict[int, Points] = {}
    for name in names:
        for run in arms.get(name, ()):
            rows = checkpoints(run)
            rows = rows if run["seed"] not in told else rows[1:]
            told[run["seed"]] = np.vstack([told.get(run["seed"], np.empty((0, 2))), rows])
    return told


def correlation(points: Points) -> float:
    """Spearman's rank correlation of the two columns."""
    return float(spearmanr(points[:, 0], points[:, 1]).statistic)


def interval(
    seeds: Mapping[int, Points], figure: Callable[[Points], float], key: Key, rounds: int = ROUNDS
) -> tuple[float, float]:
    """The 95 % percentile interval of a figure over seeds drawn with replacement."""
    generator, known = np.random.default_rng(key.value), list(seeds.values())
    drawn = (generator.integers(0, len(known), size=len(known)) for _ in range(rounds))
    values = [figure(np.vstack([known[place] for place in places])) for places in drawn]
    low, high = np.nanquantile(values, (0.025, 0.975))
    return float(low), float(high)


def told(seeds: Mapping[int, Points], name: str, rounds: int) -> dict[str, Any]:
    """The correlation of some checkpoints with its interval."""
    points = np.vstack(list(seeds.values()))
    low, high = interval(seeds, correlation, Key(0).at("pool", name), rounds)
    return {
        "arm": name,
        "seeds": len(seeds),
        "checkpoints": len(points),
        "spearman": correlation(points),
        "low": low,
        "high": high,
    }


def spread(arms: Mapping[str, Sequence[Run]], name: str) -> dict[str, Any] | None:
    """Variance of the last exact figure over perturbations of seed 0 and over as many seeds."""
    bits, seeds = arms.get(f"{name}-bit", ()), arms.get(name, ())
    if len(bits) < 2 or len(seeds) < 2:
        return None
    few = seeds[: len(bits)]
    last = ([run["curves"]["exact"]["values"][-1] for run in runs] for runs in (bits, few))
    perturbed, seeded = (float(np.var(values, ddof=1)) for values in last)
    return {"arm": name, "perturbations": len(bits), "seeds": len(few), "variance": perturbed, "over_seeds": seeded}


def main() -> None:
    """Print the correlations, all arms together and each by itself, and the variances."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, help="the JSON of experiments/sepo_table.py")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="resamples of seeds")
    asked = parser.parse_args()
    arms = json.loads(asked.figures.read_text(encoding="utf-8"))["kuhn"]
    print("| checkpoints of | seeds | checkpoints | Spearman | 95 % |\n| --- | --- | --- | --- | --- |")
    for name, names in {"all arms": POOL_ARMS, **{arm: (arm,) for arm in POOL_ARMS}}.items():
        if seeds := by_seed(arms, names):
            row = told(seeds, name, asked.rounds)
            between = f"{row['low']:.2f} to {row['high']:.2f}"
            print(f"| {name} | {row['seeds']} | {row['checkpoints']} | {row['spearman']:.2f} | {between} |")
    print("\n| arm | perturbations | variance | over seeds | ratio |\n| --- | --- | --- | --- | --- |")
    for name in BIT_ARMS:
        if one := spread(arms, name):
            share = one["variance"] / one["over_seeds"]
            print(
                f"| {name} | {one['perturbations']} | {one['variance']:.2e} | {one['over_seeds']:.2e} | {share:.2f} |"
            )


if __name__ == "__main__":
    main()
