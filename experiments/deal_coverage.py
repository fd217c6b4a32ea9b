"""Coverage of 95 % intervals over deals: skewed payoffs, sampled gullibility, and win rates of paired zero-sum seats.

`python experiments/deal_coverage.py` writes docs/results/deal-coverage.json, `--table` prints the tables of the page
of that name. Gullibility is drawn from the differences of 3,000 deals, whose mean is taken for the truth.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games import Key, make_game
from stratagem.games.talk import Talk
from stratagem.measure.deal_means import mean_of_deals
from stratagem.measure.rates import rate, wilson
from stratagem.measure.statistics import Estimate, students_quantile, with_interval
from stratagem.measure.talk.interventions import DeafTo
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups

OUT = Path(__file__).parents[1] / "docs" / "results" / "deal-coverage.json"
REPETITIONS = 2_000
POOL = 3_000
Values = Sequence[float]
Method = Callable[[Any], Estimate]
Draw = Callable[[np.random.Generator, int], np.ndarray]
SKEWED: Mapping[str, tuple[Draw, float, tuple[float, float]]] = {
    "exponential": (lambda rng, n: np.minimum(rng.exponential(1.0, n), 20.0), 1.0, (0.0, 20.0)),
    "gamma of shape 2": (lambda rng, n: np.minimum(rng.gamma(2.0, 0.5, n), 20.0), 1.0, (0.0, 20.0)),
    "1, .5 or 0, .8 in the mean": (lambda rng, n: rng.choice([1.0, 0.5, 0.0], n, p=[0.7, 0.2, 0.1]), 0.8, (0.0, 1.0)),
    "1, or -1 one time in 10": (lambda rng, n: rng.choice([1.0, -1.0], n, p=[0.9, 0.1]), 0.8, (-1.0, 1.0)),
    "normal": (lambda rng, n: rng.normal(0.0, 1.0, n), 0.0, (-10.0, 10.0)),
}
"""Draws, mean and bounds of payoffs."""
KUHN = "talk(kuhn(hands=1), before=round, intents=[state])"
TALKS = (
    ("liar(NashApprox)", "believer(NashApprox)", 0),
    ("honest(NashApprox)", "believer(NashApprox)", 0),
    ("honest(NashApprox)", "believer(NashApprox)", 1),
    ("babbler(NashApprox)", "believer(NashApprox)", 0),
    ("liar(random)", "believer(random)", 0),
    ("honest(NashApprox)", "NashApprox", 0),
)
"""Speaker, reader, and seat of the speaker."""
PAIRED = ((0.0, 0.5), (0.0, 0.8), (0.5, 0.5), (0.5, 0.8), (0.8, 0.5), (0.8, 0.9), (1.0, 0.5))
"""Share of deals that are won by the seat, whoever has it, and the chance to win one of the others."""


def bounded(values: Values, least: float, most: float, rng: np.random.Generator) -> Estimate:
    """Return Gaffke's limits at 2.5 % on either side, which know the bounds alone."""
    weights = rng.dirichlet(np.ones(len(values) + 1), 400)
    low, high = (weights @ [*values, bound] for bound in (least, most))
    return Estimate(float(np.mean(values)), low=float(np.quantile(low, 0.025)), high=float(np.quantile(high, 0.975)))


def capped(hits: Sequence[int]) -> Estimate:
    """Return the interval of a rate over pairs for at most one try a seat, as if no correlation was negative."""
    share, pairs = sum(hits) / (2 * len(hits)), len(hits)
    error = float(np.var(np.array(hits) / 2, ddof=1)) / pairs
    few = min(1.0, students_quantile(2 * pairs - 1) / students_quantile(pairs - 1)) ** 2
    tries = min(share * (1.0 - share) / error * few, 2.0 * pairs) if error > 1e-12 else pairs
    return wilson(share * tries, tries)


def paired(hits: Sequence[int]) -> Estimate:
    """Return the interval that win rates have."""
    return rate(list(enumerate(hits)), lambda row: row[1], lambda _: 2.0, lambda row: row[0])


