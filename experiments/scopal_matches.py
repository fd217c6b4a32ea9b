"""Models of experiments/scopal.py against one another, and in games that they were not trained on.

`python experiments/scopal_matches.py runs/scopal --out docs/results/sco-pal-matches.json` plays what each method
made of the base (SCO-PAL's appendix A.11) in its six games, every deal from both seats, and what base and main run make
of three others (Table 4). A difference is tested by flipping the signs of deals, so p is that of paired games. All
pairs are one family and all unseen games another; Holm's p stands beside each p. Without a folder of runs nothing is
played:
`python experiments/scopal_matches.py --out docs/results/sco-pal-matches.json` corrects and prints what the file holds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from result_tables import Row, markdown, read_results, write_results
from scopal import MAIN

from stratagem.algorithms.scopal.recipe import SIX
from stratagem.base.provenance import provenance
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.measure.matchups import Evaluator, Matchup
from stratagem.measure.metrics.win_rate import share_of_win
from stratagem.measure.statistics import Difference, mean, paired_difference
from stratagem.measure.suites import SUITES, SuiteLine
from stratagem.players.catalogue import make_player

VARIANTS = (MAIN, "winning", "spag", "kto", "joint", "bc-dpo", "bc-grpo")
"""Whose models meet, as far as they are there; of the main run every stage, of the others the last."""
UNSEEN: tuple[SuiteLine, ...] = tuple(line for line in SUITES["gtbench"].lines if line.game not in SIX)
"""Games of GTBench that no model was trained on."""


def models(folder: Path, seed: int) -> dict[str, str]:
    """Players by what is shown of them."""
    players: dict[str, str] = {}
    for variant in VARIANTS:
        path = folder / f"{variant}-{seed}" / "evaluation.json"
        if path.is_file():
            titles: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["rows"]
            by_title = {title: player for player, title in titles.items()}
            players |= by_title if variant == MAIN else dict([list(by_title.items())[-1]])
    return players


def rates(matchups: Sequence[Matchup]) -> list[float]:
    """Return the agent's payoff in every deal, in an order that does not depend on the players."""
    return [rate for matchup in matchups for rate in matchup.by_deal(share_of_win).values()]


def head_to_head(named: Mapping[str, str], evaluator: Evaluator) -> Iterator[dict[str, Any]]:
    """Every pair once."""
    games = [make_game(text) for text in SIX]
    for (name, first), (other, second) in combinations(named.items(), 2):
        matchups = [evaluator.matchup(game, make_player(first, game), make_player(second, game), ()) for game in games]
        by_game = {text: mean(rates([matchup])).mean for text, matchup in zip(SIX, matchups, strict=True)}
        every = rates(matchups)
        share = compared(every, [1.0 - rate for rate in every], evaluator)
        yield {"first": name, "second": other, "won": share, "games": by_game}


def unseen(named: Mapping[str, str], evaluator: Evaluator) -> Iterator[dict[str, Any]]:
    """Some models in games of which they know nothing; the last is compared with the first."""
    for line in UNSEEN:
        game = make_game(line.game)
        opponents = [(make_player(name, game), ()) for name in line.pools["opponents"]]
        each = [rates(evaluator.matchups(game, make_player(player, game), opponents)) for player in named.values()]
        means = {name: mean(own).to_json() for name, own in zip(named, each, strict=True)}
        yield {"game": line.game, "won": means, "more": compared(each[-1], each[0], evaluator)}


def compared(first: Sequence[float], second: Sequence[float], evaluator: Evaluator) -> dict[str, Any]:
    """Return a difference over deals, and the first's mean."""
    difference: Difference = paired_difference(first, second, evaluator.key.at("signs"), rounds=100_000)
    return {**mean(list(first)).to_json(), "difference": difference.estimate.mean, "p": difference.p_value}


