"""Models that read cards and boards: their training, and what each of them reads.

`python experiments/reading.py runs/reading why` trains the four models that show why a model does not read, `sizes` the
scaling run, `base` the model itself, and `python experiments/reading.py runs/reading table` measures every finished run
and what it began with, writes docs/results/reading.json, and prints the tables of docs/results/reading.md.
Call it from the project's root, in a clean clone; finished runs and stored measures are not made again.

`why`    8,000 examples each: `tiny` on moves of random play and on optimal moves, in prompts with all the rules;
         `small` and `base`, which differ in their tokenizer alone, on optimal moves, in situations without the rules.
`more`   `base` on 60,000 examples of nim alone.
`board`  `tiny` on 25,000 examples of tic-tac-toe alone, in eight passes, and in one.
`sizes`  `base`, `base-10m` and `base-25m` on as many examples as they read in a minute and a half of one core.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from experiment import command_line, run
from reading_table import HELD_OUT, table

from stratagem.sweeps.planned_run import PlannedRun

RECIPE = Path("recipes/reading/base.toml")
BOARD = Path("recipes/reading/board.toml")
OPTIMAL = {"nim": "perfect", "kuhn-spiel": "cfr:1000"}
COUNTS = {"nim": 6000, "kuhn-spiel": 2000}
WHY: Mapping[str, tuple[str, bool, str]] = {
    "tiny-random": ("tiny", False, "plain"),
    "tiny-optimal": ("tiny", True, "plain"),
    "base-bare": ("base", True, "bare"),
    "small-bare": ("small", True, "bare"),
}
"""Model, whether it learns optimal moves, and the style of its prompts."""
SIZES = {"base": 2.0, "base-10m": 0.9, "base-25m": 0.4}
"""Share of these examples that a model reads in equal time, by its speed."""
BOARDS = {"board": 8, "board-once": 1}
"""Passes over the examples."""
SHORT = {"games": '["nim", "kuhn-spiel"]', "validation_episodes": "1", "test_episodes": "1"}
"""Short validations: the table measures more."""


def sources(share: float, *, optimal: bool) -> str:
    """Return sources of examples as TOML: situations of random play, with optimal moves or those of random play."""
    return f"[{', '.join(_source(game, round(share * COUNTS[game]), optimal=optimal) for game in OPTIMAL)}]"


def _source(game: str, count: int, *, optimal: bool) -> str:
    teacher = OPTIMAL[game] if optimal else "random"
    options = f'teacher = "{teacher}", played_by = "random", num_examples = {count}'
    if game in HELD_OUT:
        options += f", held_out = {HELD_OUT[game]}"
    return f'{{ games = ["{game}"], {options} }}'


def runs(study: str, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Plan the runs of a study."""
    for seed in seeds:
        if study == "base":
            yield PlannedRun(f"base-{seed}", (RECIPE,), {"seed": str(seed)})
        for name, (model, optimal, style) in WHY.items() if study == "why" else ():
            yield _short(f"why-{name}-{seed}", model, sources(1.0, optimal=optimal), style, seed)
        if study == "more":
            yield _short(f"more-nim-{seed}", "base", f"[{_source('nim', 60_000, optimal=True)}]", "bare", seed)
        for name, passes in BOARDS.items() if study == "board" else ():
            yield PlannedRun(f"{name}-{seed}", (BOARD,), {"sft.epochs": str(passes), "seed": str(seed)})
        for model, share in SIZES.items() if study == "sizes" else ():
            yield _short(f"size-{model}-{seed}", model, sources(share, optimal=True), "bare", seed)


def _short(name: str, model: str, examples: str, style: str, seed: int) -> PlannedRun:
    changes = {"model": f"{model}+dtype=bf16", "style": style, "sft.sources": examples, "seed": str(seed)}
    return PlannedRun(name, (RECIPE,), {**SHORT, **changes})


def main() -> None:
    """Make the runs of a study, or the table."""
    arguments = command_line(__doc__, ("why", "more", "board", "sizes", "base", "table"), seeds=range(1)).parse_args()
    if arguments.study == "table":
        table(arguments.folder)
        return
    run(runs(arguments.study, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
