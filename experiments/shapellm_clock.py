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

from result_tables import interval, markdown
from shapellm_table import pays

from stratagem.evaluation.family import Family
from stratagem.games.key import Key
from stratagem.sweeps.paired import paired, paired_tests, sign_flips

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
    payoffs = {run["seed"]: pays(dict(run)) for run in data.get(name, ())}
    return {seed: own[0] - own[1] for seed, own in payoffs.items() if own[0] is not None and own[1] is not None}


def effects(data: Runs) -> dict[str, dict[int, float]]:
    """By comparison, an update a trial less an update an episode, for every seed that has both."""
    gaps = {}
    for learner, game, start in product(LEARNERS, GAMES, STARTS):
        stem = LEARNERS[learner].format(game)
        trial, episode = (advantages(data, f"{stem}-{schedule}-{start}") for schedule in ("trial", "episode"))
        gaps[f"{learner}, {game}, {start}"] = paired(trial, episode)
    return {name: gap for name, gap in gaps.items() if gap}


HEADS = ("learner, game, initial policy", "seeds", "effect [95 %]", "p", "Holm p")


def rows(data: Runs) -> list[list[str]]:
    """Return a row for each comparison that has runs."""
    table = []
    for test in paired_tests(FAMILY, effects(data), sign_flips(Key(0), MIN_SEEDS)).values():
        effect = f"{test.estimate.mean:+.2f} {interval(test.estimate)}".rstrip()
        p = ["too few seeds", ""] if test.holm_p is None else [f"{test.p:.3f}", f"{test.holm_p:.3f}"]
        table.append([test.name, str(test.estimate.n), effect, *p])
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the JSON of experiments/shapellm_table.py")
    print(markdown(HEADS, rows(json.loads(parser.parse_args().data.read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
