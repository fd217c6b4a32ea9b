"""Tables of experiments/beliefs.py: first places of the search by what it believes, and the declared tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product, starmap
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from dots import Dot, picture
from result_tables import (
    Row,
    check_nothing_lost,
    family_tests,
    files_of,
    markdown,
    row_of_test,
    run_lines,
    table_of_tests,
    write_results,
)

from stratagem.base.provenance import provenance
from stratagem.games.catalogue import make_game
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.key import Key
from stratagem.measure.metrics.standing import First, SoleFirst, standing
from stratagem.measure.rates import rate
from stratagem.measure.resumable import read_plan
from stratagem.measure.statistics import Estimate, clustered_mean, students
from stratagem.playing.records import Episode
from stratagem.playing.store import read_episodes, shards
from stratagem.sweeps.comparison import BySeed, PairedTest

SCRIPTED = ("dumbbot", "random")
PROPOSALS = (*SCRIPTED, "model")
"""Players that propose candidates."""
BELIEFS = ("dumbbot", "tuned", "both")
NO_SEARCH = "none"
"""Cells in which the player that proposes plays by itself."""
KNOWN = ("dumbbot", "tuned")
TRUTHS = (*KNOWN, "ported")
"""Players at the other seats; no belief names the last one."""
ALONE, TIES, SQUARES = "first alone", "first, ties included", "sum of squares"
ABOVE = "sum of squares above an equal"
PLACES = (ALONE, TIES)
EQUAL = 1 / 7
"""Mean share of the sum of squares of an equal of the others; shares of a game sum to one."""
ANY = "*"


class BeliefCell(NamedTuple):
    """Cell of the design."""

    proposals: str
    belief: str
    truth: str

    @property
    def name(self) -> str:
        """Name of its record."""
        return "-".join(self)

    @property
    def relation(self) -> str:
        """Relation of the belief to the truth."""
        if self.belief in (NO_SEARCH, "both"):
            return {NO_SEARCH: "none", "both": "mixed"}[self.belief]
        return "right" if self.belief == self.truth else "wrong"


class CellGame(NamedTuple):
    """Result of the agent in one game of a cell."""

    deal: int
    power: str
    share: float
    alone: float
    ties: float
    equal_alone: float
    """Mean of `alone` over all seats of the game, which an equal of the others has."""
    equal_ties: float


Games = Mapping[BeliefCell, Sequence[CellGame]]
FIGURES: Mapping[str, Callable[[CellGame], float]] = {
    ALONE: lambda game: game.alone,
    TIES: lambda game: game.ties,
    SQUARES: lambda game: game.share,
    ABOVE: lambda game: game.share - EQUAL,
}


def _contrasts(arm: str, control: str, figures: Sequence[str] = PLACES) -> dict[str, tuple[str, str, str]]:
    """Return the test of an arm less its control in each figure."""
    return {f"{figure}: {arm} less {control}": (arm, control, figure) for figure in figures}


COLUMNS = {NO_SEARCH: "no search", "dumbbot": "believes `dumbbot`", "tuned": "`tuned`", "both": "both"}
"""Heads of the columns of the page's table, by belief."""
EQUALS = {ALONE: "an equal, alone", TIES: "an equal, ties included"}
"""Null of a share of first places, by the share."""
FEWEST = 8
"""Number of deals below which a test was declared to show nothing."""
PAIRS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "main": _contrasts("right/*/*", "wrong/*/*"),
    "each": {
        name: test
        for proposer in SCRIPTED
        for truth in KNOWN
        for name, test in _contrasts(f"right/{proposer}/{truth}", f"wrong/{proposer}/{truth}").items()
    },
    "mixed": {**_contrasts("right/*/*", "mixed/*/*"), **_contrasts("mixed/*/*", "wrong/*/*")},
    "search": {
        name: test
        for truth in KNOWN
        for name, test in _contrasts(f"wrong/dumbbot/{truth}", f"none/dumbbot/{truth}").items()
    },
    "proposals": {
        name: test
        for relation in ("right", "wrong")
        for name, test in _contrasts(f"{relation}/dumbbot/*", f"{relation}/random/*").items()
    },
    "equal": {
        f"{ABOVE}: {relation}/*/{truth}": (f"{relation}/*/{truth}", "", ABOVE)
        for relation in ("right", "wrong")
        for truth in KNOWN
    },
    "squares": {
        **_contrasts("right/*/*", "wrong/*/*", [SQUARES]),
        **_contrasts("right/*/*", "mixed/*/*", [SQUARES]),
        **_contrasts("mixed/*/*", "wrong/*/*", [SQUARES]),
    },
    "unnamed": _contrasts("mixed/*/ported", "wrong/*/ported"),
    "model": {
        **_contrasts("right/model/*", "wrong/model/*"),
        **_contrasts("right/model/*", "right/dumbbot/*"),
        **_contrasts("right/model/*", "right/random/*"),
    },
}
"""Arm, control (none: 0) and figure of every test; an arm is relation/proposals/truth, `*` stands for all declared."""


