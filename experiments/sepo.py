"""Every run of docs/results/sepo.md, resumable: `python experiments/sepo.py runs/sepo STUDY [--only kuhn] [--seeds 5]`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.

`main`     Base, SFT and SEPO in five games, by the recipes as they are.
`control`  The same without the penalties for exploitability and collusion, from the SFT model of the main run.
`arms`     Who the penalty is credited to x what a round is worth, in ipd and kuhn, from one SFT model a seed.
`pool`     Four of these arms in kuhn with many seeds: does the pool's figure see exploitability?
`bits`     Two of them from ten copies of one SFT model, in each of which one weight has its last bit flipped.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from runs import Run, make
from stratagem.games.key import Key

RECIPES, MODELS = Path("recipes/sepo"), Path("recipes/models")
GAMES = ("kuhn", "ipd", "auction", "negotiation-v1", "negotiation-v2")
GAME_CHANGES: Mapping[str, Mapping[str, str]] = {"ipd": {"games": '["ipd(rounds=4)"]'}, "kuhn": {}}
"""The games of the arms; the exact best response in ipd walks all histories, so that game is shorter."""
CREDITS: Mapping[str, Mapping[str, str]] = {
    "none": {"sepo.penalty_credit": "none"},
    "rollout": {"sepo.penalty_credit": "rollout", "sepo.penalty_source": "pool"},
    "probe": {"sepo.penalty_credit": "probe", "sepo.penalty_source": "pool"},
    "best": {"sepo.penalty_credit": "probe", "sepo.penalty_source": "best_response"},
}
"""Settings of `penalty_credit` and `penalty_source`."""
REWARDS: Mapping[str, Mapping[str, str]] = {
    "own": {"sepo.advantage.return_to_go": "false"},
    "togo": {"sepo.advantage.return_to_go": "true"},
}
"""Settings of the reward of a round: its own reward, or the return from it on."""
ARMS: Mapping[str, Mapping[str, str]] = {
    **{f"{c}-{r}": {**CREDITS[c], **REWARDS[r]} for r in REWARDS for c in CREDITS},
    "rollout-episode": {**CREDITS["rollout"], "sepo.advantage.unit": "episode"},
}
"""`rollout-own` is the paper's; `rollout-episode` is its Appendix D; `none-*` are the control arms."""
BIT_ARMS = ("none-togo", "best-togo")
POOL_ARMS = ("none-togo", "rollout-togo", "probe-togo", "best-togo")


def recipes(game: str, model: str) -> tuple[Path, ...]:
    """Recipes of a game and a model: one of their own, or the game's and the model's."""
    both = RECIPES / f"{game}-{model}.toml"
    return (both,) if both.exists() else (RECIPES / f"{game}.toml", MODELS / f"{model}.toml")


def main_runs(folder: Path, seeds: int, model: str = "tiny") -> Iterator[Run]:
    """Base, SFT and SEPO in every game."""
    for seed in range(seeds):
        for game in GAMES:
            yield Run(f"{game}-{model}-{seed}", recipes(game, model), {"seed": str(seed)})


def controls(folder: Path, seeds: int) -> Iterator[Run]:
    """The main runs without probes; the externality penalty, the SFT model and everything else is the same."""
    for seed in range(seeds):
        for game in GAMES:
            start = {"model": f"run:{folder / f'{game}-tiny-{seed}'}@start", "sft.epochs": "0"}
            changes = {"seed": str(seed), **start, **CREDITS["none"]}
            yield Run(f"{game}-control-{seed}", recipes(game, "tiny"), changes)


def arms(folder: Path, seeds: int) -> Iterator[Run]:
    """All arms in ipd and kuhn."""
    yield from _arms(folder, range(seeds), ("kuhn", "ipd"), tuple(ARMS))


def pool(folder: Path, seeds: int) -> Iterator[Run]:
    """Four arms in kuhn."""
    yield from _arms(folder, range(seeds), ("kuhn",), POOL_ARMS)


def bits(folder: Path, seeds: int) -> Iterator[Run]:
    """Arms of seed 0 in kuhn from perturbed copies of its SFT model, named by the copy in the place of the seed."""
    yield from _arms(folder, range(1), ("kuhn",), ())
    for copy in range(10):
        start = perturbed(folder / "kuhn-sft-0" / "base" / "model", folder / f"kuhn-perturbed-{copy}", copy)
        changes = {"seed": "0", **EVERY, "model": f"dir:{start}", "sft.epochs": "0"}
        for name in BIT_ARMS:
            yield Run(f"kuhn-{name}-bit-{copy}", recipes("kuhn", "tiny"), {**changes, **ARMS[name]})


def perturbed(model: Path, copy: Path, number: int) -> Path:
    """A copy of a model in which the last bit of one weight is flipped, another weight for each number."""
    if not (copy / "model.safetensors").is_file():
        shutil.copytree(model, copy, ignore=lambda _, names: [name for name in names if name == "model.safetensors"])
        weights = load_file(model / "model.safetensors")
        key = Key(0).at("bits", number)
        rows = weights[sorted(weights)[key.at("tensor").integer(len(weights))]].view(np.int32).reshape(-1)
        rows[key.at("weight").integer(len(rows))] ^= 1
        save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    return copy


EVERY = {"sepo.signal_every": "1", "sepo.best_response_every": "1"}
"""Signals are measured and adversaries renewed in every iteration."""


def _arms(folder: Path, seeds: range, games: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Run]:
    """The SFT model of a seed, and the arms that start from it and are measured at every step."""
    for seed in seeds:
        for game in games:
            parts, own = recipes(game, "tiny"), {"seed": str(seed), **GAME_CHANGES[game]}
            sft = f"{game}-sft-{seed}"
            yield Run(sft, parts, {**own, "sepo.iterations": "1"})
            start = {"model": f"run:{folder / sft}@start", "sft.epochs": "0"}
            for name in names:
                yield Run(f"{game}-{name}-{seed}", parts, {**own, **EVERY, **start, **ARMS[name]})


STUDIES: Mapping[str, Callable[[Path, int], Iterator[Run]]] = {
    "main": main_runs,
    "control": controls,
    "arms": arms,
    "pool": pool,
    "bits": bits,
    "smollm2": lambda folder, seeds: main_runs(folder, seeds, "smollm2"),
}


def main() -> None:
    """Run what is not done yet, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--only", default="", help="runs whose names hold this")
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    runs = STUDIES[asked.study](asked.folder, asked.seeds)
    make((run for run in runs if asked.only in run.name), asked.folder)


if __name__ == "__main__":
    main()
