"""Tables of experiments/shaping.py: effects of the four settings with intervals, the declared tests, and the picture.

Effects are taken seed by seed over all cells of a design, so a seed without one of its cells has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import ceil
from pathlib import Path
from statistics import fmean

from dots import Dot, picture
from result_tables import FinishedRun, Row, by_seed, family_tests, finished, known_arms, merged, write_tests
from shaping_effects import Cell, Word, all_cells, effect, half_fraction, words

from stratagem.games.key import Key
from stratagem.show.reports.run_data import RunData
from stratagem.sweeps.comparison import BySeed, PairedTest

LEVELS: Mapping[str, tuple[str, str]] = {
    "schedule": ("episode", "trial"),
    "rate": ("fast", "slow"),
    "ramp": ("flat", "ramp"),
    "mean": ("batch", "turn"),
}
"""Low and high level of each factor; the high one is the shaper's."""
FACTORS = tuple(LEVELS)
NAIVE = ("episode", "fast", "flat", "batch")
RATE, SCHEDULE = ("episode", "slow", "flat", "batch"), ("trial", "fast", "flat", "batch")
"""Learners with one setting of the shaper."""
FROZEN = ("episode", "fast", "frozen", "batch")
"""A learner that never learns; against it, a naive learner yields in chicken."""
SEATS = ("one", "two")
FIGURES = ("lead", "payoff", "lead over learning", "payoff over learning")
"""Of the learner: its payoff a round less the opponent's, and its payoff; in the last games, and mean over trials."""
GAMES = {"icg": "lead", "ish": "payoff"}
"""Figure that is tested; in the stag hunt both seats have nearly the same payoff, so there is no lead."""
NAMES = {"icg": "chicken", "ish": "stag hunt"}
"""Names of the games in the picture."""
FEWEST = {"tables": 12, "tiny": 8}
"""Numbers of seeds below which a test was declared to show nothing."""
DESIGNS = {"tables-icg": all_cells(4), "tables-ish": all_cells(4), "tiny-icg": half_fraction(4)}
"""Cells of each factorial."""


def name_of(word: Word) -> str:
    """Name the effect of a set of factors."""
    return " x ".join(FACTORS[factor] for factor in word)


def arm_of(design: str, levels: Sequence[str]) -> str:
    """Name an arm."""
    return f"{design}-{'-'.join(levels)}"


def cell_arm(design: str, cell: Cell) -> str:
    """Name the arm of a cell."""
    return arm_of(design, [LEVELS[factor][level > 0] for factor, level in zip(FACTORS, cell, strict=True)])


def _effects(design: str, sizes: Sequence[int], figure: str = "") -> dict[str, tuple[str, str, str]]:
    """Return the effects of words of a design; in a fraction, of pairs of pairs the one with the schedule."""
    chosen = [word for word in words(len(FACTORS), sizes) if len(DESIGNS[design]) == 16 or len(word) == 1 or 0 in word]
    measured = figure or GAMES[design[-3:]]
    return {f"{design}: {name_of(word)}": (f"{design}: {name_of(word)}", "", measured) for word in chosen}


def _rate_less_schedule(design: str) -> dict[str, tuple[str, str, str]]:
    """Return the effect of the rate less that of the schedule; in a design of two cells, of one arm less the other."""
    if design in DESIGNS:
        pair = f"{design}: rate", f"{design}: schedule"
    else:
        pair = arm_of(design, RATE), arm_of(design, SCHEDULE)
    return {f"{design}: rate less schedule": (*pair, GAMES[design[-3:]])}


def _nulls(game: str) -> dict[str, tuple[str, str, str]]:
    """Return leads that are 0 by symmetry, and learners in the second seat less the same in the first."""
    design, figure = f"tables-{game}", GAMES[game]
    swapped = {
        f"{design}: {name}, second seat less first": (f"{arm_of(design, own)}-second", arm_of(design, own), figure)
        for name, own in (("rate", RATE), ("schedule", SCHEDULE))
    }
    both = {"fast": arm_of(design, NAIVE), "slow": f"{design}-both-slow"}
    return {f"{design}: two naive, {rate}": (arm, "", "lead") for rate, arm in both.items()} | swapped


