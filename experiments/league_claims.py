"""Two claims about the league in kuhn, declared before their runs, on seeds that did not suggest them.

`python experiments/league_claims.py runs/league-claims --out docs/results/league-claims.json` makes the runs that are
not there yet, resumable, as experiments/league.py does, and then tests both claims: the main learner of a league of
three roles is more exploitable than pure self-play, by the mean of the second half of training, and by the average
policy of all checkpoints at the end. The test is that of sign flips over seeds, two-sided and exact, with Holm's
correction for two claims. Nothing is tested before every seed of both ways is finished.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from league_table import averages, curves, made_by
from league_tests import gaps

from league import jobs
from runs import make
from stratagem.evaluation.family import Family
from stratagem.evaluation.statistics import sign_flip_p, with_interval
from stratagem.games.key import Key
from stratagem.provenance import provenance

GAME, LEAGUE, SELF = "kuhn", "league", "self"
SEEDS = range(5, 21)
"""Sixteen, none of which is in docs/results/league.json: the claims were read from seeds 0 to 4."""
CLAIMS = Family("the league less self-play in kuhn", ("mean of the second half", "average policy at the end"))
LEVEL = 0.05

Gaps = Mapping[str, Mapping[int, float]]


def measured(folder: Path) -> dict[str, dict[int, float]]:
    """By claim and seed, how much more exploitable the league's main learner is than self-play."""
    halves = (curves(folder, GAME, way) for way in (LEAGUE, SELF))
    ends = (averages(folder, GAME, way) for way in (LEAGUE, SELF))
    found = (gaps(*halves, "second half"), gaps(*ends, "last"))
    return {claim: _of_claims(told) for claim, told in zip(CLAIMS.comparisons, found, strict=True)}


def _of_claims(told: Mapping[int, float]) -> dict[int, float]:
    return {seed: gap for seed, gap in told.items() if seed in SEEDS}


def tested(found: Gaps) -> dict[str, dict[str, Any]]:
    """By claim the gaps, their mean with its interval, p, Holm's p, and what they say; every seed has to be there."""
    patterns = 2 ** len(SEEDS)
    raw = {claim: sign_flip_p([*told.values()], Key(0), patterns) for claim, told in found.items()}
    adjusted = CLAIMS.holm(raw)
    rows = {}
    for claim, told in found.items():
        gap = with_interval([*told.values()])
        row = {"by seed": told, "mean": gap.mean, "low": gap.low, "high": gap.high}
        rows[claim] = {**row, "p": raw[claim], "holm_p": adjusted[claim], "says": word(gap.mean, adjusted[claim])}
    return rows


def word(mean: float, holm_p: float) -> str:
    """Return the verdict of the test on a claim."""
    if holm_p >= LEVEL:
        return "undecided"
    return "supported" if mean > 0.0 else "contradicted"


def missing(found: Gaps) -> list[int]:
    """Seeds that a claim has not."""
    return [seed for seed in SEEDS if any(seed not in told for told in found.values())]


def main() -> None:
    """Make the runs, test the claims and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file")
    asked = parser.parse_args()
    make(jobs([f"{GAME}-{way}-" for way in (LEAGUE, SELF)], SEEDS), asked.folder)
    found = measured(asked.folder)
    if lacking := missing(found):
        raise SystemExit(
            f"Not tested: seeds {', '.join(map(str, lacking))} are not finished; the same command goes on."
        )
    claims = tested(found)
    runs = {f"{way}-{seed}": made_by(asked.folder / f"{GAME}-{way}-{seed}") for way in (LEAGUE, SELF) for seed in SEEDS}
    about = {"made_by": provenance(), "family": CLAIMS.name, "seeds": [*SEEDS]}
    asked.out.write_text(json.dumps({**about, "claims": claims, "runs": runs}, indent=1) + "\n", encoding="utf-8")
    for claim, row in claims.items():
        interval = f"{row['mean']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        print(f"{claim}: {interval}, p {row['p']:.5f}, Holm p {row['holm_p']:.5f}, {row['says']}")


if __name__ == "__main__":
    main()
