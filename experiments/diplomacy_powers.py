"""A player's sum of squares by power, as a picture: `python experiments/diplomacy_powers.py EVAL.json PICTURE.svg`.

The file is what `stratagem eval` wrote with `--out`; its table by seat is what the command prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dots import Dot, picture
from result_tables import read_results


def dot(name: str, figure: Mapping[str, Any], *, marked: bool = False) -> Dot:
    """A mean with its 95 % interval, its own or the normal one."""
    half = 1.96 * (figure["se"] or 0.0)
    low, high = (
        figure["mean"] + side if figure[end] is None else figure[end] for side, end in ((-half, "low"), (half, "high"))
    )
    return Dot(name, figure["mean"], low, high, marked)


def main() -> None:
    """Draw the first player that is named so, or the first of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="what an evaluation wrote with --out")
    parser.add_argument("picture", type=Path, help="the picture to write, as SVG")
    parser.add_argument("--player", default="", help="part of the player's name, where the file has several")
    asked = parser.parse_args()
    (game,) = read_results(asked.file)["games"]
    rows = [row for row in game["players"] if asked.player in row["player"]]
    if not rows:
        raise SystemExit(f"{asked.file} has {', '.join(row['player'] for row in game['players'])}: name one of them.")
    row = rows[0]
    dots = [dot(seat["seat"].capitalize(), seat["metrics"]["payoff"]) for seat in row["by_seat"]]
    dots.append(dot("all", row["metrics"]["payoff"], marked=True))
    title = f"sum of squares by power; the null over all powers is {row['nulls']['payoff']:.3f}"
    asked.picture.write_text(picture(dots, title, 0.0, 0.4), encoding="utf-8")


if __name__ == "__main__":
    main()
