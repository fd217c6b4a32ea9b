"""Runs of experiments/declared/alignment.toml, resumable: `python experiments/alignment.py runs/alignment ipd`; `icg`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.
`python experiments/alignment.py runs/alignment table` measures the finished runs, writes docs/results/alignment.json
and prints its tables and tests; with `--out FILE` it writes another file, so that the clone stays clean between parts.

Both seats are `tiny` from one base of the seed, and differ in how they learn. A naive learner is the learner by
advantage alignment with the weight 0. LOLA is a table that reads the five probabilities of the model before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path

from alignment_table import table
from experiment import command_line, run

from stratagem.sweeps.planned_run import PlannedRun

GAMES = ("ipd", "icg")
SEEDS = range(1, 11)
"""Seeds; 0 was of pilots."""
WEIGHT, DISCOUNT = 0.2, 0.9
"""Settings of advantage alignment; the reward is divided by its standard deviation."""
LOLA_RATE = 0.1
"""Learning rate of LOLA: at 1 its policy is constant after one episode, before the model has moved."""
EVEN = {"ipd": 0.85, "icg": 0.5}
"""Initial probability of the first action of a table, about that of the models."""
ARMS = (
    ("naive", "naive"),
    ("aligned", "naive"),
    ("aligned", "aligned"),
    ("naive", "lola"),
    ("aligned", "lola"),
    ("naive", "shaper"),
    ("aligned", "shaper"),
)
"""Learners of both seats."""


def language_seat(learner: str) -> str:
    """Return the setting `ppo.advantage` of a learner."""
    weight = WEIGHT if learner == "aligned" else 0.0
    return f'{{ type = "advantage_alignment", alignment_weight = {weight}, discount = {DISCOUNT} }}'


def second_seat(learner: str, game: str) -> Mapping[str, str]:
    """Return the changes of the second seat."""
    if learner == "lola":
        return {"seats.two": f'{{ learner = "lola", learning_rate = {LOLA_RATE}, initial_probability = {EVEN[game]} }}'}
    if learner == "shaper":
        return {"seats.two": '{ learner = "shaper", mode = "direct" }'}
    return {"seats.two.ppo.advantage": language_seat(learner)}


def runs(game: str, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Yield all arms of a seed before the next seed."""
    folder = Path("recipes/shapellm")
    recipes = (folder / "games" / f"{game}.toml", folder / "pairs/aligned.toml", folder / "models/tiny.toml")
    for seed, (first, second) in product(seeds, ARMS):
        changes = {
            "seed": str(seed),
            "seats.one.ppo.advantage": language_seat(first),
            **second_seat(second, game),
            "final_evaluation.rounds": "[20]",
        }
        yield PlannedRun(f"{game}-{first}-{second}-{seed}", recipes, changes)


def main() -> None:
    """Make the runs of a game, or the tables."""
    parser = command_line(__doc__, [*GAMES, "table"], seeds=SEEDS)
    parser.add_argument("--out", type=Path, default=Path("docs/results/alignment.json"), help="JSON of `table`")
    arguments = parser.parse_args()
    if arguments.study == "table":
        table(arguments.folder, arguments.out)
        return
    run(runs(arguments.study, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
