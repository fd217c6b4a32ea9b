"""Figures of the atlas: `python experiments/atlas_table.py runs/atlas docs/results/atlas.json`.

It reads what atlas_adversaries.py measured, writes the JSON and its picture, and prints the tables and the declared
tests. Games count equally, and so do the SFT models of a game: the runs that start from one are one observation.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from atlas import KNOWN
from atlas_adversaries import DRAWS, FOLDER
from atlas_statistics import Clusters, bootstrap_interval, clustered_figure, low_quantile, rank_correlations
from dots import Dot, picture
from result_tables import (
    DASH,
    Row,
    check_nothing_lost,
    files_of,
    finished,
    markdown,
    number,
    row_of_test,
    table_of_tests,
    write_results,
)

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import holm
from stratagem.sweeps.comparison import paired_tests, sign_flips

NEAR = 0.1
"""Mean total variation from random play below which a policy is near it and does not count."""
LEAST = 0.05
"""Exact exploitability, as a share of random play's, below which no share of it is computed."""
THRESHOLDS = (0.1, 0.25, 0.5)
"""Thresholds of a verdict, as shares of random play's exploitability."""
POOLS, BUDGETS = ("scripts", "lists", "responses"), ("whole", "learn", "search", "limit")
"""Kinds of adversaries: those with draws of pools, and others; `whole` is one pool of all scripts of a game."""
RANKED: Mapping[str, Mapping[str, int]] = {
    "pools": dict.fromkeys(POOLS, 10),
    "budgets": {"learn": 1_000, "search": 100, "limit": 50},
}
"""Size of each kind of adversary by family of rank tests; the pool of all scripts, where there are fewer."""
SHARES: Mapping[str, tuple[tuple[str, int], tuple[str, int]]] = {
    "all scripts less lists at 20": (("whole", 1), ("lists", 20)),
    "learn at 1000 less lists at 20": (("learn", 1_000), ("lists", 20)),
    "search at 100 less lists at 20": (("search", 100), ("lists", 20)),
    "limit at 50 less lists at 20": (("limit", 50), ("lists", 20)),
}
"""Declared tests of shares over games."""
FIT_METHODS, FIT_GAMES = ("sft", "reinforce", "grpo", "sepo"), ("kuhn", "dice")
"""Methods and known games by which the rule of thumb is fitted; of drawn games the ones with an even number."""
COVER, HOLDS = 0.9, 0.8
"""Share of cases that the rule promises, and lower end of an interval from which on it holds."""
LEAST_GAMES = 4
"""Games of a part of the rule, below which nothing is shown: a bootstrap over two games says little."""
Cell = tuple[str, int]
Chosen = Callable[[Row], bool]


def read_rows(folder: Path) -> list[Row]:
    """Read what was measured of every policy."""
    return [json.loads(path.read_text("utf-8")) for path in files_of(folder / FOLDER)]


def counts(row: Row) -> bool:
    """Return whether a policy is not near random play."""
    return bool(row["distance"] >= NEAR)


def has_share(row: Row) -> bool:
    """Return whether there is enough exploitability to see a share of it."""
    return bool(row["exact"] >= LEAST * row["random"])


def cells_of(rows: Iterable[Row]) -> list[Cell]:
    """Return the kinds and sizes of adversaries."""
    found = {(kind, int(size)) for row in rows for kind, sizes in row["seen"].items() for size in sizes}
    return sorted(found, key=lambda cell: ((*POOLS, *BUDGETS).index(cell[0]), cell[1]))


def seen(row: Row, cell: Cell, draws: slice = slice(None)) -> list[float] | None:
    """Return what an adversary of a size saw by draw, at least 0; None where there is none of this size."""
    values = row["seen"][cell[0]].get(str(cell[1]))
    return None if values is None else [max(value, 0.0) for value in values[draws]]


def is_even(game: str) -> bool:
    """Return whether the rule of thumb is fitted to a game."""
    return game in FIT_GAMES or (game not in KNOWN and int(game.removeprefix("drawn")) % 2 == 0)


