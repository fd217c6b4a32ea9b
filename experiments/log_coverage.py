"""Coverage of the limits of `stratagem compare`, by simulated logs of evaluations, beside those of an unpaired z.

`python experiments/log_coverage.py` writes docs/results/log-coverage.json cell by cell, and goes on with a file that is
there; `--table` prints the table of docs/how-to/compare-logs.md, and `--failing` the cells outside of the goal as
`stratagem.measure.logs.coverage` has them.

A log has two systems with a true difference; a further one has four systems with equal means, whose three differences
from the first are tested together. Clusters differ in size. Every log has a tenth of its items missing at random, or
none, or a fifth of the second system's wrong answers, for a reason.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.measure.logs.coverage import CLUSTERS, GOAL, ITEMS, MOST_REJECTED
from stratagem.measure.logs.limits import is_binary, mean_limits
from stratagem.measure.statistics import holm

OUT = Path(__file__).parents[1] / "docs" / "results" / "log-coverage.json"
LOGS, AT_ONCE, SIGNS = 10_000, 100, 1_999
"""Logs of a cell, those that share the sizes of clusters and what is missing, and sign patterns of a test."""
Array = np.ndarray
ABILITY = {"binary": (0.3, 1.2), "sparse": (1.0, 5.0)}
"""Mean and spread of the log odds of items: where it is wide, most items are right or wrong for both systems."""
GAIN, EFFECT = 0.5, 0.6
"""Gain of the second system in log odds, and spread of the effects of clusters."""
CELLS = [
    *product(("binary", "sparse", "skewed"), ITEMS, CLUSTERS, ("none", "random")),
    *product(("binary",), ITEMS, CLUSTERS, ("reason",)),
]


def draw(kind: str, gains: Sequence[float], clusters: Array | None, n: int, rng: np.random.Generator) -> Array:
    """Draw scores of systems: by log, system and item."""
    shape = (AT_ONCE, len(gains), n)
    groups = 0 if clusters is None else int(clusters.max()) + 1
    if kind == "skewed":
        item = rng.normal(size=(AT_ONCE, 1, n))
        first = rng.exponential(0.5, (AT_ONCE, 1, n))
        others = rng.exponential(1.0, (AT_ONCE, len(gains) - 1, n))
        if clusters is not None:
            others = 0.55 * others + 0.45 * rng.exponential(1.0, (AT_ONCE, len(gains) - 1, groups))[..., clusters]
        skewed: Array = item + np.concatenate([first, others - 0.5], axis=1) + np.array(gains)[:, None]
        return skewed
    middle, spread = ABILITY[kind]
    odds = middle + np.array(gains)[:, None] + spread * rng.normal(size=(AT_ONCE, 1, n))
    if clusters is not None:
        shared = EFFECT * rng.normal(size=(AT_ONCE, 1, groups))
        own = EFFECT * rng.normal(size=(AT_ONCE, len(gains), groups))
        odds = odds + shared[..., clusters] + own[..., clusters]
    right: Array = rng.random(shape) < expit(odds)
    return right.astype(float)


def true_difference(kind: str, clusters: bool) -> float:
    """Return the mean difference of the second system, by Gauss and Hermite's quadrature of log odds."""
    if kind == "skewed":
        return GAIN
    middle, spread = ABILITY[kind]
    nodes, weights = np.polynomial.hermite_e.hermegauss(201)
    spread = float(np.sqrt(spread**2 + 2 * EFFECT**2 * clusters))
    means = [float(expit(middle + gain + spread * nodes) @ weights) / np.sqrt(2 * np.pi) for gain in (GAIN, 0.0)]
    return float(means[0] - means[1])


def sizes(n: int, groups: int, rng: np.random.Generator) -> Array | None:
    """Draw the clusters of items, of which each has one at least."""
    if groups == 0:
        return None
    clusters = rng.choice(groups, n, p=rng.dirichlet(np.full(groups, 4.0)))
    clusters[:groups] = np.arange(groups)
    return clusters


