"""Runs of SCO-PAL's experiments with `tiny`, resumable: `python experiments/scopal.py runs/scopal main --seeds 3`.

Call it from the project's root. RUNS/start is the SFT model that all begin with, which learnt what random play and
search played, good or bad; with `--start search` the better half of search's play, with `--start rules` what won in
random play, with `--start small` a model of 3.7 million weights learns from play of mixed strength. With `--start
board` it learnt to read the board of tic-tac-toe, and all runs are in that game. A run is RUNS/VARIANT-SEED; the runs
of an analysis differ from the main run, `self`, in one thing. What differs in refinement alone learns from the games of
the main run, so that comes first.
`every` stands for all analyses. `experiments/scopal_table.py` makes the tables and pictures.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from experiment import command_line, run
from step_labels import relabel

from stratagem.algorithms.scopal.policy import STAGES
from stratagem.base.errors import StratagemError
from stratagem.language.models.run_models import read_run_models
from stratagem.sweeps.planned_run import PlannedRun

RECIPE = Path("recipes/scopal/tiny.toml")
BOARD = Path("recipes/scopal/board.toml")
GRPO = Path("recipes/scopal/tiny-grpo.toml")
STARTS = {
    "mixed": Path("recipes/scopal/tiny-start.toml"),
    "search": Path("recipes/scopal/tiny-search.toml"),
    "rules": Path("recipes/scopal/tiny-rules.toml"),
    "small": Path("recipes/scopal/tiny-start.toml"),
    "board": Path("recipes/reading/board.toml"),
}
START_CHANGES: Mapping[str, Mapping[str, str]] = {
    "small": {
        "model": "small",
        "interaction.teachers": '{ random = 1, "mcts:10" = 1, "mcts:100" = 1 }',
        "samples.max_samples": "48000",
    }
}
"""Settings that a start changes in its recipe."""
MAIN = "self"
DIRECT = "direct"
"""The run of recipes/scopal/smollm2.toml, which begins from the model as it is."""
STAGED = (MAIN, "iterations", DIRECT)
"""Of which every stage is measured, and what they began with; of the others, which begin alike, what came of them."""
TEACHERS = ("mcts-5", "mcts-10", "mcts-100", "mcts-1000")
OPPONENTS = ("random", "mcts-5", "mcts-10", "mcts-100", "mcts-200", "mcts-500", "mcts-1000")
TEMPERATURES = ("0.2", "0.5", "1.0", "1.2")
REFINED = {
    "kto": '["kto"]',
    "joint": '["joint"]',
    "bc-dpo": '["bc", "dpo"]',
    "bc-grpo": '["bc", "grpo"]',
    "winning": '["winning"]',
    "spag": '["spag"]',
}
ALONE = {"imitate": '["imitate"]', "grpo": '["grpo"]'}
"""Cloning of all replies, which is the control without rewards, and GRPO without cloning before it."""
ESTIMATORS = ("discounted", "beta")
RELATIVE = "relative"
"""KTO alone, where an action is desirable if it won more often than the other actions of its situation."""
FEW, MANY = 90, 474
"""Optimizer steps that GRPO and KTO take over 12,000 draws of recorded games: GRPO drops replies without a sibling."""
EQUAL = {f"{method}-{steps}": (method, steps) for steps in (FEW, MANY) for method in ("kto", "dpo", "grpo")}
"""Cloning and then a method for so many steps of 32 samples each."""
FRESH = "fresh"
"""GRPO on fresh rollouts after cloning, for about as many optimizer steps."""
JUDGED = f"{FRESH}-judged"
"""The outcome of FRESH, measured by the games of all others."""
UNTRAINED = "untrained"
"""The weights before SFT, measured by the same games."""

ANALYSES: Mapping[str, Sequence[str]] = {
    "main": (MAIN, "winning", "spag"),
    "methods": (MAIN, *REFINED),
    "reader": (MAIN, *ALONE),
    "labels": (MAIN, "kto", RELATIVE),
    "opponents": (MAIN, *(f"against-{name}" for name in OPPONENTS)),
    "scaling": (MAIN, "against-mcts-5", "scale-1", "scale-2"),
    "imitation": (MAIN, *(f"teacher-{name}" for name in TEACHERS), "combined"),
    "iterations": ("iterations", "twice"),
    "temperature": (MAIN, *(f"temperature-{value}" for value in TEMPERATURES)),
    "balance": (MAIN, "unbalanced"),
    "estimators": (MAIN, *ESTIMATORS),
    "untrained": (MAIN, UNTRAINED),
    "equal": (MAIN, *EQUAL, FRESH, JUDGED),
}
"""The variants of each analysis, the main run among them."""


NEEDED = (MAIN, FRESH, "against-mcts-5", "teacher-mcts-5")
"""Variants whose runs others begin from."""


def player(name: str) -> str:
    """The player whose name a folder can bear."""
    return name.replace("mcts-", "mcts:")


def changes(variant: str, folder: Path, seed: int) -> dict[str, str]:
    """Changes of a variant to the main run's recipe."""
    kind, _, rest = variant.partition("-")
    main = folder / f"{MAIN}-{seed}"
    if variant in EQUAL:
        method, steps = EQUAL[variant]
        refine = {"refine": f'["bc", "{method}"]', "reward.table": f"{main}/steps/0.parquet"}
        return {**refine, f"{method}.max_steps": str(steps)}
    if variant == FRESH:
        return {"model": cloned(folder, seed)}
    if variant in (UNTRAINED, JUDGED):
        model = untrained(folder) if variant == UNTRAINED else f"run:{folder}/{FRESH}-{seed}@last"
        return {"refine": "[]", "reward.table": f"{main}/steps/0.parquet", "model": model}
    if refinement := (REFINED | ALONE | {RELATIVE: REFINED["kto"]}).get(variant):
        return {"refine": refinement, "reward.table": str(labelled(variant, folder, seed))}
    if variant in ESTIMATORS:
        return {"reward.step_reward": variant, "interaction.records": f'["{main}/record"]'}
    if kind == "against":
        return {"interaction.opponents": f'{{ "{player(rest)}" = 1 }}'}
    if kind == "teacher":
        return {"interaction.teachers": f'{{ "{player(rest)}" = 1 }}', "refine": '["bc"]'}
    if kind == "scale":
        return scaled(folder, seed, ratio=rest == "2")
    if kind == "combined":
        return {"model": imitated(folder, seed)}
    return {
        MAIN: {},
        "iterations": {"iterations": "3"},
        "twice": {"iterations": "2", "samples.max_samples": "10000"},
        "temperature": {"interaction.temperature": rest},
        "unbalanced": {"samples.balance": "false"},
    }[kind]


