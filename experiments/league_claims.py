"""Two claims about the league in kuhn, declared before their runs, on seeds that did not suggest them.

`python experiments/league_claims.py runs/league-claims --out docs/results/league-claims.json` makes the runs that are
not there yet, resumable, as experiments/league.py does, and then tests both claims: the main learner of a league of
three roles is more exploitable than pure self-play, by the mean of the second half of training, and by the average
policy of all checkpoints at the end. The test is that of sign flips over seeds, two-sided and exact, with Holm's
correction for two claims. Nothing is tested before every seed of both ways is finished.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiment import make
from league_table import averages, curves, finished_by_seed
from league_tests import gaps, summary
from result_tables import write_results

from league import jobs
from stratagem.base.errors import StratagemError
from stratagem.base.provenance import provenance
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.sweeps.comparison import BySeed, PairedTest, paired_tests, sign_flips

GAME, LEAGUE, SELF = "kuhn", "league", "self"
SEEDS = range(5, 21)
"""Sixteen, none of which is in docs/results/league.json: the claims were read from seeds 0 to 4."""
CLAIMS = Family("the league less self-play in kuhn", ("mean of the second half", "average policy at the end"))
LEVEL = 0.05

Gaps = Mapping[str, BySeed]


def measured(folder: Path) -> dict[str, dict[int, float]]:
    """By claim and seed, how much more exploitable the league's main learner is than self-play."""
    halves, ends = ([read(folder, GAME, way) for way in (LEAGUE, SELF)] for read in (curves, averages))
    values = (gaps(halves[0], halves[1], "second half"), gaps(ends[0], ends[1], "last"))
    return {claim: _declared(own) for claim, own in zip(CLAIMS.comparisons, values, strict=True)}


def _declared(by_seed: BySeed) -> dict[int, float]:
    return {seed: gap for seed, gap in by_seed.items() if seed in SEEDS}


def tested(differences: Gaps) -> dict[str, dict[str, Any]]:
    """By claim the gaps, their mean with its interval, p, Holm's p, and the verdict; every seed has to be there."""
    tests = paired_tests(CLAIMS, differences, sign_flips(Key(0), rounds=2 ** len(SEEDS)))
    return {claim: {"by seed": test.by_seed, **summary(test), "says": word(test)} for claim, test in tests.items()}


def word(test: PairedTest) -> str:
    """Return the verdict of the test on a claim."""
    assert test.holm_p is not None
    if test.holm_p >= LEVEL:
        return "undecided"
    return "supported" if test.estimate.mean > 0.0 else "contradicted"


def missing(differences: Gaps) -> list[int]:
    """Return the seeds that a claim lacks."""
    return [seed for seed in SEEDS if any(seed not in own for own in differences.values())]


def main() -> None:
    """Make the runs, test the claims and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the runs")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file")
    arguments = parser.parse_args()
    stems = tuple(f"{GAME}-{way}-" for way in (LEAGUE, SELF))
    try:
        make((run for run in jobs(SEEDS) if run.name.startswith(stems)), arguments.folder)
    except StratagemError as error:
        sys.exit(str(error))
    differences = measured(arguments.folder)
    if lacking := missing(differences):
        sys.exit(f"Not tested: seeds {', '.join(map(str, lacking))} are not finished; the same command goes on.")
    claims = tested(differences)
    write_results(arguments.out, {**about(arguments.folder), "claims": claims})
    for claim, row in claims.items():
        ends = f"{row['mean']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        print(f"{claim}: {ends}, p {row['p']:.5f}, Holm p {row['holm_p']:.5f}, {row['says']}")


def about(folder: Path) -> dict[str, Any]:
    """Return the family, its seeds, and the provenance of every run."""
    ways = {way: finished_by_seed(folder, f"{GAME}-{way}") for way in (LEAGUE, SELF)}
    runs = {f"{way}-{seed}": own[seed].provenance() for way, own in ways.items() for seed in SEEDS}
    return {"made_by": provenance(), "family": CLAIMS.name, "seeds": [*SEEDS], "runs": runs}


if __name__ == "__main__":
    main()
