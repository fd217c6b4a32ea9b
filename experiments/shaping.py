"""Runs of experiments/declared/shaping.toml, resumable: `python experiments/shaping.py runs/shaping tables`; `tiny`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.
`python experiments/shaping.py runs/shaping table` measures the finished runs, writes docs/results/shaping.json and a
picture beside it, and prints its tables and tests; with `--out FILE` it writes others, so that the clone stays clean
between parts. `smollm2` has two arms of SmolLM2 in chicken.

One seat is a *learner* with a cell of four settings of ShapeLLM's shaper. Its opponent is a naive learner. A rate is
that of an episode, so that a schedule changes neither the total step over the same episodes nor the ramp.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from experiment import command_line, run
from shapellm_recipes import RECIPES, of_pair, start
from shaping_effects import Cell, all_cells, half_fraction
from shaping_table import FACTORS, FROZEN, GAMES, LEVELS, NAIVE, RATE, SCHEDULE, table

from stratagem.sweeps.planned_run import PlannedRun

SEEDS, TINY_SEEDS = range(20, 32), range(20, 30)
"""Seeds; those below 20 are of earlier results, and those from 100 on of pilots."""
EPISODES = 5
"""Number of episodes in a trial."""
SCALES = {
    "flat": "{ start = 1.0, end = 1.0 }",
    "ramp": '{ start = 0.02, end = 1.0, steps = 40, unit = "trial", curve = "cosine" }',
    "frozen": "{ start = 0.0, end = 0.0 }",
}
"""Schedules of the learning rate; the unit of the ramp is the trial under both update schedules."""
TABLE_RATES = {"fast": 0.5, "slow": 0.1}
"""Step of a logit by a table along the mean gradient of an episode."""
MODEL_RATES = {"tiny": {"fast": 3e-3, "slow": 6e-4}, "smollm2": {"fast": 2e-4, "slow": 4e-5}}
"""Learning rates of AdamW; an episode has equally many optimizer steps under both schedules."""
STD_FLOOR = {"tiny": {"batch": 6.0, "turn": 0.0}, "smollm2": {"batch": 3.0, "turn": 0.0}}
"""Least divisor of advantages, which belongs to the mean in the recipes of naive learners and shapers."""
EXACT_SHARE = 10.0
"""A step of a sampled table at this rate is about one of the exact gradient at 1."""
ALIGNMENT_WEIGHTS = {"aligned": 1.0, "exact": 0.0}
"""Weight of the aligned advantages; with 0 it is the exact gradient of a naive learner."""
EVEN = "0.5"
TABULAR = (RECIPES / "tabular" / "ipd-baseline.toml",)


class Learner(NamedTuple):
    """Settings of a learner as words, in the order of the factors."""

    schedule: str
    rate: str
    ramp: str
    mean: str

    @classmethod
    def of(cls, cell: Cell) -> Learner:
        """Return the settings of a cell of low and high levels, -1 and 1."""
        return cls(*(LEVELS[factor][level > 0] for factor, level in zip(FACTORS, cell, strict=True)))

    @property
    def name(self) -> str:
        """Name of the learner in the name of an arm."""
        return "-".join(self)

    @property
    def update_every(self) -> str:
        """Setting of the update schedule."""
        return "trial" if self.schedule == "trial" else "1"


def table_seat(name: str, learner: Learner) -> dict[str, str]:
    """Return the changes of a table; its learning rate is that of an episode times the episodes of an update."""
    rate = TABLE_RATES[learner.rate] * (EPISODES if learner.schedule == "trial" else 1)
    settings = {
        "update_every": learner.update_every,
        "learning_rate": f"{rate:g}",
        "learning_rate_scale": SCALES[learner.ramp],
        "advantage_mean_over": learner.mean,
        "initial_probability": EVEN,
    }
    return {f"seats.{name}.{key}": value for key, value in settings.items()}


def model_seat(model: str, learner: Learner) -> dict[str, str]:
    """Return the changes of the first seat of a language model; it is told the counts of the trial in every cell."""
    settings = {
        "memory": "trial",
        "style": "shapellm-occurrence",
        "update_every": learner.update_every,
        "optimizer.learning_rate": f"{MODEL_RATES[model][learner.rate]:g}",
        "learning_rate_scale": SCALES[learner.ramp],
        "ppo.advantage_mean_over": learner.mean,
        "ppo.advantage_std_floor": str(STD_FLOOR[model][learner.mean]),
    }
    return {f"seats.one.{key}": value for key, value in settings.items()}


def table_arms() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name and the seats of each arm of tables: cells, controls, and advantage alignment by exact values."""
    naive = Learner(*NAIVE)
    for learner in (*map(Learner.of, all_cells(len(FACTORS))), Learner(*FROZEN)):
        yield learner.name, table_seat("one", learner) | table_seat("two", naive)
    slow = Learner(*RATE)
    yield "both-slow", table_seat("one", slow) | table_seat("two", slow)
    for learner in (slow, Learner(*SCHEDULE)):
        yield f"{learner.name}-second", table_seat("one", naive) | table_seat("two", learner)
    for (kind, weight), (rate, step) in product(ALIGNMENT_WEIGHTS.items(), TABLE_RATES.items()):
        settings = f"alignment_weight = {weight}, learning_rate = {step / EXACT_SHARE:g}, initial_probability = {EVEN}"
        first = {"seats.one": f'{{ learner = "advantage-alignment", {settings} }}'}
        yield f"{kind}-{rate}", first | table_seat("two", naive)


