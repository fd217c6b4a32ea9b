"""Pool figure and exact exploitability: `python experiments/sepo_pool.py docs/results/sepo.json [--game leduc]`.

Spearman's rank correlation of what the pool wins (`exploit`) and exact exploitability over checkpoints of
`experiments/sepo.py RUNS pool --seeds 20`: four of each run of four arms in Kuhn poker. Intervals resample seeds, each
with all its checkpoints, since those of one seed are not independent. In Leduc poker the runs are those of
`experiments/sepo.py RUNS leduc --seeds 1-10`, and in ipd those of `arms`. Beside it, where `experiments/sepo.py RUNS
bits` has been run: the variance of the last exact figure over ten last-bit perturbations of one seed, and over ten
seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from result_tables import Row, markdown, read_results
from scipy.stats import spearmanr
from sepo import LEDUC, POOL_ARMS, RESPONSE_ARMS

from stratagem.games.key import Key

Points = np.ndarray[Any, np.dtype[np.float64]]
STEPS = (0, 20, 40, 60)
"""Iterations at which a run's checkpoint is taken."""
ROUNDS = 10_000
"""Resamples of seeds."""


def checkpoints(run: Row) -> Points:
    """Pool exploit and exact exploitability of a run at `STEPS`; the start is in every arm of a seed alike."""
    pool, exact = (run["curves"][name] for name in ("pool_advantage", "exact"))
    rows = [
        (pool["values"][pool["steps"].index(step)], exact["values"][exact["steps"].index(step)])
        for step in STEPS
        if step in pool["steps"] and step in exact["steps"]
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def points_by_seed(arms: Mapping[str, Sequence[Row]], names: Sequence[str]) -> dict[int, Points]:
    """All checkpoints of a seed, over the arms; those of the start once."""
    points: dict[int, Points] = {}
    for name in names:
        for run in arms.get(name, ()):
            rows = checkpoints(run)
            rows = rows if run["seed"] not in points else rows[1:]
            points[run["seed"]] = np.vstack([points.get(run["seed"], np.empty((0, 2))), rows])
    return points


def correlation(points: Points) -> float:
    """Spearman's rank correlation of the two columns."""
    return float(spearmanr(points[:, 0], points[:, 1]).statistic)


def interval(
    seeds: Mapping[int, Points], figure: Callable[[Points], float], key: Key, rounds: int = ROUNDS
) -> tuple[float, float]:
    """The 95 % percentile interval of a figure over seeds drawn with replacement."""
    generator, values = np.random.default_rng(key.value), list(seeds.values())
    drawn = (generator.integers(0, len(values), size=len(values)) for _ in range(rounds))
    figures = [figure(np.vstack([values[index] for index in indices])) for indices in drawn]
    low, high = np.nanquantile(figures, (0.025, 0.975))
    return float(low), float(high)


def summary(seeds: Mapping[int, Points], name: str, rounds: int) -> list[str]:
    """Return the row of some checkpoints: their correlation with its interval."""
    points = np.vstack(list(seeds.values()))
    low, high = interval(seeds, correlation, Key(0).at("pool", name), rounds)
    return [name, str(len(seeds)), str(len(points)), f"{correlation(points):.2f}", f"{low:.2f} to {high:.2f}"]


def variances(arms: Mapping[str, Sequence[Row]], name: str) -> list[str]:
    """Return the row of an arm: variance of the last exact figure over perturbations of seed 0 and over as many seeds.

    Empty where there are fewer than two of either.
    """
    bits, seeds = arms.get(f"{name}-bit", ()), arms.get(name, ())
    if len(bits) < 2 or len(seeds) < 2:
        return []
    last = ([run["curves"]["exact"]["values"][-1] for run in runs] for runs in (bits, seeds[: len(bits)]))
    perturbed, seeded = (float(np.var(values, ddof=1)) for values in last)
    return [name, str(len(bits)), f"{perturbed:.2e}", f"{seeded:.2e}", f"{perturbed / seeded:.2f}"]


def main() -> None:
    """Print the correlations, all arms together and each by itself, and the variances."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, help="the JSON of experiments/sepo_table.py")
    parser.add_argument("--game", default="kuhn", choices=("kuhn", LEDUC, "ipd"), help="game of the runs")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="resamples of seeds")
    arguments = parser.parse_args()
    arms = read_results(arguments.figures)[arguments.game]
    groups = {"all arms": POOL_ARMS, **{arm: (arm,) for arm in POOL_ARMS}}
    points = {name: seeds for name, names in groups.items() if (seeds := points_by_seed(arms, names))}
    correlations = (summary(seeds, name, arguments.rounds) for name, seeds in points.items())
    print(markdown(["checkpoints of", "seeds", "checkpoints", "Spearman", "95 %"], correlations))
    heads = ["arm", "perturbations", "variance", "over seeds", "ratio"]
    if rows := list(filter(None, (variances(arms, name) for name in RESPONSE_ARMS))):
        print(f"\n{markdown(heads, rows)}")


if __name__ == "__main__":
    main()