def _is_of(game: str, row: Row) -> bool:
    return bool(row["game"] == game)


GROUPS: Mapping[str, Chosen] = {
    "all": lambda row: True,
    "known": lambda row: row["game"] in KNOWN,
    "drawn": lambda row: row["game"] not in KNOWN,
    **{name: partial(_is_of, name) for name in KNOWN},
}


def clusters(rows: Iterable[Row], value: Callable[[Row], Sequence[float] | None]) -> Clusters:
    """Return values by game and SFT model; rows without one are left out."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if (values := value(row)) is not None:
            found[row["game"]][row["family"]].extend(values)
    return {game: {family: values for family, values in own.items() if values} for game, own in found.items() if own}


def figure_row(found: Clusters, games: bool) -> Row:
    """Return a clustered mean with its interval, over games, too, where `games`; without one where nothing varies."""
    row: Row = {"games": len(found), "families": sum(map(len, found.values())), "mean": clustered_figure(found)}
    if len(found) > 1 if games else min(map(len, found.values())) > 1:
        row["low"], row["high"] = bootstrap_interval(found, over_games=games)
    return row


def over_games(group: str) -> bool:
    """Return whether the games of a group are drawn again: the known ones were chosen."""
    return group in ("all", "drawn")


def curves(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the share of exact exploitability that each adversary sees, by group of games."""
    defined = [row for row in rows if has_share(row)]
    for group, chosen in GROUPS.items():
        for cell in cells_of(defined):
            own = [row for row in defined if chosen(row) and seen(row, cell) is not None]

            def every_share(row: Row, cell: Cell = cell) -> list[float]:
                return [value / row["exact"] for value in seen(row, cell) or []]

            def mean_share(row: Row, cell: Cell = cell) -> list[float]:
                return [float(np.mean(seen(row, cell) or [])) / row["exact"]]

            means, every = clusters(own, mean_share), clusters(own, every_share)
            if means:
                low = {"tenth": low_quantile(every, 1.0 - COVER), "policies": len(own)}
                yield {"group": group, "kind": cell[0], "size": cell[1], **figure_row(means, over_games(group)), **low}


