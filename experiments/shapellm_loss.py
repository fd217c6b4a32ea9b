"""Length of a shaper's lead in the prisoner's dilemma, by learning rate.

`python experiments/shapellm_loss.py docs/results/shapellm.json` reads the runs that experiments/shapellm_table.py put
there from the study `loss-tiny`, beside the shapers of the paper's table, and prints the table of the page in Markdown.
One trial in five is recorded. The shaper has the lead in a trial in which its payoff is at least 1 a step above that of
the second seat, and has lost it once that is less than .5. Trials times the learning rate, as a share of the full
one, are given beside the trials: were the number and size of updates all that counts, these would agree.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from result_tables import DASH, markdown, number, read_results
from shapellm_table import joined, pays

SHARES = {"tiny/ipd-shaper": 1, "tiny/ipd-long-1": 1, "tiny/ipd-long-3": 3, "tiny/ipd-long-6": 6}
"""Recipes, and by what the learning rates of both seats are divided."""
LEADS, LOST = 1.0, 0.5
HEADS = ("rates", "trials", "seed", "leads from", "until", "trials x rate", "later trials in the lead", "at the end")


class Lead(NamedTuple):
    """First lead of a run: the trial in which it begins, the one in which it is lost, and how the run goes on."""

    begins: float | None
    ends: float | None
    later: float | None
    """Share of the recorded trials after the loss with a lead."""


def lead(trials: Sequence[float], gaps: Sequence[float]) -> Lead:
    """Find the first lead in the shaper's payoffs less the second seat's."""
    begins = next((at for at, gap in enumerate(gaps) if gap >= LEADS), None)
    if begins is None:
        return Lead(None, None, None)
    ends = next((at for at in range(begins, len(gaps)) if gaps[at] < LOST), None)
    if ends is None:
        return Lead(trials[begins], None, None)
    after = gaps[ends + 1 :]
    later = sum(gap >= LEADS for gap in after) / len(after) if after else None
    return Lead(trials[begins], trials[ends], later)


def of_run(run: Mapping[str, Any]) -> Lead:
    """Find the first lead of a run by its recorded curves."""
    first, second = (dict(run["curves"][f"{seat}/payoff"]) for seat in run["seats"])
    trials = sorted(first.keys() & second.keys())
    return lead(trials, [first[trial] - second[trial] for trial in trials])


def rows(data: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[list[str]]:
    """Yield a row for each run, the full rates first."""
    for name, share in SHARES.items():
        for run in data.get(name, ()):
            found, rate = of_run(run), "full" if share == 1 else f"1/{share}"
            lasts = None if found.begins is None or found.ends is None else (found.ends - found.begins) / share
            yield [
                rate,
                str(run["trials"]),
                str(run["seed"]),
                number(found.begins, 0),
                number(found.ends, 0) if found.ends or not found.begins else "the end",
                number(lasts, 1),
                DASH if found.later is None else f"{100 * found.later:.0f} %",
                joined(pays(dict(run))),
            ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="JSON of experiments/shapellm_table.py")
    print(markdown(HEADS, rows(read_results(parser.parse_args().results))))


if __name__ == "__main__":
    main()
