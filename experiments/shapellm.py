"""Runs of ShapeLLM's experiments, resumable: `python experiments/shapellm.py RUNS tiny --only baseline,shaper`.

Every composition of recipes for a model, or of two tables, is run with every seed, as RUNS/FOLDER-NAME-SEED, so that
the report of one takes its seeds together. `--only` takes those whose names end so, and `--list` prints the commands.
Call it from the project's root. Finished runs are skipped, interrupted runs are resumed. In the place of a model there
are four studies:

`table`           The paper's main table with `tiny`: five seeds, and ten where a baseline has several equilibria.
`clock-tabular`   Two exact tables: who updates once a trial x how the first seat begins, in all games.
`clock-tiny`      The same with `tiny`; the first seat is told the same in all arms.
`loss-tiny`       The prisoner's dilemma with `tiny` over 300 trials, at the full rates, a third and a sixth of them.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path

from shapellm_recipes import FOLDERS, composed, start

from runs import Run, make

TABLE = {f"{game}-{pair}": 5 for game in ("ipd", "imp", "icg", "c-ipd", "ish") for pair in ("baseline", "shaper")}
TABLE |= {f"{game}-baseline": 10 for game in ("icg", "c-ipd", "ish")}
"""Number of seeds of each recipe in the paper's Tables 1 and 3."""

GAMES = {"ipd": "ipd-shapellm", "icg": "icg", "imp": "imp", "c-ipd": "c-ipd", "ish": "ish"}
EVEN = {"ipd": 0.85, "c-ipd": 0.85, "icg": 0.5, "imp": 0.5, "ish": 0.5}
"""Initial probability of the first action of the second seat, and of both where they are equal."""
TABLE_RATES = {"slow": (0.3, 5.0), "fast": (1.0, 30.0)}
"""A table that updates once a trial, and one that updates every episode."""
TINY_RATES = {"naive": 3e-3, "shaper": 6e-4}
CLOCKS, STARTS = ("trial", "episode"), ("reciprocal", "even")


def clock_tabular(seeds: int) -> Iterator[Run]:
    """Two tables: clock of the first seat x start of the first seat x rates x game."""
    for seed, game, rates, clock, begin in product(range(seeds), GAMES, TABLE_RATES, CLOCKS, STARTS):
        slow, quick = TABLE_RATES[rates]
        first = EVEN[game] if begin == "even" else [EVEN[game], 0.9, 0.2, 0.9, 0.2]
        changes = {
            "seed": str(seed),
            "game": GAMES[game],
            "seats.shaper.update_every": "trial" if clock == "trial" else "1",
            "seats.shaper.learning_rate": str(slow if clock == "trial" else quick),
            "seats.shaper.initial_probability": str(first),
            "seats.naive.learning_rate": str(quick),
            "seats.naive.initial_probability": str(EVEN[game]),
        }
        name = f"tabular-{game}-{rates}-{clock}-{begin}-{seed}"
        yield Run(name, composed("tabular")["ipd"].recipes, changes, ends_with="outcome.json")


def clock_tiny(seeds: int) -> Iterator[Run]:
    """`tiny`: clock of the first seat x start of the first seat x game; the first seat is told the trial's counts."""
    for seed, game, clock, begin in product(range(seeds), GAMES, CLOCKS, STARTS):
        pair, told = ("shaper", {}) if clock == "trial" else ("baseline", TELLS_COUNTS)
        first = start(game, reciprocal=begin == "reciprocal", together=False)
        changes = {"seed": str(seed), **told, "target_policies": first}
        recipes = composed("tiny")[f"{game}-{pair}"].recipes
        yield Run(f"tiny-{game}-{clock}-{begin}-{seed}", recipes, changes, ends_with="outcome.json")


TELLS_COUNTS = {"seats.one.memory": "trial", "seats.one.style": "shapellm-occurrence"}
"""A naive learner that is told what a shaper is told."""


def loss_tiny(seeds: int) -> Iterator[Run]:
    """A shaper of `tiny` in the prisoner's dilemma over 300 trials, by learning rate of both seats."""
    for seed, share in product(range(seeds), (6, 3, 1)):
        rates = {f"seats.{kind}.optimizer.learning_rate": f"{rate / share:.6g}" for kind, rate in TINY_RATES.items()}
        changes = {
            "seed": str(seed),
            "trials": "300",
            **rates,
            "seats.shaper.learning_rate_scale.steps": str(40 * share),
        }
        recipes = composed("tiny")["ipd-shaper"].recipes
        yield Run(f"tiny-ipd-long-{share}-{seed}", recipes, changes, ends_with="outcome.json")


def table(seeds: int) -> Iterator[Run]:
    """The paper's main table; it has seeds of its own."""
    return _runs("tiny", TABLE)


STUDIES: Mapping[str, Callable[[int], Iterator[Run]]] = {
    "table": table,
    "clock-tabular": clock_tabular,
    "clock-tiny": clock_tiny,
    "loss-tiny": loss_tiny,
}


def _runs(folder: str, wanted: Mapping[str, int], only: tuple[str, ...] = ("",)) -> Iterator[Run]:
    """Compositions by their number of seeds, a seed of all before the next one of any."""
    known = composed(folder)
    for seed in range(max(wanted.values())):
        for name, count in wanted.items():
            if seed < count and name.endswith(only):
                changes = {"seed": str(seed), **known[name].changes}
                yield Run(f"{folder}-{name}-{seed}", known[name].recipes, changes, ends_with="outcome.json")


def main() -> None:
    """Run what is not done yet, one after the other, seed by seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="where the runs lie")
    parser.add_argument("folder", choices=[*STUDIES, *FOLDERS], help="which model, or which study")
    parser.add_argument("--only", default="", help="names that end so, several with commas; in a study, that hold this")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--list", action="store_true", help="print the commands and run nothing")
    asked = parser.parse_args()
    if asked.folder in STUDIES:
        runs = (run for run in STUDIES[asked.folder](asked.seeds) if asked.only in run.name)
    else:
        runs = _runs(
            asked.folder, dict.fromkeys(sorted(composed(asked.folder)), asked.seeds), tuple(asked.only.split(","))
        )
    if asked.list:
        print(*(shlex.join(["stratagem", *run.command(asked.runs)[3:]]) for run in runs), sep="\n")
    else:
        make(runs, asked.runs)


if __name__ == "__main__":
    main()