def tables(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Plan all arms of tables, those of a seed before the next seed."""
    for seed, game, (name, seats) in product(seeds, GAMES, table_arms()):
        yield PlannedRun(f"tables-{game}-{name}-{seed}", TABULAR, {"seed": str(seed), "game": game, **seats})


def tiny_arms() -> Iterator[tuple[str, Learner]]:
    """Yield game and learner of each arm of `tiny`: the fraction and two controls, and two arms in the stag hunt."""
    for learner in (*map(Learner.of, half_fraction(len(FACTORS))), Learner(*NAIVE), Learner(*FROZEN)):
        yield "icg", learner
    for cell in (RATE, SCHEDULE):
        yield "ish", Learner(*cell)


def models(model: str, seeds: Iterable[int], arms: Iterable[tuple[str, Learner]]) -> Iterator[PlannedRun]:
    """Plan arms of a language model, those of a seed before the next seed."""
    for seed, (game, learner) in product(seeds, list(arms)):
        own = {"game": "icg(labels=(S, G), rounds=10)"} if model == "smollm2" else {"final_evaluation.rounds": "[20]"}
        targets = {"target_policies": start(game, reciprocal=False, together=False)}
        changes = {"seed": str(seed), **own, **targets, **model_seat(model, learner)}
        yield PlannedRun(f"{model}-{game}-{learner.name}-{seed}", of_pair(game, "baseline", model).recipes, changes)


def planned(study: str, seeds: Iterable[int] | None = None) -> Iterator[PlannedRun]:
    """Plan the runs of a study, of its own seeds by default."""
    if study == "tables":
        return tables(seeds or SEEDS)
    if study == "tiny":
        return models("tiny", seeds or TINY_SEEDS, tiny_arms())
    return models("smollm2", seeds or SEEDS[:2], [("icg", Learner(*cell)) for cell in (RATE, SCHEDULE)])


def main() -> None:
    """Make the runs of a study, or the tables."""
    parser = command_line(__doc__, ["tables", "tiny", "smollm2", "table"], seeds=None)
    parser.add_argument("--out", type=Path, default=Path("docs/results/shaping.json"), help="JSON of `table`")
    arguments = parser.parse_args()
    if arguments.study == "table":
        table(arguments.folder, arguments.out)
        return
    run(planned(arguments.study, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