def cells_of(arm: str) -> list[BeliefCell]:
    """Return the cells of an arm; `*` stands for the scripted proposals, and for the truths that a belief names."""
    relation, proposals, truth = arm.split("/")
    proposers = SCRIPTED if proposals == ANY else (proposals,)
    truths = KNOWN if truth == ANY else (truth,)
    every = product(proposers, (*BELIEFS, NO_SEARCH), truths)
    return [cell for cell in starmap(BeliefCell, every) if cell.relation == relation]


def by_deal(games: Games, arm: str, figure: str) -> BySeed:
    """Return the mean of a figure by deal over the cells and powers of an arm; only deals that all its cells have."""
    own = [games.get(cell, ()) for cell in cells_of(arm)]
    deals = set.intersection(*({game.deal for game in one} for one in own))
    value = FIGURES[figure]
    return {d: fmean(fmean(value(game) for game in one if game.deal == d) for one in own) for d in sorted(deals)}


def result(episode: Episode, powers: Sequence[str]) -> CellGame:
    """Return the result of the agent in a recorded game."""
    alone, ties = SoleFirst(), First()
    seats, own = range(len(episode.slots)), episode.seat_of(0)
    standings = [standing(episode, seat=seat) for seat in seats]
    sole, first = ([float(metric.holds(*one)) for one in standings] for metric in (alone, ties))
    deal = int(episode.group.rpartition("/")[2])
    share = episode.payoffs[own]
    return CellGame(deal, powers[own], share, sole[own], first[own], fmean(sole), fmean(first))


def read_games(folder: Path) -> dict[BeliefCell, list[CellGame]]:
    """Read the games of every cell; of the cells with one kind of proposals those deals that all of them have.

    Cells with a model are a part of their own, which may have fewer.
    """
    cells = [BeliefCell(*path.name.split("-")) for path in files_of(folder, "*-*-*") if shards(path)]
    found = {cell: list(_results(folder / cell.name)) for cell in cells}
    for part in ([cell for cell in cells if (cell.proposals == "model") is of_model] for of_model in (False, True)):
        common = set.intersection(*(_whole_deals(found[cell]) for cell in part)) if part else set()
        found |= {cell: [game for game in found[cell] if game.deal in common] for cell in part}
    return found


def _results(folder: Path) -> Iterator[CellGame]:
    """Yield the results of the finished games of a record."""
    game = make_game(str((read_plan(folder) or {})["game"]))
    assert isinstance(game, Diplomacy)
    for episode in read_episodes(folder, calls=False, decisions=False):
        if episode.finished:
            yield result(episode, game.powers)


def _whole_deals(games: Sequence[CellGame]) -> set[int]:
    """Return the deals that were played from every power."""
    powers: dict[int, set[str]] = {}
    for game in games:
        powers.setdefault(game.deal, set()).add(game.power)
    return {deal for deal, known in powers.items() if len(known) == round(1 / EQUAL)}


def share_of(games: Sequence[CellGame], figure: str) -> Estimate:
    """Estimate a share of first places with Wilson's interval for the effective number of games."""
    return rate(games, FIGURES[figure], lambda _: 1.0, lambda game: game.deal)


def cell_row(cell: BeliefCell, games: Sequence[CellGame], plan: Mapping[str, Any]) -> Row:
    """Return the row of a cell for the JSON."""
    squares = students(clustered_mean(games, FIGURES[SQUARES], lambda game: game.deal))
    alone, ties = share_of(games, ALONE), share_of(games, TIES)
    return {
        "cell": cell.name, "relation": cell.relation, **_ends(ALONE, alone), **_ends(TIES, ties),
        **_ends(SQUARES, squares), EQUALS[ALONE]: fmean(game.equal_alone for game in games),
        EQUALS[TIES]: fmean(game.equal_ties for game in games),
        **{name: plan[name] for name in ("player", "opponents", "seed", "commit", "dirty")},
        "games": [[game.deal, game.power, round(game.share, 6), game.alone, game.ties] for game in games],
    }  # fmt: skip


