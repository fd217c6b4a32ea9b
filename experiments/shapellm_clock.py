"""The effect of the first seat's update schedule in ShapeLLM, by game, learner and initial policy.

`python experiments/shapellm_clock.py docs/results/shapellm.json` reads the runs that experiments/shapellm_table.py put
there from the studies `clock-tabular` and `clock-tiny`, and prints the table of the page in Markdown. A row compares an
update once a trial with an update every episode, paired by seed: the first seat's payoff a step minus the second's in
the final games. Intervals are Student's t; p is of exact sign flips, with Holm's correction over all comparisons of the
family, those without runs included.

Two more claims about chicken, each a family of its own, were declared before the runs that test them, on ten other
seeds. The first was read from the first two seeds: `clock-tiny --seeds 2-11 --only icg-trial-even icg-episode-even`.
Its two arms differ in the settings that go with a schedule, too. The second is about the schedule alone: `clock-alone
--seeds 2-11` has the settings of the arm that updates once a trial, and updates every episode. A claim is tested when
all ten seeds are there.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from result_tables import interval, markdown, read_results
from shapellm_table import pays

from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.sweeps.comparison import BySeed, pair_seeds, paired_tests, sign_flips

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
FAMILY_SEEDS = range(10)
CHICKEN = "tiny, icg, even"
CLAIMS = {
    "episode": Family("update schedule in chicken, for ten other seeds", (CHICKEN,)),
    "alone": Family("update schedule alone in chicken, for ten other seeds", (CHICKEN,)),
}
"""By the arm that an update once a trial is compared with."""
CLAIM_SEEDS = range(2, 12)
"""None of the seeds that suggested the claim."""
Runs = Mapping[str, Sequence[Mapping[str, Any]]]
Differences = Mapping[str, BySeed]


def advantages(data: Runs, name: str) -> dict[int, float]:
    """By seed, the first seat's payoff a step minus the second's; seeds without a legal round are left out."""
    payoffs = {run["seed"]: pays(dict(run)) for run in data.get(name, ())}
    return {seed: own[0] - own[1] for seed, own in payoffs.items() if own[0] is not None and own[1] is not None}


def effects(data: Runs, other: str = "episode") -> dict[str, BySeed]:
    """By comparison, an update a trial less another arm, an update an episode, for every seed that has both."""
    gaps: dict[str, BySeed] = {}
    for learner, game, start in product(LEARNERS, GAMES, STARTS):
        stem = LEARNERS[learner].format(game)
        trial, episode = (advantages(data, f"{stem}-{schedule}-{start}") for schedule in ("trial", other))
        gaps[f"{learner}, {game}, {start}"] = pair_seeds(trial, episode)
    return {name: gap for name, gap in gaps.items() if gap}


HEADS = ("learner, game, initial policy", "seeds", "effect [95 %]", "p", "Holm p")


def rows(data: Runs) -> list[list[str]]:
    """Return a row for each comparison of the family that has runs."""
    return _rows(FAMILY, _of_seeds(effects(data), FAMILY_SEEDS), MIN_SEEDS)


def claim_rows(data: Runs, other: str = "episode") -> list[list[str]]:
    """Return the row of a claim, from its own seeds alone; none before it has a run."""
    own = {name: gap for name, gap in effects(data, other).items() if name == CHICKEN}
    return _rows(CLAIMS[other], _of_seeds(own, CLAIM_SEEDS), len(CLAIM_SEEDS))


def _of_seeds(differences: Differences, seeds: range) -> Differences:
    chosen = {name: {seed: gap for seed, gap in own.items() if seed in seeds} for name, own in differences.items()}
    return {name: own for name, own in chosen.items() if own}


def _rows(family: Family, differences: Differences, min_seeds: int) -> list[list[str]]:
    table = []
    for test in paired_tests(family, differences, sign_flips(Key(0), min_seeds)).values():
        effect = f"{test.estimate.mean:+.2f} {interval(test.estimate)}".rstrip()
        p = ["too few seeds", ""] if test.holm_p is None else [f"{test.p:.3f}", f"{test.holm_p:.3f}"]
        table.append([test.name, str(test.estimate.n), effect, *p])
    return table


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the JSON of experiments/shapellm_table.py")
    data = read_results(parser.parse_args().data)
    print(markdown(HEADS, rows(data)))
    for other, family in CLAIMS.items():
        print(f"\n{family.name}\n\n{markdown(HEADS, claim_rows(data, other))}")


if __name__ == "__main__":
    main()