def sign_flips(sums: Array, rng: np.random.Generator) -> Array:
    """Return the p of many rows, as `stratagem.measure.statistics.sign_flip_p` of each; drawn signs are shared."""
    size = sums.shape[-1]
    exact = 2**size <= 10_000
    signs = (
        np.where(np.arange(2**size)[None, :] >> np.arange(size)[:, None] & 1, 1.0, -1.0)
        if exact
        else np.where(rng.integers(0, 2, (size, SIGNS)), 1.0, -1.0)
    ).astype(np.float32)
    rows = sums.astype(np.float32).reshape(-1, size)
    least = np.abs(rows.sum(axis=1)) - 1e-5 * np.abs(rows).sum(axis=1)
    found = (np.abs(rows @ signs) >= least[:, None]).sum(axis=1)
    p = found / signs.shape[1] if exact else (found + 1) / (SIGNS + 1)
    by_row: Array = p.reshape(sums.shape[:-1])
    return by_row


def unpaired(first: Array, second: Array) -> tuple[Array, Array]:
    """Return the difference of means and its standard error, as if each system had items of its own."""
    n = first.shape[-1]
    error = np.sqrt(first.var(axis=-1, ddof=1) / n + second.var(axis=-1, ddof=1) / n)
    return second.mean(axis=-1) - first.mean(axis=-1), error


