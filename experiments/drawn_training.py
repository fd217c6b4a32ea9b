"""Training on drawn games of cards, by experiments/declared/drawn.toml: SFT, then SEPO with and without the penalty.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.

`python experiments/drawn_training.py runs/drawn-training gate --seeds 0-0` makes the SFT model of the pilot, and
`table` measures every finished run in the unseen draws and in kuhn, and says whether the gate is reached. `arms` makes
SEPO's runs of seeds 1 to 10.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from drawn_agents import PER_FAMILY, ListedGame, list_games, measure
from drawn_agents_table import RANDOM, ratio_with_interval
from experiment import command_line, run
from result_tables import Row, family_tests, finished, markdown, merged, number, read_results, write_results

from stratagem.base.provenance import provenance
from stratagem.games.drawn.drawing import draw_game
from stratagem.games.key import Key
from stratagem.sweeps.comparison import BySeed, PairedTest
from stratagem.sweeps.planned_run import PlannedRun

RECIPE = (Path("recipes/drawn/cards.toml"),)
SEEDS = range(1, 11)
"""Seeds; 0 is of the pilot."""
FIRST = 10_000
"""First seed of the games of training; those of the measurements begin at 0."""
TRAINED = 100
"""Number of games of training."""
EXAMPLES = 60
"""Examples of each game."""
PER_ITERATION = 8
"""Games of each iteration of SEPO."""
KUHN = ListedGame("kuhn", "known", "")
ARMS: Mapping[str, Mapping[str, str]] = {"with": {}, "without": {"sepo.exploitability_weight": "0"}}
"""Changes of the recipe by arm."""
UNSEEN, IN_KUHN = "unseen draws", "kuhn"
TESTS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "gate": {"SFT less random play, unseen draws": ("sft", RANDOM, UNSEEN)},
    "training": {
        f"with less {control}, {figure}": ("with", control, figure)
        for figure in (UNSEEN, IN_KUHN)
        for control in ("without", "sft")
    },
}
"""Arm, control and figure of every declared test."""


@cache
def unseen_games(folder: Path) -> list[ListedGame]:
    """Return the draws of cards of the measurements."""
    return [game for game in list_games(folder, PER_FAMILY) if game.family == "cards"]


@cache
def training_games(folder: Path) -> tuple[str, ...]:
    """Return the draws of cards with two seats and a constant sum, each tree once, and none of the measurements."""
    known = {game.digest for game in unseen_games(folder)}
    names: list[str] = []
    seed = FIRST
    while len(names) < TRAINED:
        draw = draw_game(seed, "cards", "small")
        if draw.digest not in known and draw.description.seats == 2 and draw.worth.constant_sum:
            known.add(draw.digest)
            names.append(f"drawn(seed={seed})")
        seed += 1
    return tuple(names)


def source(names: Iterable[str]) -> str:
    """Return the source of SFT's examples: the solver's actions in situations of random play."""
    games = json.dumps(list(names))
    return f'[{{ games = {games}, teacher = "cfr:500", played_by = "random", num_examples = {EXAMPLES} }}]'


def sft_run(folder: Path, seed: int) -> PlannedRun:
    """Return the run of the SFT model of a seed."""
    names = training_games(folder)
    changes = {"sft.sources": source(names), "sepo.iterations": "1", "seed": str(seed)}
    return PlannedRun(f"sft-{seed}", RECIPE, changes, first=True)


def gate(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Yield the SFT model of each seed."""
    yield from (sft_run(folder, seed) for seed in seeds)


def arms(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Yield the SFT model of each seed, and SEPO's runs that start from it."""
    for seed in seeds:
        sft = sft_run(folder, seed)
        yield sft
        start = {"model": f"run:{folder / sft.name}@start", "sft.epochs": "0", "seed": str(seed)}
        for name, changes in ARMS.items():
            unseen = json.dumps([game.name for game in unseen_games(folder)])  # the stream leaves them out
            games = {"games": f'["stream(cards, {PER_ITERATION}, seed={seed})"]', "validation_games": unseen}
            yield PlannedRun(f"{name}-{seed}", RECIPE, {**games, **start, **changes})


def figures(player: str, games: Iterable[ListedGame]) -> dict[str, Row]:
    """Return the rows of a player, or of random play, by game."""
    agent = RANDOM if player == RANDOM else player
    return {game.name: measure(agent, player, game) for game in games}


def tested(runs: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, PairedTest]]:
    """Yield the tests of each family, where at least two seeds are there; no larger number was declared."""

    def by_seed(arm: str, figure: str) -> BySeed:
        if arm == RANDOM:
            return dict.fromkeys(sorted({row["seed"] for rows in runs.values() for row in rows} - {0}), 1.0)
        return {row["seed"]: row[figure] for row in runs.get(arm, []) if row["seed"]}

    return family_tests(TESTS, by_seed, Key(0).at("drawn training"), lambda _: 2)


def table(folder: Path, out: Path) -> None:
    """Measure the finished runs, write the JSON and print the table and the tests."""
    games = unseen_games(folder)
    chance, chance_in_kuhn = figures(RANDOM, games), figures(RANDOM, [KUHN])
    measured: list[tuple[str, Row]] = []
    for one in finished(folder):
        player = f"run:{one.path}@start" if one.stem == "sft" else f"run:{one.path}"
        own = figures(player, games)
        in_draws = ratio_with_interval(own, chance, [game.name for game in games])
        row = {"seed": one.seed, **one.provenance(), UNSEEN: in_draws["ratio"], "interval": in_draws["interval"]}
        row[IN_KUHN] = ratio_with_interval(figures(player, [KUHN]), chance_in_kuhn, ["kuhn"])["ratio"]
        measured.append((one.stem, row))
    runs: dict[str, list[Row]] = merged(read_results(out).get("runs", {}), measured)

    tests: dict[str, Any] = {}
    for family, test in tested(runs):
        estimate = test.estimate
        tests.setdefault(family, {})[test.name] = {
            "difference": estimate.mean,
            "interval": [estimate.low, estimate.high],
            "seeds": estimate.n,
            "p": test.p,
            "holm_p": test.holm_p,
        }
    pilot = next((row for row in runs.get("sft", []) if row["seed"] == 0), None)
    reached = None if pilot is None else pilot["interval"][1] < 1.0
    write_results(out, {"made_by": provenance(), "gate reached": reached, "tests": tests, "runs": runs})
    cells = [
        [
            arm,
            str(row["seed"]),
            number(row[UNSEEN], 2),
            *(number(end, 2) for end in row["interval"]),
            number(row[IN_KUHN], 2),
        ]
        for arm, rows in runs.items()
        for row in rows
    ]
    print(markdown(["arm", "seed", "ratio in unseen draws", "from", "to", "ratio in kuhn"], cells))
    print(f"The gate is {'not measured' if reached is None else 'reached' if reached else 'not reached'}.")
    print(json.dumps(tests, indent=1))


def main() -> None:
    """Make the runs of a part, or the table."""
    parser = command_line(__doc__, ["gate", "arms", "table"], seeds=SEEDS)
    parser.add_argument("--out", type=Path, default=Path("docs/results/drawn-training.json"), help="JSON of `table`")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.study == "table":
        table(folder, arguments.out)
        return
    run({"gate": gate, "arms": arms}[arguments.study](folder, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