def verdicts(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the share of policies above a threshold that an adversary calls safe, by group of games."""
    for threshold in THRESHOLDS:
        above = [row for row in rows if row["exact"] >= threshold * row["random"]]
        for group in ("all", "known", "drawn"):
            for cell in cells_of(rows):
                own = [row for row in above if GROUPS[group](row) and seen(row, cell) is not None]

                def safe(row: Row, cell: Cell = cell, threshold: float = threshold) -> list[float]:
                    return [float(value < threshold * row["random"]) for value in seen(row, cell) or []]

                if own:
                    base = {"threshold": threshold, "group": group, "kind": cell[0], "size": cell[1]}
                    yield {**base, "policies": len(own), **figure_row(clusters(own, safe), over_games(group))}


def ranks(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rank correlations with the exact figure in each known game, with Holm's correction in each family."""
    for family, sizes in RANKED.items():
        found: list[Row] = []
        for game in KNOWN:
            ends = [row for row in rows if row["game"] == game and row["stage"] == "end"]
            for kind, most in sizes.items():
                row: Row = {"family": family, "game": game, "kind": kind, "policies": len(ends)}
                if len(ends) > 2:
                    cell = ranked_cell(ends[0], kind, most)
                    table = np.array([seen(one, cell) for one in ends]).T
                    exact = np.array([one["exact"] for one in ends])
                    groups = [one["family"] for one in ends]
                    size = ends[0]["scripts"] if cell[0] == "whole" else cell[1]
                    row |= {"size": size, **rank_correlations(table, exact, groups)}
                found.append(row)
        corrected = holm([row.get("p", 1.0) for row in found])  # a test that was not made counts as p = 1
        yield from ({**row, "p (Holm)": p} for row, p in zip(found, corrected, strict=True))


def ranked_cell(row: Row, kind: str, most: int) -> Cell:
    """Return the adversary of a rank test in the game of a row: the pool of all scripts, where there are too few."""
    return ("whole", 1) if kind == "scripts" and seen(row, (kind, most)) is None else (kind, most)


def share_tests(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the declared differences of shares between adversaries, sign flips over games."""
    defined, differences = [row for row in rows if has_share(row)], {}
    numbers = {game: n for n, game in enumerate(sorted({row["game"] for row in defined}))}
    for name, (first, second) in SHARES.items():

        def gap(row: Row, first: Cell = first, second: Cell = second) -> list[float] | None:
            own, other = seen(row, first), seen(row, second)
            return None if own is None or other is None else [float(np.mean(own) - np.mean(other)) / row["exact"]]

        found = clusters(defined, gap)
        if len(found) > 1:
            differences[name] = {numbers[game]: clustered_figure({game: own}) for game, own in found.items()}
    tests = paired_tests(Family("share", tuple(SHARES)), differences, sign_flips(Key(0).at("atlas")))
    yield from (row_of_test("share", test) for test in tests.values())


def rules(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield what each adversary sees at least in nine of ten cases of one part, and how often it does so in others."""
    defined, half = [row for row in rows if has_share(row)], DRAWS // 2
    parts: Mapping[str, tuple[Chosen, slice]] = {
        "fitted": (lambda row: is_even(row["game"]) and row["method"] in FIT_METHODS, slice(0, half)),
        "pools": (lambda row: is_even(row["game"]) and row["method"] in FIT_METHODS, slice(half, None)),
        "methods": (lambda row: is_even(row["game"]) and row["method"] not in FIT_METHODS, slice(0, half)),
        "games": (lambda row: not is_even(row["game"]) and row["method"] in FIT_METHODS, slice(0, half)),
        "all": (lambda row: not is_even(row["game"]) and row["method"] not in FIT_METHODS, slice(half, None)),
    }
    for cell in cells_of(defined):
        least = None
        for part, (chosen, draws) in parts.items():
            if part == "pools" and cell[0] != "lists":
                continue  # no other pools have new bots in each draw, so none are held out
            if cell[0] in BUDGETS:
                draws = slice(None)

            def shares(row: Row, cell: Cell = cell, draws: slice = draws) -> list[float] | None:
                values = seen(row, cell, draws)
                return None if values is None else [value / row["exact"] for value in values]

            found = clusters(filter(chosen, defined), shares)
            if not found:
                continue
            if part == "fitted":
                least = low_quantile(found, 1.0 - COVER)
            if least is not None:
                held = {
                    game: {name: [float(value >= least) for value in values] for name, values in own.items()}
                    for game, own in found.items()
                }
                row = figure_row(held, games=True)
                yield {
                    "part": part,
                    "kind": cell[0],
                    "size": cell[1],
                    "least": least,
                    **row,
                    "verdict": verdict(least, row),
                }


def verdict(least: float, row: Row) -> str:
    """Return whether a rule holds: not where the whole interval is below its promise, nor by few games."""
    if least <= 0.0:
        return "empty"
    if row["games"] < LEAST_GAMES:
        return "not shown"
    if row.get("high", 1.0) < COVER:
        return "fails"
    return "holds" if row.get("low", 0.0) >= HOLDS else "not shown"


def summarise(rows: Sequence[Row]) -> Row:
    """Return all figures of the page."""
    counted = [row for row in rows if counts(row)]
    by_game: Mapping[str, Any] = {
        game: {
            "policies": len(own := [row for row in rows if row["game"] == game]),
            "counted": sum(map(counts, own)),
            "with a share": sum(counts(row) and has_share(row) for row in own),
            "scripts": own[0]["scripts"],
            "random": own[0]["random"],
            "text": own[0]["text"],
        }
        for game in sorted({row["game"] for row in rows})
    }
    return {
        "games": by_game,
        "control": {"largest difference": max(abs(row["control"] - row["exact"]) for row in rows)},
        "curves": list(curves(counted)),
        "verdicts": list(verdicts(counted)),
        "ranks": list(ranks(counted)),
        "tests": list(share_tests(counted)),
        "rules": list(rules(counted)),
        "policies": [
            {name: row[name] for name in ("policy", "exact", "distance")} | {"seen": mean_seen(row)} for row in rows
        ],
    }


def mean_seen(row: Row) -> Row:
    """Return what each adversary saw of a policy, the mean over the draws."""
    return {
        kind: {size: round(float(np.mean(values)), 6) for size, values in sizes.items()}
        for kind, sizes in row["seen"].items()
    }


def games_of(row: Row, most: int) -> str:
    """Return the number of games of a figure where it has fewer than others, with which it does not compare."""
    return f", {row['games']} games" if row["games"] < most else ""


def most_games(found: Sequence[Row]) -> dict[str, int]:
    """Return the largest number of games of a figure by group."""
    return {group: max(row["games"] for row in found if row["group"] == group) for group in {r["group"] for r in found}}


def cell_text(row: Row, digits: int = 2) -> str:
    """Format a mean with its interval, if it has one."""
    interval = f" [{number(row['low'], digits)}, {number(row['high'], digits)}]" if "low" in row else ""
    return number(row["mean"], digits) + interval


def print_tables(found: Row) -> None:
    """Print the tables of the page."""
    most = most_games(found["curves"])
    by_cell: dict[Cell, dict[str, Row]] = defaultdict(dict)
    for row in found["curves"]:
        by_cell[row["kind"], row["size"]][row["group"]] = row
    body = [
        [
            kind,
            f"{size:,}",
            *(cell_text(own[group]) + games_of(own[group], most[group]) if group in own else DASH for group in GROUPS),
        ]
        for (kind, size), own in by_cell.items()
    ]
    print(markdown(["adversary", "size", *GROUPS], body), end="\n\n")
    body = [
        [str(row["threshold"]), row["group"], row["kind"], f"{row['size']:,}", str(row["policies"]), cell_text(row)]
        for row in found["verdicts"]
    ]
    print(markdown(["threshold", "games", "adversary", "size", "policies", "called safe"], body), end="\n\n")
    names = ["family", "game", "kind", "size", "policies", "Kendall", "Spearman", "p", "p (Holm)"]
    body = [[cell_of(row.get(name)) for name in names] for row in found["ranks"]]
    print(markdown(names, body), end="\n\n")
    print(table_of_tests(found["tests"]), end="\n\n")
    print(f"The best response differs from the exact figure by {found['control']['largest difference']:.1e}.\n")
    body = [
        [row["kind"], f"{row['size']:,}", row["part"], number(row["least"], 2), cell_text(row), row["verdict"]]
        for row in found["rules"]
    ]
    print(markdown(["adversary", "size", "part", "sees at least", "of cases", "verdict"], body))


def cell_of(value: Any) -> str:
    """Format a cell of any kind."""
    return DASH if value is None else number(value) if isinstance(value, float) else str(value)


def main() -> None:
    """Write the JSON and its picture, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the runs")
    parser.add_argument("out", type=Path, help="JSON file")
    asked = parser.parse_args()
    found = summarise(read_rows(asked.folder))
    runs = [{"run": one.folder.name, **one.provenance()} for one in finished(asked.folder)]
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    data = {"made_by": provenance(), **found, "runs": runs}
    check_nothing_lost(asked.out, data, lambda table: {part: len(table[part]) for part in ("policies", "runs")})
    write_results(asked.out, data)
    most = most_games(found["curves"])["all"]
    dots = [
        Dot(
            f"{row['kind']}, {row['size']:,}{games_of(row, most)}",
            row["mean"],
            row["low"],
            row["high"],
            row["kind"] == "scripts",
        )
        for row in found["curves"]
        if row["group"] == "all" and "low" in row
    ]
    write_file(asked.out.with_suffix(".svg"), picture(dots, "Share of exact exploitability that is seen", 0.0, 1.0))
    print_tables(found)


if __name__ == "__main__":
    main()
