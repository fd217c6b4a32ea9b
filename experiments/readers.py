"""Accuracy of the readers of free text, on drawn texts of known meaning.

`python experiments/readers.py` measures the readers without a model and writes docs/results/readers.json;
`--reader 'model(smollm2)' --texts 300` adds a model, `--table` prints the rows of docs/results/readers.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from result_tables import DASH, check_nothing_lost

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.statistics import Estimate
from stratagem.measure.talk.readers import make_reader
from stratagem.measure.talk.reading_accuracy import Accuracy, accuracy

OUT = Path(__file__).parents[1] / "docs" / "results" / "readers.json"
GAMES = (
    "ipd",
    "kuhn",
    "negotiation-v1",
    "negotiation-v2",
    "diplomacy(judged=False)",
    "public-goods",
    "auction",
    "liars-dice",
    "resistance",
)
FEW = ("ipd", "kuhn", "negotiation-v2")
"""Games of few sentences, which a model can be offered at once."""
KINDS = ("plain", "denied", "hostile", "unrelated")


def measured(reader: str, game: str, texts: int, *, held_out: bool) -> dict[str, Any]:
    """Return one row."""
    began = time.perf_counter()
    found = accuracy(make_reader(reader), make_game(game), texts, Key(0), held_out=held_out)
    return {
        "reader": reader,
        "game": game,
        "texts": texts,
        "held_out": held_out,
        "seconds": round(time.perf_counter() - began, 1),
        **figures(found),
    }


def figures(found: Accuracy) -> dict[str, Any]:
    """Return the figures of a reader in a game."""
    there = {text.said.kind for text in found.texts}
    confusions = [
        {"meant": meant, "found": took, "texts": number} for (meant, took), number in sorted(found.confusions.items())
    ]
    return {
        "right": found.right.to_json(),
        "chance": found.chance,
        "by_kind": {kind: found.of(kind).to_json() for kind in KINDS if kind in there},
        "precision": found.precision and found.precision.to_json(),
        "confusions": confusions,
    }


def rows_of(reader: str, texts: int) -> list[dict[str, Any]]:
    """Measure a reader; a model reads held-out texts of games with few sentences."""
    with_model = reader.startswith("model")
    parts = (True,) if with_model or reader == "exact" else (False, True)
    rows = []
    for game in FEW if with_model else GAMES:
        for held_out in parts:
            rows.append(measured(reader, game, texts, held_out=held_out))
            print(line(rows[-1]), flush=True)
    return rows


def line(row: dict[str, Any]) -> str:
    """Return a row of the page."""
    part = "held out" if row["held_out"] else "seen"
    by_kind = (row["by_kind"].get(kind) for kind in KINDS)
    kinds = " | ".join(f"{share['mean']:.2f}" if share else DASH for share in by_kind)
    found = "–" if row["precision"] is None else share(row["precision"])
    head = f"| `{row['reader']}` | `{row['game'].partition('(')[0]}` | {part}"
    return f"{head} | {share(row['right'])} | {row['chance']:.2f} | {kinds} | {found} |"


def share(estimate: dict[str, Any] | Estimate) -> str:
    """Return a share with its interval."""
    data = estimate if isinstance(estimate, dict) else estimate.to_json()
    return f"{data['mean']:.2f} ({data['low']:.2f} to {data['high']:.2f})"


def texts_of(table: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of texts of each reader."""
    return {name: sum(row["texts"] for row in reader["rows"]) for name, reader in table.items()}


def main() -> None:
    """Measure readers and keep the rows of others, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", action="append", help="reader to measure; by default exact and rules")
    parser.add_argument("--texts", type=int, default=1000, help="number of texts for each game")
    parser.add_argument("--table", action="store_true", help="print the table of the figures that are there")
    options = parser.parse_args()
    known = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    if options.table:
        print(*(line(row) for reader in known.values() for row in reader["rows"]), sep="\n")
        return
    readers = options.reader or ["exact", "rules"]
    named = "".join(f" --reader '{reader}'" for reader in options.reader or ())
    made = {**provenance(), "command": f"python experiments/readers.py{named} --texts {options.texts}"}
    found = {reader: {"made_by": made, "rows": rows_of(reader, options.texts)} for reader in readers}
    check_nothing_lost(OUT, {**known, **found}, texts_of)
    write_file(OUT, json.dumps({**known, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