def _ends(name: str, estimate: Estimate) -> Row:
    return {name: estimate.mean, f"{name}, low": estimate.low, f"{name}, high": estimate.high}


def power_rows(games: Games) -> Iterator[Row]:
    """Yield the shares by relation and power, over the scripted proposals and the truths that a belief names."""
    for relation in ("right", "wrong", "mixed"):
        own = [game for cell in cells_of(f"{relation}/*/*") for game in games.get(cell, ())]
        for power in dict.fromkeys(game.power for game in own):
            of_power = [game for game in own if game.power == power]
            alone, ties = share_of(of_power, ALONE), share_of(of_power, TIES)
            row = {"relation": relation, "power": power, "games": len(of_power)}
            yield {**row, **_ends(ALONE, alone), **_ends(TIES, ties)}


def tested(games: Games) -> Iterator[tuple[str, PairedTest]]:
    """Yield the tests of each family, where at least two deals are there."""
    return family_tests(PAIRS, partial(by_deal, games), Key(0).at("experiments", "beliefs"), lambda _: FEWEST)


def _percent(row: Row, name: str) -> str:
    low, high = row[f"{name}, low"], row[f"{name}, high"]
    return f"{100 * row[name]:.0f} [{100 * low:.0f}, {100 * high:.0f}]"


def shares_table(rows: Sequence[Row]) -> str:
    """Format the first places in Markdown, in percent: a column for each belief, the right one in bold."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        cell = BeliefCell(*row["cell"].split("-"))
        found.setdefault((cell.proposals, cell.truth), {})[cell.belief] = row
    body = [
        [*names, figure, *(_share(own.get(belief), figure) for belief in COLUMNS), _mean_percent(own.values(), equal)]
        for names, own in found.items()
        for figure, equal in EQUALS.items()
    ]
    return markdown(["proposals", "six opponents", "figure", *COLUMNS.values(), "an equal"], body)


def _share(row: Row | None, figure: str) -> str:
    if row is None:
        return "–"
    return f"**{_percent(row, figure)}**" if row["relation"] == "right" else _percent(row, figure)


def _mean_percent(rows: Iterable[Row], name: str) -> str:
    return f"{100 * fmean(row[name] for row in rows):.0f}"


def draw(rows: Sequence[Row]) -> str:
    """Draw the share of games in which each search was first alone; a right belief is marked."""
    names = {row["cell"]: " / ".join(row["cell"].split("-")) for row in rows}
    dots = [
        Dot(names[row["cell"]], row[ALONE], row[f"{ALONE}, low"], row[f"{ALONE}, high"], row["relation"] == "right")
        for row in sorted(rows, key=lambda row: (TRUTHS.index(row["cell"].split("-")[2]), row["cell"]))
        if row["relation"] != "none"
    ]
    return picture(dots, "first alone: proposals / belief / truth; a right belief is marked", 0.0, 1.0)


def table(folder: Path, out: Path, drawing: Path | None = None) -> None:
    """Write the JSON, print the tables of the page, and draw the picture where it is asked for."""
    games = {cell: own for cell, own in read_games(folder).items() if own}
    plans = {cell: read_plan(folder / cell.name) or {} for cell in games}
    cells = [cell_row(cell, games[cell], plans[cell]) for cell in games]
    tests = [row_of_test(name, test, unit="deals") for name, test in tested(games)]
    powers = list(power_rows(games))
    heads = ["belief is", "power", "games", f"{ALONE}, %", f"{TIES}, %"]
    body = [[row["relation"], row["power"], str(row["games"]), *(_percent(row, f) for f in PLACES)] for row in powers]
    print("\n\n".join([shares_table(cells), markdown(heads, body), table_of_tests(tests, unit="deals")]))
    data = {"made_by": provenance(), "tests": tests, "powers": powers, "cells": cells}
    check_nothing_lost(out, data, lambda table: {row["cell"]: len(row["games"]) for row in table["cells"]})
    write_results(out, data, run_lines)
    if drawing is not None:
        drawing.write_text(draw(cells), encoding="utf-8")
