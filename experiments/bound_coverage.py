"""Coverage of lower limits of a mean gain from few deals, under skewed gains: Gaffke's limit and Student's t.

`python experiments/bound_coverage.py` writes docs/results/bound-coverage.json, `--table` prints the rows of
docs/results/deal-coverage.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.key import Key
from stratagem.measure.deal_means import lower_mean
from stratagem.measure.statistics import mean

OUT = Path(__file__).parents[1] / "docs" / "results" / "bound-coverage.json"
DEALS = (5, 15, 50, 200)
REPETITIONS = 2_000
DRAWS = 1_999
Draw = Callable[[np.random.Generator, int], np.ndarray]


class Case(NamedTuple):
    """Distribution of gains with its mean and its floor."""

    draw: Draw
    mean: float
    floor: float


def outcomes(*pairs: tuple[float, float], floor: float = -1.0) -> Case:
    """Return a distribution over a few gains, each with its probability."""
    gains, shares = zip(*pairs, strict=True)
    return Case(lambda rng, n: rng.choice(gains, n, p=shares), float(np.dot(gains, shares)), floor)


CASES: Mapping[str, Case] = {
    "no gain: .1, or -.9 one time in 10": outcomes((0.1, 0.9), (-0.9, 0.1)),
    "no gain: .05, or -1 one time in 21": outcomes((0.05, 20 / 21), (-1.0, 1 / 21)),
    "no gain: 1 or -1": outcomes((1.0, 0.5), (-1.0, 0.5)),
    "no gain: 1 less an exponential draw": Case(
        lambda rng, n: np.maximum(1.0 - rng.exponential(1.0, n), -13.0), 0.0, -13.0
    ),
    "gain .8: 1, .5 or 0": outcomes((1.0, 0.7), (0.5, 0.2), (0.0, 0.1)),
    "gain .3: 1, 0 or -1": outcomes((1.0, 0.4), (0.0, 0.5), (-1.0, 0.1)),
    "gain 1: normal, spread 3": Case(lambda rng, n: np.clip(rng.normal(1.0, 3.0, n), -13.0, 13.0), 1.0, -13.0),
}


def study(name: str, deals: int) -> dict[str, Any]:
    """Return the share of limits above the mean, and of those above 0."""
    case, rng = CASES[name], np.random.default_rng([deals, list(CASES).index(name)])
    ends = np.array([_limits(case.draw(rng, deals), case, Key(number)) for number in range(REPETITIONS)])
    missed, found = (ends > case.mean + 1e-9).mean(axis=0), (ends > 0.0).mean(axis=0)
    return {
        "case": name,
        "deals": deals,
        "missed": {"gaffke": missed[0], "student": missed[1]},
        "above_0": {"gaffke": found[0], "student": found[1]},
    }


def _limits(gains: np.ndarray, case: Case, key: Key) -> tuple[float, float]:
    estimate = mean(gains.tolist())
    student = estimate.mean - float(stdtrit(estimate.n - 1, 0.95)) * (estimate.se or 0.0)
    return lower_mean(gains.tolist(), case.floor, key, DRAWS).lower, student


def main() -> None:
    """Simulate all cases, or print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print the table of the figures that are there")
    if parser.parse_args().table:
        for row in json.loads(OUT.read_text(encoding="utf-8"))["rows"]:
            shares = [row[what][how] for what in ("missed", "above_0") for how in ("gaffke", "student")]
            print(f"| {row['case']} | {row['deals']} |", " | ".join(f"{100 * share:.1f}" for share in shares), "|")
        return
    rows = [study(name, deals) for name in CASES for deals in DEALS]
    made = {**provenance(), "command": "python experiments/bound_coverage.py"}
    write_file(OUT, json.dumps({"made_by": made, "repetitions": REPETITIONS, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
