"""Runs of experiments/declared/cheap-talk.toml, resumable: `python experiments/cheap_talk.py runs/cheap-talk tables`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.
`python experiments/cheap_talk.py runs/cheap-talk table` writes docs/results/cheap-talk.json, and prints its tables and
tests; with `--out FILE` it writes another file, so that the clone stays clean between two parts.

`tables`  Tables in self-play at five biases, from the start that mostly tells the truth and from an even one.
`fixed`   At bias 1: the model against readers that do not learn, SEPO with its term for deception and without, and
          self-play with the entropy bonus of docs/results/press.md, of the model and of tables.
`models`  The model in self-play at five biases, from an SFT model of each seed.
`blank`   The model in self-play at two biases without SFT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from cheap_talk_table import table
from experiment import command_line, run

from stratagem.sweeps.planned_run import PlannedRun

RECIPES = Path("recipes/press")
MODEL, TABLE = (RECIPES / "cheap-talk.toml",), (RECIPES / "cheap-talk-table.toml",)
SEEDS = range(1, 21)
"""Seeds; 0 and those from 101 on were of pilots."""
BIASES = ("0", "0.5", "1", "1.5", "2")
FIXED = "1"
"""Bias of the arms with fixed readers and of SEPO."""
LOW_ENTROPY = "0.02"
"""Coefficient of the entropy bonus in docs/results/press.md."""
READERS = {"honest": "Honest", "equilibrium": "Equilibrium"}
"""Readers that do not learn: one believes every statement, one plays the most informative interval equilibrium."""
WEIGHTS = {"without": "0", "with": "2"}
"""Weights of SEPO's penalty for deception, by arm."""
Changes = Mapping[str, str]
SEPO: Changes = {
    "exact_budget": "40000",
    "evaluate_every": "20",
    "stop": '{ metric = "sender-receiver/validation/payoff", window = 5, tolerance = 0.05 }',
    "sepo.iterations": "400",
    "sepo.loss.entropy_coef": "0.3",
    "sepo.optimizer.learning_rate": "1e-4",
}
"""Changes of recipes/press/deception.toml: the stopping rule, and the rates of recipes/press/cheap-talk.toml."""
SEATS = ("sender", "receiver")


def game(bias: str) -> str:
    """Return the game's text."""
    return f"sender-receiver(bias={bias})"


def of_model(bias: str) -> Changes:
    """Return the changes of a model's run at a bias."""
    return {"games": f'["{game(bias)}"]'}


def of_table(bias: str, **changes: str) -> Changes:
    """Return the changes of a tabular run at a bias, with some that both seats have."""
    both = {f"seats.{seat}.{key}": value for seat in SEATS for key, value in changes.items()}
    return {"game": f'"{game(bias)}"', **both}


def started(folder: Path, seed: int) -> tuple[PlannedRun, Changes]:
    """Return the run of the SFT model of a seed, and the changes that start from it."""
    made = PlannedRun(f"sft-{seed}", MODEL, {"reinforce.iterations": "1", "seed": str(seed)}, first=True)
    return made, {"model": f"run:{folder / made.name}@start", "sft.epochs": "0", "seed": str(seed)}


def tables(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Tables from the start that mostly tells the truth, and from even probabilities with noise."""
    even = {"initial_player": '""', "initial_probability": "0.1", "initial_std": "0.1"}
    for bias in BIASES:
        for seed in seeds:
            own = {"seed": str(seed)}
            yield PlannedRun(f"table-{bias}-{seed}", TABLE, {**of_table(bias), **own})
            yield PlannedRun(f"table-even-{bias}-{seed}", TABLE, {**of_table(bias, **even), **own})


def fixed(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Readers that do not learn, SEPO's term, and the low entropy bonus, at one bias."""
    low = {"reinforce.loss.entropy_coef": LOW_ENTROPY}
    payoff = {"stop.metric": '"sender-receiver/validation/payoff"'}
    for seed in seeds:
        sft, start = started(folder, seed)
        yield sft
        own = {**of_model(FIXED), **start}
        yield PlannedRun(f"low-{FIXED}-{seed}", MODEL, {**own, **low})
        changes = {**of_table(FIXED, entropy_coef=LOW_ENTROPY), "seed": str(seed)}
        yield PlannedRun(f"table-low-{FIXED}-{seed}", TABLE, changes)
        for name, reader in READERS.items():
            against = {"opponents": f'["{reader}"]', "reinforce.opponents": f"{{ {reader} = 1.0 }}", **payoff}
            yield PlannedRun(f"reader-{name}-{FIXED}-{seed}", MODEL, {**own, **against})
        for name, weight in WEIGHTS.items():
            changes = {**SEPO, "model": start["model"], "seed": str(seed), "sepo.deception_weight": weight}
            yield PlannedRun(f"sepo-{name}-{FIXED}-{seed}", (RECIPES / "deception.toml",), changes)


def models(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The model in self-play at every bias, from the SFT model of the seed."""
    for seed in seeds:
        sft, start = started(folder, seed)
        yield sft
        for bias in BIASES:
            yield PlannedRun(f"self-{bias}-{seed}", MODEL, {**of_model(bias), **start})


def blank(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The model without SFT, where telling the state is an equilibrium."""
    for seed in seeds:
        for bias in ("0", "0.5"):
            changes = {**of_model(bias), "sft.epochs": "0", "seed": str(seed)}
            yield PlannedRun(f"blank-{bias}-{seed}", MODEL, changes)


STUDIES: Mapping[str, Callable[[Path, Iterable[int]], Iterator[PlannedRun]]] = {
    "tables": tables,
    "fixed": fixed,
    "models": models,
    "blank": blank,
}


def main() -> None:
    """Make the runs of a part, or the tables."""
    parser = command_line(__doc__, [*STUDIES, "table"], seeds=SEEDS)
    parser.add_argument("--out", type=Path, default=Path("docs/results/cheap-talk.json"), help="JSON of `table`")
    arguments = parser.parse_args()
    if arguments.study == "table":
        table(arguments.folder, arguments.out)
        return
    run(STUDIES[arguments.study](arguments.folder, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
