"""Models of experiments/scopal.py against one another, and in games that they were not trained on.

`python experiments/scopal_matches.py runs/scopal --out docs/results/sco-pal-matches.json` plays what each method
made of the base (SCO-PAL's appendix A.11) in its six games, every deal from both seats, and what base and main run make
of three others (Table 4). A difference is tested by flipping the signs of deals, so p is that of paired games.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from scopal import MAIN

from stratagem.algorithms.scopal.recipe import SIX
from stratagem.evaluation.bouts import Bout, Table
from stratagem.evaluation.metrics.win_rate import won
from stratagem.evaluation.statistics import Difference, mean, paired_difference
from stratagem.evaluation.suites import SUITES, Line
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.provenance import provenance, source

VARIANTS = (MAIN, "winning", "spag", "kto", "joint", "bc-dpo", "bc-grpo")
"""Whose models meet, as far as they are there; of the main run every stage, of the others the last."""
UNSEEN: tuple[Line, ...] = tuple(line for line in SUITES["gtbench"].lines if line.game not in SIX)
"""What GTBench has and nobody was trained on."""


def models(folder: Path, seed: int) -> dict[str, str]:
    """Players by what is shown of them."""
    found: dict[str, str] = {}
    for variant in VARIANTS:
        path = folder / f"{variant}-{seed}" / "evaluation.json"
        if path.is_file():
            titles: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["rows"]
            told = {title: player for player, title in titles.items()}
            found |= told if variant == MAIN else dict([list(told.items())[-1]])
    return found


def rates(bouts: Sequence[Bout]) -> list[float]:
    """What the hero won of every deal, in an order that does not hang on who played."""
    return [rate for bout in bouts for rate in bout.by_deal(won).values()]


def head_to_head(named: Mapping[str, str], table: Table) -> Iterator[dict[str, Any]]:
    """Every pair once."""
    games = [make_game(text) for text in SIX]
    for (name, first), (other, second) in combinations(named.items(), 2):
        bouts = [table.bout(game, make_player(first, game), make_player(second, game), ()) for game in games]
        by_game = {text: mean(rates([bout])).mean for text, bout in zip(SIX, bouts, strict=True)}
        every = rates(bouts)
        won_ = told(every, [1.0 - rate for rate in every], table)
        yield {"first": name, "second": other, "won": won_, "games": by_game}


def unseen(named: Mapping[str, str], table: Table) -> Iterator[dict[str, Any]]:
    """Some models in games of which they know nothing; the last is compared with the first."""
    for line in UNSEEN:
        game = make_game(line.game)
        opponents = [(make_player(name, game), ()) for name in line.pools["opponents"]]
        each = [rates(table.bouts(game, make_player(player, game), opponents)) for player in named.values()]
        means = {name: mean(own).to_json() for name, own in zip(named, each, strict=True)}
        yield {"game": line.game, "won": means, "more": told(each[-1], each[0], table)}


def told(first: Sequence[float], second: Sequence[float], table: Table) -> dict[str, Any]:
    """A difference over deals, and the first's mean."""
    found: Difference = paired_difference(first, second, table.key.at("signs"))
    return {**mean(list(first)).to_json(), "difference": found.estimate.mean, "p": found.p_value}


def matrix(pairs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Iterator[str]:
    """What the row's model wins against the column's, in hundred; a star where p is below 5 %."""
    cells = {(pair["first"], pair["second"]): (pair["won"]["mean"], pair["won"]["p"]) for pair in pairs}
    cells |= {(column, row): (1.0 - rate, p) for (row, column), (rate, p) in cells.items()}
    yield f"| | {' | '.join(names)} |"
    yield f"| --- |{' --- |' * len(names)}"
    for row in names:
        shown = [
            "" if row == column else f"{100 * cells[row, column][0]:.1f}{'*' * (cells[row, column][1] < 0.05)}"
            for column in names
        ]
        yield f"| {row} | {' | '.join(shown)} |"


def main() -> None:
    """Play, write the JSON and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file")
    parser.add_argument("--seed", type=int, default=0, help="whose runs")
    parser.add_argument("--episodes", type=int, default=100, help="games of each kind a pair")
    asked = parser.parse_args()
    table = Table(asked.episodes, Key(asked.seed).at("matches"), exact_budget=0)
    named = models(asked.folder, asked.seed)
    if not {"Base", "BC + KTO"} <= set(named):
        raise SystemExit(f"{asked.folder}/{MAIN}-{asked.seed} is not finished: run `experiments/scopal.py` first.")
    main_run = {name: player for name, player in named.items() if name in ("Base", "BC + KTO")}
    pairs, others = list(head_to_head(named, table)), list(unseen(main_run, table))
    data = {
        "made_by": {**provenance(), **source()},
        "seed": asked.seed,
        "episodes": asked.episodes,
        "pairs": pairs,
        "unseen": others,
    }
    asked.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(*matrix(pairs, list(named)), sep="\n")
    for row in others:
        print(
            row["game"], {name: round(own["mean"], 3) for name, own in row["won"].items()}, f"p {row['more']['p']:.3f}"
        )


if __name__ == "__main__":
    main()
