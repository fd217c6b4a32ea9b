"""REINFORCE with a baseline for each seat against two controls in self-play: runs, and the table of the page.

`python experiments/reinforce.py runs/reinforce kuhn` makes the runs that are missing, and so does `tic-tac-toe`;
`python experiments/reinforce.py runs/reinforce table` writes docs/results/reinforce.json and prints the table.
Call it from the project's root, in a clean clone. All arms start from one SFT model of the game, play the same number
of episodes, take the same number of optimizer steps, and have the same loss and learning rate.

`reinforce` The baseline is a moving average for each seat.
`rloo`      The same runs; the baseline is the mean of the seat's other episodes in the batch. Nothing else differs.
`grpo`      GRPO: episodes of one deal make a group, and advantages are divided by the group's standard deviation.

The family of tests was declared before these runs: `reinforce` less each control, in exploitability (Kuhn poker) and in
the win rates against `random` and `mcts:10` (tic-tac-toe); two-sided sign flips of the differences between runs of one
seed, with Holm's correction over all six.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runs import Run, make
from stratagem.evaluation.statistics import holm, paired_difference
from stratagem.games.key import Key
from stratagem.provenance import provenance
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import read_metrics

ARMS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "reinforce": ("reinforce", {}),
    "rloo": ("reinforce", {"reinforce.advantage": "rloo"}),
    "grpo": ("grpo", {}),
}
"""Algorithm of each arm, and what is changed in its recipe."""
CONTROLS = ("rloo", "grpo")
SEEDS = range(5, 17)
"""Seeds 0 to 4 were seen before the family was declared."""
OUT = Path("docs/results/reinforce.json")
SHORT = {
    "kuhn": {
        "opponents": '["NashApprox"]',
        "validation_episodes": "2",
        "test_episodes": "2",
        "ALGORITHM.iterations": "40",
    },
    "tic-tac-toe": {"evaluate_every": "30", "validation_episodes": "1", "ALGORITHM.iterations": "30"},
}
"""Changes in the recipes of all arms, so that all runs fit into minutes of one core."""
METRICS = (
    ("kuhn", "exploitability"),
    ("tic-tac-toe", "win rate against random"),
    ("tic-tac-toe", "win rate against mcts:10"),
)
FAMILY = [(game, metric, control) for game, metric in METRICS for control in CONTROLS]


def runs(folder: Path, game: str, seeds: Iterable[int]) -> Iterator[Run]:
    """The SFT model, and then all arms of every seed."""
    recipe = Path("recipes/reinforce") / f"{game}.toml"
    yield Run(f"{game}-sft", (recipe,), {**_short(game, "reinforce"), "reinforce.iterations": "1"})
    start = {"model": f"run:{folder}/{game}-sft@start", "sft.epochs": "0"}
    for seed in seeds:
        for arm, (algorithm, own) in ARMS.items():
            changes = {**_short(game, algorithm), **own, **start, "seed": str(seed)}
            yield Run(f"{game}-{arm}-{seed}", (Path("recipes") / algorithm / f"{game}.toml",), changes)


def _short(game: str, algorithm: str) -> dict[str, str]:
    return {name.replace("ALGORITHM", algorithm): value for name, value in SHORT[game].items()}


def figures(path: Path, game: str) -> dict[str, float]:
    """Measures of the last policy of a run, and of the policy that it started from."""
    if game == "kuhn":
        curve = read_metrics(RunFolder.open(path))["kuhn/exact/exploitability"].values
        return {"exploitability": curve[-1], "exploitability at the start": curve[0]}
    told = json.loads((path / "evaluation.json").read_text(encoding="utf-8"))
    rows = {told["rows"][row["player"]]: row for row in told["evaluation"]["games"][0]["players"]}
    last = next(row for title, row in reversed(rows.items()) if "step" in title)
    return {f"win rate against {name}": value for name, value in wins(last).items()}


def wins(row: dict[str, Any]) -> dict[str, float]:
    """Win rates by opponent."""
    return {one["opponent"]: float(one["win_rate"]["mean"]) for one in row["opponents"]}


def collected(folder: Path) -> list[dict[str, Any]]:
    """Every finished run with its seed, arm, figures, command and commit."""
    found = []
    for path in sorted(folder.glob("*/evaluation.json")):
        game, _, seed = path.parent.name.rpartition("-")
        game, _, arm = game.rpartition("-")
        if arm in ARMS:
            info = json.loads((path.parent / "run.json").read_text(encoding="utf-8"))
            made = {name: info[name] for name in ("command", "commit", "dirty")}
            found.append({"game": game, "arm": arm, "seed": int(seed), **figures(path.parent, game), **made})
    return found


def compared(rows: list[dict[str, Any]], game: str, metric: str, control: str) -> dict[str, Any] | None:
    """REINFORCE less a control over the declared seeds that both have; None where fewer than two have both."""
    arms = ("reinforce", control)
    by_arm = {arm: {r["seed"]: r[metric] for r in rows if (r["game"], r["arm"]) == (game, arm)} for arm in arms}
    seeds = [seed for seed in SEEDS if all(seed in by_arm[arm] for arm in arms)]
    if len(seeds) < 2:
        return None
    first, second = ([by_arm[arm][seed] for seed in seeds] for arm in arms)
    key = Key(0).at("experiments", "reinforce", game, metric, control)
    difference = paired_difference(first, second, key)
    return {
        "game": game,
        "metric": metric,
        "control": control,
        "seeds": seeds,
        "means": [float(np.mean(values)) for values in (first, second)],
        "difference": difference.estimate.mean,
        "standard error": difference.estimate.se,
        "p": difference.p_value,
        "detectable": difference.detectable,
    }


def table(folder: Path) -> None:
    """Write the JSON, and print the table of the page."""
    rows = collected(folder)
    tests = [one for test in FAMILY if (one := compared(rows, *test)) is not None]
    missing = len(FAMILY) - len(tests)
    for one, corrected in zip(tests, holm([*(one["p"] for one in tests), *[1.0] * missing]), strict=False):
        one["p (Holm)"] = corrected
    OUT.write_text(json.dumps({"made by": provenance(), "tests": tests, "runs": rows}, indent=1) + "\n", "utf-8")
    print(f"| game | metric | control | seeds | REINFORCE | control | difference | p | p (Holm, {len(FAMILY)}) |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for one in tests:
        means = (f"{mean:.3f}" for mean in one["means"])
        difference = f"{one['difference']:+.3f} ± {one['standard error']:.3f}"
        cells = (one["game"], one["metric"], one["control"], str(len(one["seeds"])), *means, difference)
        print("|", " | ".join((*cells, f"{one['p']:.3f}", f"{one['p (Holm)']:.3f}")), "|")


def main() -> None:
    """Run what is not done yet, one after the other, or make the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("study", choices=[*SHORT, "table"])
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many of the declared seeds")
    asked = parser.parse_args()
    if asked.study == "table":
        table(asked.folder)
        return
    make(runs(asked.folder, asked.study, SEEDS[: asked.seeds]), asked.folder)


if __name__ == "__main__":
    main()
