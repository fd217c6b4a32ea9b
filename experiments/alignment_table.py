"""Tables of experiments/alignment.py: payoffs, exploitability of the outcome, and the declared tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean

import torch
from result_tables import (
    FinishedRun,
    Row,
    by_seed,
    family_tests,
    finished,
    known_arms,
    merged,
    write_tests,
)

from stratagem.algorithms.shapellm.metrics import CERTAIN, all_memory_one
from stratagem.algorithms.shapellm.shapers.memory_one import STATES, MemoryOneGame
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.show.reports.run_data import RunData
from stratagem.sweeps.comparison import PairedTest

SEATS = ("one", "two")
GAMES = ("ipd", "icg")
OPPONENTS = ("naive", "lola", "shaper")
FIGURES = ("first", "second", "together", "exploitability", "held")
"""Payoffs a round of both seats and their mean; mean over both of the gain of the best memory-one policy in a seat's
place; payoff of the first seat against the best memory-one reply to it."""


def _less_naive(game: str, opponent: str, figure: str) -> tuple[str, str, str]:
    """Return the aligned learner less the naive one before an opponent; with `itself` each meets its own kind."""
    arms = [f"{game}-{own}-{own if opponent == 'itself' else opponent}" for own in ("aligned", "naive")]
    return arms[0], arms[1], figure


FEWEST = 8
"""Number of seeds below which a test was declared to show nothing."""
PAIRS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "payoff": {f"{g}: first, {o}": _less_naive(g, o, "first") for g, o in product(GAMES, OPPONENTS)},
    "together": {f"{g}: together": _less_naive(g, "itself", "together") for g in GAMES},
    "exploitability": {
        f"{g}: exploitability, {o}": _less_naive(g, o, "exploitability")
        for g, o in product(GAMES, (*OPPONENTS, "itself"))
    },
    "held": {f"{g}: held": _less_naive(g, "itself", "held") for g in GAMES},
}
"""Arm, control and figure of every declared test."""


def figures(run: FinishedRun) -> Row:
    """Return the figures of a run."""
    outcome = run.read("outcome.json")
    pays = [outcome["rows"][0]["figures"][f"{seat}/payoff"] for seat in SEATS]
    gains = [outcome["interest"][seat]["possible"] - outcome["interest"][seat]["earned"] for seat in SEATS]
    policy = first_policy(RunData(run.folder))
    held = held_payoff(run.folder.config_data()["game"], policy)
    found = {"first": pays[0], "second": pays[1], "together": fmean(pays), "exploitability": fmean(gains), "held": held}
    return {**found, "policy": [round(value, 4) for value in policy]}


def first_policy(data: RunData) -> list[float]:
    """Return the last probabilities of the first seat's first action, in the order of `memory_one_views`."""
    own = [curve.values[-1] for name, curve in data.curves.items() if name.startswith(f"{SEATS[0]}/first/")]
    if len(own) != STATES:
        raise ValueError(f"The first seat has {len(own)} probabilities, and a memory-one policy has {STATES}.")
    return own


def held_payoff(text: str, policy: Sequence[float]) -> float:
    """Return the payoff a round of a memory-one policy against the best deterministic memory-one reply to it."""
    game = MemoryOneGame.of(make_game(text), 0, 1.0)
    own = torch.logit(torch.tensor(policy, dtype=torch.float64).clamp(1e-9, 1.0 - 1e-9))
    choices = torch.tensor([[reply.first, *reply.after[0], *reply.after[1]] for reply in all_memory_one()])
    mine, theirs = game.values(own.expand(len(choices), -1), CERTAIN * (1.0 - 2.0 * choices))
    return float(mine[int(theirs.argmax())]) / game.length


def collected(folder: Path, known: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Row]]:
    """Yield the arm and the figures of every finished run that is not known yet."""
    for run in finished(folder):
        if run.seed not in {row["seed"] for row in known.get(run.stem, ())}:
            yield run.stem, {"arm": run.stem, "seed": run.seed, **figures(run), **run.provenance()}


def tested(rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, PairedTest]]:
    """Yield the tests of each family, where at least two seeds are there."""
    return family_tests(PAIRS, partial(by_seed, rows), Key(0).at("experiments", "alignment"), lambda _: FEWEST)


def table(folder: Path, out: Path) -> None:
    """Add the runs of a folder to the JSON, and print the tables of the page."""
    old = known_arms(out)
    rows = merged(old, collected(folder, old))
    write_tests(out, rows, tested(rows), FIGURES)