def labelled(variant: str, folder: Path, seed: int) -> Path:
    """Return the main run's table of steps, written anew for labels of each situation."""
    table = folder / f"{MAIN}-{seed}" / "steps" / "0.parquet"
    return relabel(table, folder / "labels" / f"{seed}.parquet") if variant == RELATIVE else table


def untrained(folder: Path) -> str:
    """Return the weights before SFT."""
    recipe = tomllib.loads((folder / "start" / "config.toml").read_text(encoding="utf-8"))
    return str(recipe["model"])


def cloned(folder: Path, seed: int) -> str:
    """Return the main run's policy after cloning."""
    run = folder / f"{MAIN}-{seed}"
    steps = [path.name.partition("-")[0] for path in (run / STAGES).glob("*-bc")]
    if len(steps) != 1:
        raise StratagemError(f"There is no stage of cloning in {run / STAGES}.")
    return adapted(folder, run, str(int(steps[0])))


def imitated(folder: Path, seed: int) -> str:
    """Return the model that imitated mcts:5."""
    return adapted(folder, folder / f"teacher-mcts-5-{seed}", "last")


def adapted(folder: Path, run: Path, label: str) -> str:
    """Return a model of a run, spelt out: its base is that of the start, outside of the run's folder."""
    base, own = read_run_models(folder / "start").models["last"], read_run_models(run).models[label]
    return f"dir:{folder}/start/{base.model.removeprefix('dir:')}+adapter:policy={run}/{own.adapter}"


def scaled(folder: Path, seed: int, *, ratio: bool) -> dict[str, str]:
    """The games against mcts:5 learnt from for as many steps as those of self-play; or the good ones for as many.

    Copies of a sample are epochs here. Nothing else would act: weights are relative to one another, and KTO brings both
    kinds to one sum, so the second scaling differs from the first in how long is cloned.
    """
    few, many = (num_samples(folder / f"{name}-{seed}") for name in ("against-mcts-5", MAIN))
    usual = tomllib.loads(RECIPE.read_text(encoding="utf-8"))
    counted = {"bc": "advantageous" if ratio else "samples", "kto": "samples"}
    times = {stage: usual[stage]["epochs"] * many[name] / few[name] for stage, name in counted.items()}
    epochs = {f"{stage}.epochs": str(max(1, round(number))) for stage, number in times.items()}
    return {"reward.table": f"{folder}/against-mcts-5-{seed}/steps/0.parquet", **epochs}


def num_samples(run: Path) -> dict[str, float]:
    """Count the samples of a run's games, and the advantageous ones."""
    counts: dict[str, float] = json.loads((run / "steps" / "0.json").read_text(encoding="utf-8"))["all"]
    return counts


def runs(analyses: Sequence[str], folder: Path, seeds: Iterable[int], start: str) -> Iterator[PlannedRun]:
    """Plan every run once, in the order in which they need one another."""
    yield PlannedRun("start", (STARTS[start],), START_CHANGES.get(start, {}), first=True)
    begin = {"model": f"run:{folder}/start@last"}
    variants = dict.fromkeys(variant for name in analyses for variant in ANALYSES[name])
    for seed in seeds:
        for variant in variants:
            stages = {} if variant in (*STAGED, FRESH) else {"final_evaluation.stages": "last"}
            try:
                own = changes(variant, folder, seed)
            except (FileNotFoundError, StratagemError) as error:
                reason = "since an earlier run that it needs is not finished"
                print(f"{variant}-{seed} is skipped, {reason}: {error}", file=sys.stderr)
                continue
            recipe = GRPO if variant == FRESH else BOARD if start == "board" else RECIPE
            settings = {"seed": str(seed), **begin, **own, **stages}
            yield PlannedRun(f"{variant}-{seed}", (recipe,), settings, first=variant in NEEDED)


def main() -> None:
    """Make the runs of some analyses."""
    parser = command_line(__doc__, seeds=range(1))
    parser.add_argument(
        "analyses", nargs="+", choices=[*ANALYSES, "every"], metavar="ANALYSIS", help=", ".join(ANALYSES)
    )
    parser.add_argument("--start", choices=STARTS, default="mixed", help="the teacher of the SFT")
    arguments = parser.parse_args()
    wanted = list(ANALYSES) if "every" in arguments.analyses else arguments.analyses
    run(runs(wanted, arguments.folder, arguments.seeds, arguments.start), arguments)


if __name__ == "__main__":
    main()
