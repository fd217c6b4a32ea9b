"""Settings on which the outcome of `stratagem reproduce shapellm:1` depends at the scale `tiny`.

`python experiments/shapellm_preset.py docs/results/shapellm.json` reads the runs that experiments/shapellm_table.py put
there from the study `preset-tiny`, and prints the table of the page in Markdown: the payoffs a step in games of 20
rounds, and how much larger the first seat's lead is than in the runs of the scale with the same seeds. Intervals are
Student's t over seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from result_tables import interval, markdown, read_results
from shapellm_clock import advantages
from shapellm_recipes import Composed, of_preset, start_of_preset
from shapellm_table import mean_pays

from stratagem.measure.statistics import with_interval
from stratagem.sweeps.comparison import pair_seeds

Runs = Mapping[str, Sequence[Mapping[str, Any]]]
LONG = {
    "trials": "45",
    "checkpoint_every": "45",
    "record_every": "45",
    "defaults.shaper.learning_rate_scale.steps": "40",
}
"""Trials, and ramp, of the other experiments of docs/results/shapellm.md."""
FROZEN = {"defaults.shaper.learning_rate_scale": "{ start = 0.0, end = 0.0, steps = 1 }"}
RECIPROCAL = {"target_policies": start_of_preset("ipd-cooperative", "ipd-reciprocal")}


class Arm(NamedTuple):
    """Runs of one setting, with what differs from the scale in words."""

    game: str
    differs: str
    run: Composed


ARMS = {
    "ipd-preset": Arm("ipd", "nothing", of_preset("ipd", "shaper", {})),
    "ipd-preset-baseline": Arm("ipd", "two naive learners", of_preset("ipd", "baseline", {})),
    "ipd-preset-frozen": Arm("ipd", "the shaper never learns", of_preset("ipd", "shaper", FROZEN)),
    "ipd-preset-long": Arm("ipd", "45 trials", of_preset("ipd", "shaper", LONG)),
    "ipd-preset-reciprocal": Arm("ipd", "reciprocal start", of_preset("ipd", "shaper", RECIPROCAL)),
    "ipd-preset-reciprocal-frozen": Arm(
        "ipd", "reciprocal start, the shaper never learns", of_preset("ipd", "shaper", {**RECIPROCAL, **FROZEN})
    ),
    "ipd-preset-reciprocal-long": Arm(
        "ipd", "reciprocal start, 45 trials", of_preset("ipd", "shaper", {**RECIPROCAL, **LONG})
    ),
    "imp-preset": Arm("imp", "nothing", of_preset("imp", "shaper", {})),
    "imp-preset-rates": Arm("imp", "settings of the other games", of_preset("imp", "shaper", {}, "tiny")),
}
"""Arms by the names of their runs, without `tiny-` and the seed."""
HEADS = ("game", "differs from the scale", "seeds", "shaper / naive learner", "lead more than in the scale's runs")


def rows(data: Runs) -> Iterator[list[str]]:
    """Yield a row for each arm that has runs."""
    for name, arm in ARMS.items():
        runs = data.get(f"tiny/{name}", ())
        if runs:
            yield [arm.game, arm.differs, str(len(runs)), mean_pays([dict(run) for run in runs], 0), lead(data, name)]


def lead(data: Runs, name: str) -> str:
    """Format the lead of an arm less that of the scale's runs with the same seeds; empty for these themselves."""
    scale = f"{ARMS[name].game}-preset"
    gaps = pair_seeds(advantages(data, f"tiny/{name}"), advantages(data, f"tiny/{scale}"))
    if name == scale or not gaps:
        return ""
    found = with_interval(list(gaps.values()))
    return f"{found.mean:+.2f} {interval(found)}".rstrip()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the JSON of experiments/shapellm_table.py")
    print(markdown(HEADS, rows(read_results(parser.parse_args().data))))


if __name__ == "__main__":
    main()
