"""The demo beside 20 seeds: `python experiments/demo.py runs/demo docs/results/sepo-play.json`.

Figures of a trained model differ from one kind of processor to another, since sums are rounded in another order, and
training amplifies the difference. So one run's figures are to be read within the spread over seeds, which this prints.
The seeds are those of the arm whose settings are the demo's, all run on one kind of processor.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from result_tables import number, read_results
from sepo_table import figures, over_seeds

ARM = "best-togo"
"""Arm of the 20 seeds."""
BEFORE = "Base"
"""Name of the stage before SEPO in the arm, which starts from the model after SFT."""
ROWS = {
    "exploitability before SEPO": ("SFT", "exact"),
    "exploitability, chosen checkpoint": ("SEPO", "exact"),
    "exploitability, last checkpoint": ("last", "exact"),
    "safety, common scale, before SEPO": ("SFT", "safety"),
    "safety, common scale, chosen checkpoint": ("SEPO", "safety"),
}
"""Stage and figure of each row; the last two are on the common scale, on which an ante is worth 3."""
NEXT = (
    ("stratagem view runs/demo", "look at the run, its games and the words of the model"),
    ("stratagem play kuhn --players human run:runs/demo", "play against the model"),
    ("stratagem recipes", "list what else can be trained"),
)
"""Commands to type next."""
Stages = Mapping[str, Mapping[str, float]]


def read_seeds(file: Path) -> list[Stages]:
    """Read the stages of the 20 seeds."""
    return [{**run["stages"], "SFT": run["stages"][BEFORE]} for run in read_results(file)["kuhn"][ARM]]


def compared(own: Stages, others: Sequence[Stages]) -> Iterator[tuple[str, str, str, str, str]]:
    """Each figure of this run, the mean and the range of the others, and whether it lies in that range."""
    for title, (stage, name) in ROWS.items():
        values = [stages[stage][name] for stages in others]
        mine, least, most = own[stage][name], min(values), max(values)
        inside = "inside" if least <= mine <= most else "outside"
        yield title, number(mine), over_seeds(values), f"{number(least)} to {number(most)}", inside


def summary(own: Stages, others: Sequence[Stages]) -> str:
    """Return what a best response wins before and after SEPO, and which other figures fell, in a sentence each."""
    before, after = (number(own[stage]["exact"]) for stage in ("SFT", "SEPO"))
    spread = over_seeds([stages["SEPO"]["exact"] for stages in others])
    fell = [
        f"{name} from {number(own['SFT'][name])} to {number(own['SEPO'][name])}"
        for name in ("payoff", "safety")
        if own["SEPO"][name] < own["SFT"][name]
    ]
    return (
        f"What was learnt: a best response gains {before} chips a hand from the model before SEPO, and {after} "
        f"after it ({len(others)} seeds on one kind of processor: {spread}; random play: .458)."
        + (f"\nWhat became worse, on the common scale: {' and '.join(fell)}." if fell else "")
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the demo's run")
    parser.add_argument("results", type=Path, help="the JSON with the other seeds")
    parser.add_argument("--all", action="store_true", help="print each figure beside those of the other seeds")
    arguments = parser.parse_args()
    seeds = read_seeds(arguments.results)
    if arguments.all:
        print_table(list(compared(figures(arguments.run), seeds)), len(seeds))
    print("Next, after `. .venv/bin/activate`:")
    print("\n".join(f"  {command:<52}{meaning}" for command, meaning in NEXT))
    print(f"\n{summary(figures(arguments.run), seeds)}")


def print_table(rows: Sequence[Sequence[str]], seeds: int) -> None:
    """Print each figure of this run beside those of the other seeds."""
    heads = ("figure", "this run", f"{seeds} seeds", "least to most", "this run is")
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    for row in (heads, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print("\nThe seeds were run on one kind of processor; on another a run may lie outside of their range.\n")


if __name__ == "__main__":
    main()
