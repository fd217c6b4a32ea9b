"""The effect of the first seat's update schedule in ShapeLLM, by game, learner and initial policy.

`python experiments/shapellm_clock.py docs/results/shapellm.json` reads the runs that experiments/shapellm_table.py put
there from the studies `clock-tabular` and `clock-tiny`, and prints the table of the page in Markdown. A row compares an
update once a trial with an update every episode, paired by seed: the first seat's payoff a step minus the second's in
the final games. Intervals are Student's t; p is of exact sign flips, with Holm's correction over all comparisons of the
family, those without runs included.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from shapellm_table import pays

from stratagem.evaluation.family import Family
from stratagem.evaluation.statistics import sign_flip_p, with_interval
from stratagem.games.key import Key

GAMES = ("ipd", "imp", "icg", "c-ipd", "ish")
LEARNERS = {"tables, slow": "tabular/{}-slow", "tables, fast": "tabular/{}-fast", "tiny": "tiny/{}"}
"""Name of the runs of a study, before the update schedule and the initial policy."""
STARTS = ("even", "reciprocal")
FAMILY = Family(
    "update schedule of the first seat in ShapeLLM",
    tuple(f"{learner}, {game}, {start}" for learner, game, start in product(LEARNERS, GAMES, STARTS)),
)
MIN_SEEDS = 6
"""Fewer paired seeds cannot reach p < .05 by sign flips."""
Runs = Mapping[str, Sequence[Mapping[str, Any]]]


def advantages(data: Runs, name: str) -> dict[int, float]:
    """By seed, the first seat's payoff a step minus the second's; seeds without a legal round are left out."""
    found = {}
    for run in data.get(name, ()):
        first, second = pays(dict(run))
        if first is not None and second is not None:
            found[run["seed"]] = first - second
    return found


def effects(data: Runs) -> dict[str, list[float]]:
    """By comparison, an update a trial less an update an episode, for every seed that has both."""
    found = {}
    for learner, game, start in product(LEARNERS, GAMES, STARTS):
        stem = LEARNERS[learner].format(game)
        trial, episode = (advantages(data, f"{stem}-{schedule}-{start}") for schedule in ("trial", "episode"))
        if common := sorted(trial.keys() & episode.keys()):
            found[f"{learner}, {game}, {start}"] = [trial[seed] - episode[seed] for seed in common]
    return found


def rows(data: Runs) -> list[list[str]]:
    """The table: a row for each comparison that has runs."""
    found = effects(data)
    raw = {name: sign_flip_p(values, Key(0)) for name, values in found.items() if len(values) >= MIN_SEEDS}
    adjusted = FAMILY.holm(raw)
    table = [["learner, game, initial policy", "seeds", "effect [95 %]", "p", "Holm p"]]
    for name, values in found.items():
        estimate = with_interval(values)
        interval = "" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
        p = [f"{raw[name]:.3f}", f"{adjusted[name]:.3f}"] if name in raw else ["too few seeds", ""]
        table.append([name, str(len(values)), f"{estimate.mean:+.2f}{interval}", *p])
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the JSON of experiments/shapellm_table.py")
    header, *body = rows(json.loads(parser.parse_args().data.read_text(encoding="utf-8")))
    for row in (header, ["---"] * len(header), *body):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