def gullibility(speaker: str, reader: str, seat: int) -> list[float]:
    """Return what a reader loses in each deal by hearing a speaker."""
    game = make_game(KUHN)
    assert isinstance(game, Talk)
    players = make_player(speaker, game), make_player(reader, game)
    arms = []
    for arm in (DeafTo(players[1], seat), players[1]):
        match, slots = Match(game, [players[0], arm]), tuple((other - seat) % 2 for other in range(2))
        setups = [Setup(id=str(n), match=match, slots=slots, key=Key(11).at("deal", n)) for n in range(POOL)]
        paid = {episode.id: episode.payoffs[1 - seat] for episode in play_setups(setups)}
        arms.append([paid[str(n)] for n in range(POOL)])
    return [jammed - heard for jammed, heard in zip(*arms, strict=True)]


def covered(draw: Callable[[], Any], true: float, methods: Mapping[str, Method]) -> dict[str, Any]:
    """Return by method the share of intervals that hold the true figure, and their mean width."""
    held, width = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0.0)
    for _ in range(REPETITIONS):
        values = draw()
        for name, method in methods.items():
            found = method(values)
            held[name] += (found.low or 0.0) - 1e-9 <= true <= (found.high or 0.0) + 1e-9
            width[name] += (found.high or 0.0) - (found.low or 0.0)
    covers = {name: count / REPETITIONS for name, count in held.items()}
    return {"covers": covers, "width": {name: total / REPETITIONS for name, total in width.items()}}


def rows() -> Iterator[dict[str, Any]]:
    """Yield the coverage of every case."""
    rng = np.random.default_rng(0)
    for name, (draw, true, bounds) in SKEWED.items():
        for n in (5, 9, 20, 60):
            found = covered(_sampler(draw, rng, n), true, {**_means(*bounds), "bounds": _by_bounds(*bounds, rng)})
            yield {"study": "skewed", "case": name, "deals": n, **found}
    for speaker, reader, seat in TALKS:
        pool = gullibility(speaker, reader, seat)
        for n in (5, 10, 20, 30, 60, 200):
            found = covered(_sampler(_from(pool), rng, n), float(np.mean(pool)), _means(-4.0, 4.0))
            yield {"study": "gullibility", "case": f"{speaker} to {reader}, seat {seat}", "deals": n, **found}
    for luck, skill in PAIRED:
        for n in (5, 10, 30, 100):
            methods = {"usual": capped, "printed": paired}
            found = covered(_sampler(_pairs(luck, skill), rng, n), 0.5 * luck + (1.0 - luck) * skill, methods)
            yield {"study": "paired", "case": f"{luck:.1f}, {skill:.1f}", "deals": n, **found}


def _sampler(draw: Draw, rng: np.random.Generator, n: int) -> Callable[[], Any]:
    """Return what draws so many deals."""
    return lambda: draw(rng, n).tolist()


def _means(least: float, most: float) -> dict[str, Method]:
    """Return the intervals of a mean by name."""
    return {"usual": with_interval, "printed": lambda values: mean_of_deals(values, least, most)}


def _by_bounds(least: float, most: float, rng: np.random.Generator) -> Method:
    return lambda values: bounded(values, least, most, rng)


def _from(pool: Values) -> Draw:
    return lambda rng, n: rng.choice(pool, n)


def _pairs(luck: float, skill: float) -> Draw:
    """Return what draws the number of wins of both seats of each deal."""

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        wins = (rng.random((n, 2)) < skill).sum(axis=1)
        return np.where(rng.random(n) < luck, 1, wins)

    return draw


def tables(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a row a case for each study: coverage in per cent, and the width over that of the usual interval."""
    for row in found:
        covers = [f"{100 * share:.1f}" for share in row["covers"].values()]
        first, *others = row["width"].values()
        widths = [f"{width / first:.2f}" if first else "–" for width in others]
        yield f"| {row['case']} | {row['deals']} | {' | '.join([*covers, *widths])} |"


def main() -> None:
    """Simulate all cases, or print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print the tables of the figures that are there")
    if parser.parse_args().table:
        known = json.loads(OUT.read_text(encoding="utf-8"))["rows"]
        for study in ("skewed", "gullibility", "paired"):
            print("\n".join([study, *tables([row for row in known if row["study"] == study]), ""]))
        return
    made = {**provenance(), "command": "python experiments/deal_coverage.py"}
    write_file(OUT, json.dumps({"made_by": made, "repetitions": REPETITIONS, "rows": [*rows()]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
