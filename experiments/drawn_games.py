"""Statistics of drawn games: what is refused and why, how large the accepted ones are, and whether each conforms.

`python experiments/drawn_games.py FOLDER --count 1000` draws so many games of every family and writes a file a family,
so that it goes on where it was ended; `--table` writes docs/results/drawn-games.json and prints the tables of the page.
Margins of acceptance are compared on the same sketches, accepted or not.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from result_tables import check_nothing_lost, files_of

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.conformance.verify import verify
from stratagem.games.drawn.acceptance import NODES, examine
from stratagem.games.drawn.drawing import FAMILIES, GENERATOR, draw_game, sketch
from stratagem.games.drawn.reading import write_description
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.drawn.seeded import DrawnGame
from stratagem.games.drawn.worth import MARGINS, refusal
from stratagem.games.key import Key
from stratagem.games.tree_walk import walk

OUT = Path(__file__).parents[1] / "docs" / "results" / "drawn-games.json"
SKETCHES = 300
"""Sketches of each family on which the margins are compared."""


def examine_draw(seed: int, family: str, size: Any) -> dict[str, Any]:
    """Return the figures of one draw; its conformance is checked by the usual number of episodes."""
    began = time.process_time()
    draw = draw_game(seed, family, size)
    seconds = time.process_time() - began
    report = verify(DrawnGame(seed=seed, family=family, size=size))
    worth = draw.worth
    return {
        "seed": seed,
        "structure": list(draw.structure),
        "refused": dict(draw.refused),
        "digest": draw.digest,
        "seconds": round(seconds, 4),
        "failed": list(report.failed),
        "nodes": worth.nodes,
        "information_sets": worth.information_sets,
        "length": worth.length,
        "values": list(worth.values),
        "constant_sum": worth.constant_sum,
        "nash_conv_share": worth.nash_conv_share,
        "random": worth.random.exploitability,
        "myopic": worth.myopic.exploitability,
        "constant": min((one.exploitability for one in worth.constants), default=0.0),
        "seats": draw.description.seats,
    }


def compare_margins(family: str, size: Any, count: int) -> dict[str, Any]:
    """Return why sketches are refused at each level of margins, counted over the same sketches."""
    refused: dict[str, Counter[str]] = {level: Counter() for level in MARGINS}
    for number in range(count):
        found, words = sketch(family, size, Key(number).at("margins", GENERATOR, family, size))
        try:
            game = WrittenGame(text=write_description(found.describe("Sketch", words)))
            tree = walk(game, NODES[size][1])
        except BadParameter:
            reasons = dict.fromkeys(MARGINS, "it is impossible")
        except CannotCompute:
            reasons = dict.fromkeys(MARGINS, "its tree is too large")
        else:
            small = len(tree) < NODES[size][0]
            worth = None if small else examine(tree)[0]
            reasons = {
                level: "its tree is too small" if worth is None else refusal(worth, margins) or "accepted"
                for level, margins in MARGINS.items()
            }
        for level, reason in reasons.items():
            refused[level][reason] += 1
    return {level: dict(counts.most_common()) for level, counts in refused.items()}


def draw_family(family: str, size: Any, count: int, folder: Path) -> None:
    """Draw the games of a family that its file does not hold yet."""
    path = folder / f"{family}-{size}.json"
    held = json.loads(path.read_text()) if path.is_file() else {"games": []}
    for seed in range(len(held["games"]), count):
        held["games"].append(examine_draw(seed, family, size))
        if seed % 50 == 49 or seed == count - 1:
            write_file(path, json.dumps(held))
            print(f"{family} {size}: {seed + 1} of {count}", flush=True)
    if "margins" not in held:
        held["margins"] = compare_margins(family, size, SKETCHES)
        write_file(path, json.dumps(held))


def summarise(games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the row of a family."""

    def quantiles(name: str) -> list[float]:
        return [round(float(value), 4) for value in np.quantile([game[name] for game in games], (0.05, 0.5, 0.95))]

    refused: Counter[str] = Counter()
    for game in games:
        refused.update(game["refused"])
    zero = [game["nash_conv_share"] for game in games if game["constant_sum"]]
    general = [game["nash_conv_share"] for game in games if not game["constant_sum"]]
    figures = ("nodes", "information_sets", "length", "random", "myopic", "constant", "seconds")
    return {
        "games": len(games),
        "different": len({game["digest"] for game in games}),
        "structures": len({tuple(game["structure"]) for game in games}),
        "not conforming": sum(bool(game["failed"]) for game in games),
        "constant sum": len(zero),
        "largest NashConv of a constant sum": max(zero, default=0.0),
        "NashConv of other games": [float(np.quantile(general, q)) for q in (0.5, 0.95, 1.0)] if general else [],
        "refused": dict(refused.most_common()),
        **{name: quantiles(name) for name in figures},
    }


def write_table(folder: Path) -> None:
    """Write the JSON of the page, and print its tables."""
    files = {path.stem: json.loads(path.read_text()) for path in files_of(folder)}
    rows = {name: {**summarise(held["games"]), "margins": held.get("margins", {})} for name, held in files.items()}
    result = {"generator": GENERATOR, "provenance": provenance(), "families": rows}
    print("| family | games | different | structures | nodes | decisions | random play | constant action | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, row in rows.items():
        nodes, length, random, constant = (row[key][1] for key in ("nodes", "length", "random", "constant"))
        print(
            f"| {name} | {row['games']:,} | {row['different']:,} | {row['structures']} | {nodes:,.0f} | {length:.1f} | "
            f"{random:.3f} | {constant:.3f} | {row['seconds'][1]:.2f} |"
        )
    for name, row in rows.items():
        print(name, row["refused"], row["margins"], sep="\n  ")
    check_nothing_lost(OUT, result, lambda table: {name: row["games"] for name, row in table["families"].items()})
    write_file(OUT, json.dumps(result, indent=1) + "\n")


def main() -> None:
    """Draw the games, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--size", default="small", choices=list(NODES))
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.table:
        write_table(given.folder)
        return
    for family in given.families:
        draw_family(family, given.size, given.count, given.folder)


if __name__ == "__main__":
    main()