PAIRS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "hypothesis": {
        test: pair for design in (*DESIGNS, "tiny-ish") for test, pair in _rate_less_schedule(design).items()
    },
    "main": {**_effects("tables-icg", (1,)), **_effects("tables-ish", (1,))},
    "interactions": {**_effects("tables-icg", (2,)), **_effects("tables-ish", (2,))},
    "three": {**_effects("tables-icg", (3,)), **_effects("tables-ish", (3,))},
    "tiny": _effects("tiny-icg", (1, 2)),
    "learning": {
        **_effects("tables-icg", (1,), "lead over learning"),
        **_effects("tables-ish", (1,), "payoff over learning"),
    },
    "alignment": {
        f"tables-{game}: alignment, {rate}": (f"tables-{game}-aligned-{rate}", f"tables-{game}-exact-{rate}", figure)
        for (game, figure), rate in product(GAMES.items(), ("fast", "slow"))
    },
    "frozen": {
        f"{design}: rate alone less frozen": (arm_of(design, RATE), arm_of(design, FROZEN), GAMES[design[-3:]])
        for design in DESIGNS
    },
    "null": {test: pair for game in GAMES for test, pair in _nulls(game).items()},
}
"""Arm or effect, control (none: 0) and figure of every declared test."""


def figures(run: FinishedRun) -> Row:
    """Return the figures of a run; an arm with the learner at the second seat is called `...-second`."""
    seats = SEATS[::-1] if run.stem.endswith("-second") else SEATS
    last = run.read("outcome.json")["rows"][0]["figures"]
    own, other = (float(last[f"{seat}/payoff"]) for seat in seats)
    curves = RunData(run.folder).curves
    learning, others = (fmean(curves[f"{seat}/payoff"].values) for seat in seats)
    return dict(zip(FIGURES, (own - other, own, learning - others, learning), strict=True))


def collected(folder: Path, known: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Row]]:
    """Yield the arm and the figures of every finished run that is not known yet."""
    for run in finished(folder):
        if run.seed not in {row["seed"] for row in known.get(run.stem, ())}:
            yield run.stem, {"arm": run.stem, "seed": run.seed, **figures(run), **run.provenance()}


def effect_by_seed(rows: Mapping[str, Sequence[Row]], name: str, figure: str) -> BySeed:
    """Return a figure of an arm by seed, or an effect, which is called `DESIGN: FACTOR x FACTOR`."""
    design, _, of = name.partition(": ")
    if not of:
        return by_seed(rows, name, figure)
    word = next(word for word in words(len(FACTORS)) if name_of(word) == of)
    cells = {cell: by_seed(rows, cell_arm(design, cell), figure) for cell in DESIGNS[design]}
    complete = set.intersection(*(set(own) for own in cells.values()))
    return {seed: effect({cell: own[seed] for cell, own in cells.items()}, word) for seed in sorted(complete)}


def _fewest(test: str) -> int:
    """Return the number of seeds below which a test was declared to show nothing."""
    return FEWEST["tables" if test.startswith("tables") else "tiny"]


def tested(rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, PairedTest]]:
    """Yield the tests of each family, where at least two seeds are there."""
    return family_tests(PAIRS, partial(effect_by_seed, rows), Key(0).at("experiments", "shaping"), _fewest)


DRAWN = ("main", "interactions", "tiny")
"""Families of the picture."""


def drawn(tests: Sequence[tuple[str, PairedTest]]) -> str:
    """Draw the effects with their intervals; those that are significant in their family are marked."""
    dots = [dot for family, test in tests if family in DRAWN for dot in _dot(test)]
    limit = max([1.0, *(ceil(2.0 * abs(end)) / 2.0 for dot in dots for end in (dot.low, dot.high))])
    title = "Effect of each setting of a shaper a round: lead in chicken, payoff in the stag hunt, 95 % intervals"
    return picture(dots, title, -limit, limit)


def _dot(test: PairedTest) -> Iterator[Dot]:
    estimate = test.estimate
    if estimate.low is not None and estimate.high is not None:
        significant = test.holm_p is not None and test.holm_p < 0.05
        design, _, effect_name = test.name.partition(": ")
        learner, game = design.split("-")
        name = f"{NAMES[game]}, {learner}: {effect_name}"
        yield Dot(name, estimate.mean, estimate.low, estimate.high, marked=significant)


def table(folder: Path, out: Path) -> None:
    """Add the runs of a folder to the JSON, draw its picture, and print the tables of the page."""
    old = known_arms(out)
    rows = merged(old, collected(folder, old))
    tests = list(tested(rows))
    write_tests(out, rows, tests, FIGURES)
    out.with_suffix(".svg").write_text(drawn(tests), encoding="utf-8")