def simulate(kind: str, n: int, groups: int, missing: str, seed: int) -> dict[str, Any]:
    """Return the figures of one cell."""
    rng = np.random.default_rng(seed)
    true, sums = true_difference(kind, groups > 0), np.zeros(10)
    for _ in range(LOGS // AT_ONCE):
        clusters = sizes(n, groups, rng)
        here = rng.random(n) >= 0.1 if missing == "random" else np.ones(n, dtype=bool)
        kept = None if clusters is None else clusters[here]
        scores = draw(kind, (0.0, GAIN), clusters, n, rng)[..., here]
        sums[:6] += _cover(scores, kept, true, missing, rng)
        nulls = draw(kind, (0.0,) * 4, clusters, n, rng)[..., here]
        sums[6:9] += _errors(nulls, kept, rng)
        sums[9] += (scores[:, 1] != scores[:, 0]).mean() * AT_ONCE
    share = sums / LOGS
    names = (
        "covers",
        "width",
        "above",
        "unpaired_covers",
        "unpaired_width",
        "_",
        "holm_error",
        "sign_flip_error",
        "unpaired_error",
    )
    found = {name: round(float(value), 5) for name, value in zip(names, share, strict=False) if name != "_"}
    return {"true": round(true, 5), "differ": round(float(share[9]), 3), **found}


def _cover(scores: Array, clusters: Array | None, true: float, missing: str, rng: np.random.Generator) -> Array:
    """Return the number of limits that hold, their widths, how many lie above the truth, and those of unpaired z."""
    first, second = scores[:, 0], scores[:, 1]
    if missing == "reason":  # a wrong answer may be no answer: limits are those of the worst and of the best case
        lost = (second == 0.0) & (rng.random(second.shape) < 0.2)
        low = mean_limits(second - first, clusters).low
        high = mean_limits(np.where(lost, 1.0, second) - first, clusters).high
        second = np.where(lost, np.nan, second)
        z = _mean_of_known(first, second)
    else:
        limits = mean_limits(second - first, clusters)
        low, high, z = limits.low, limits.high, unpaired(first, second)
    holds = (low <= true) & (true <= high)
    reach = 1.96 * z[1]
    covered = np.abs(z[0] - true) <= reach
    return np.array([holds.sum(), (high - low).sum(), (low > true).sum(), covered.sum(), 2 * reach.sum(), 0.0])


def _mean_of_known(first: Array, second: Array) -> tuple[Array, Array]:
    """Return an unpaired z of the answers that are there, as if they were all."""
    count = (~np.isnan(second)).sum(axis=-1)
    error = np.sqrt(first.var(axis=-1, ddof=1) / first.shape[-1] + np.nanvar(second, axis=-1, ddof=1) / count)
    return np.nanmean(second, axis=-1) - first.mean(axis=-1), error


def _errors(scores: Array, clusters: Array | None, rng: np.random.Generator) -> Array:
    """Return the number of logs in which a true null is rejected by Holm: as compared, by sign flips, and by z."""
    differences = scores[:, 1:] - scores[:, :1]
    sums = differences
    if clusters is not None:
        order = np.argsort(clusters, kind="stable")
        starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
        sums = np.add.reduceat(differences[..., order], starts, axis=-1)
    flipped = sign_flips(sums, rng)
    limits = mean_limits(differences, clusters)
    counted = is_binary(differences) and sums.shape == differences.shape
    compared = np.where(limits.se > 0.0, flipped if counted else limits.p, flipped)
    z = [unpaired(scores[:, 0], scores[:, system]) for system in (1, 2, 3)]
    by_z = np.stack([2 * ndtr(-np.abs(mean) / np.maximum(error, 1e-12)) for mean, error in z], axis=1)
    return np.array([sum(min(holm(row)) <= 0.05 for row in rows.tolist()) for rows in (compared, flipped, by_z)])


def rows_of(known: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every cell, those of the file as they are."""
    done = {(row["outcomes"], row["items"], row["clusters"], row["missing"]): row for row in known.get("rows", [])}
    for seed, (kind, n, groups, missing) in enumerate(CELLS):
        cell = {"outcomes": kind, "items": n, "clusters": groups, "missing": missing}
        yield done.get((kind, n, groups, missing)) or {**cell, **simulate(kind, n, groups, missing, seed)}


def failing(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int, int], tuple[float, float]]:
    """Return coverage and rejections of the cells that miss the goal, the worse one where there are two."""
    found: dict[tuple[str, int, int], tuple[float, float]] = {}
    for key in dict.fromkeys((row["outcomes"], row["items"], row["clusters"]) for row in rows):
        own = [row for row in rows if (row["outcomes"], row["items"], row["clusters"]) == key]
        own = [row for row in own if row["missing"] != "reason"]
        covers = max((row["covers"] for row in own), key=lambda value: abs(value - sum(GOAL) / 2))
        rejects = max(row["holm_error"] for row in own)
        if not GOAL[0] <= covers <= GOAL[1] or rejects > MOST_REJECTED:
            found[key] = (covers, rejects)
    return found


def table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line of the page for each kind and number of clusters, over the numbers of items; nothing is missing."""
    rows = [row for row in rows if row["missing"] == "none"]
    for kind, groups in dict.fromkeys((row["outcomes"], row["clusters"]) for row in rows):
        own = [row for row in rows if (row["outcomes"], row["clusters"]) == (kind, groups)]
        holds, z, rejects, by_z = (
            " / ".join(f"{100 * row[name]:.1f}" for row in own)
            for name in ("covers", "unpaired_covers", "holm_error", "unpaired_error")
        )
        widths = " / ".join(f"{row['width'] / row['unpaired_width']:.2f}" for row in own)
        yield f"| {kind} | {groups or 'none'} | {holds} | {z} | {widths} | {rejects} | {by_z} |"


def main() -> None:
    """Simulate the cells that the file lacks, or print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print the table of the figures that are there")
    parser.add_argument("--failing", action="store_true", help="print the cells outside of the goal")
    given = parser.parse_args()
    known = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    if given.table or given.failing:
        lines = table(known["rows"]) if given.table else map(repr, failing(known["rows"]).items())
        print("\n".join(lines))
        return
    made = {**provenance(), "command": "python experiments/log_coverage.py"}
    rows: list[dict[str, Any]] = []
    for row in rows_of(known):
        rows.append(row)
        print(row, flush=True)
        write_file(OUT, json.dumps({"made_by": made, "logs": LOGS, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