def corrected(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same with Holm's p beside every p, and the two families by name and size."""
    pairs = Family("every pair of models", tuple(map(_pair, data["pairs"])))
    games = Family("the main run less its base, in every unseen game", tuple(row["game"] for row in data["unseen"]))
    by_pair = pairs.holm({_pair(row): row["won"]["p"] for row in data["pairs"]})
    by_game = games.holm({row["game"]: row["more"]["p"] for row in data["unseen"]})
    return {
        **data,
        "families": [{"name": family.name, "comparisons": len(family)} for family in (pairs, games)],
        "pairs": [{**row, "won": {**row["won"], "holm_p": by_pair[_pair(row)]}} for row in data["pairs"]],
        "unseen": [{**row, "more": {**row["more"], "holm_p": by_game[row["game"]]}} for row in data["unseen"]],
    }


def _pair(row: Mapping[str, Any]) -> str:
    return f"{row['first']} against {row['second']}"


def matrix(pairs: Sequence[Row]) -> str:
    """Format the row model's win rate against the column's, in percent; a star where Holm's p is below 5 %."""
    cells = {(pair["first"], pair["second"]): (pair["won"]["mean"], pair["won"]["holm_p"]) for pair in pairs}
    names = list(dict.fromkeys(name for pair in cells for name in pair))
    cells |= {(column, row): (1.0 - rate, p) for (row, column), (rate, p) in cells.items()}
    shown = {pair: f"{100 * rate:.1f}{'*' * (p < 0.05)}" for pair, (rate, p) in cells.items()}
    return markdown(["", *names], ([row, *(shown.get((row, column), "") for column in names)] for row in names))


def tested(pairs: Sequence[Row]) -> Iterator[str]:
    """The pairs whose own p is below 5 %, with Holm's p; and the least Holm p of all others."""
    order = sorted(pairs, key=lambda pair: pair["won"]["p"])
    low = [pair for pair in order if pair["won"]["p"] < 0.05]
    yield markdown(["first, second", "won by the first", "p", "Holm p"], map(_cells, low))
    if rest := order[len(low) :]:
        least = min(pair["won"]["holm_p"] for pair in rest)
        yield f"The other {len(rest)} of {len(pairs)}: Holm p at least {least:.3f}."


def _cells(pair: Row) -> list[str]:
    share = pair["won"]
    names = f"{pair['first']}, {pair['second']}"
    return [names, f"{100 * share['mean']:.1f}", f"{share['p']:.4f}", f"{share['holm_p']:.4f}"]


def in_unseen(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The share of games won by each model in every unseen game, and p with Holm's."""
    for row in rows:
        shares = ", ".join(f"{name} {own['mean']:.3f}" for name, own in row["won"].items())
        yield f"{row['game']}: {shares}; p {row['more']['p']:.4f}, Holm p {row['more']['holm_p']:.4f}"


def main() -> None:
    """Play, write the JSON and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="folder of the runs; without it nothing is played")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file")
    parser.add_argument("--seed", type=int, default=0, help="seed of the runs")
    parser.add_argument("--episodes", type=int, default=100, help="games of each kind a pair")
    arguments = parser.parse_args()
    if arguments.folder is None and not arguments.out.is_file():
        raise SystemExit(f"There is no {arguments.out} to read: name the folder of the runs to play.")
    data = corrected(read_results(arguments.out) if arguments.folder is None else played(arguments))
    write_results(arguments.out, data)
    print(matrix(data["pairs"]), "", *tested(data["pairs"]), "", *in_unseen(data["unseen"]), sep="\n")


def played(arguments: argparse.Namespace) -> dict[str, Any]:
    """Play every pair and every unseen game."""
    evaluator = Evaluator(arguments.episodes, Key(arguments.seed).at("matches"), exact_budget=0)
    named = models(arguments.folder, arguments.seed)
    if not {"Base", "BC + KTO"} <= set(named):
        raise SystemExit(
            f"{arguments.folder}/{MAIN}-{arguments.seed} is not finished: run `experiments/scopal.py` first."
        )
    main_run = {name: player for name, player in named.items() if name in ("Base", "BC + KTO")}
    pairs, others = list(head_to_head(named, evaluator)), list(unseen(main_run, evaluator))
    about = {"made_by": provenance(), "seed": arguments.seed, "episodes": arguments.episodes}
    return {**about, "pairs": pairs, "unseen": others}


if __name__ == "__main__":
    main()
