"""Every run of docs/results/sepo.md, resumable: `python experiments/sepo.py runs/sepo [--only kuhn] [--seeds 5]`.

To be called from the project's root. A run that is finished is passed over, one that was broken off goes on. Ablations
start from the warm start of the main run of the same game and seed, so they differ in nothing else.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from runs import Run, make

RECIPES = Path("recipes/sepo")
GAMES = ("kuhn", "ipd", "auction", "negotiation-v1", "negotiation-v2")
WORST = {"ipd": {"games": '["ipd(rounds=4)"]', "sepo.refresh": "1"}}
"""Where the exact best response is found by induction over all histories, the game is shorter."""
VARIANTS: dict[str, dict[str, str]] = {
    "none": {"sepo.credit": "none"},
    "shared": {"sepo.credit": "shared", "sepo.source": "pool"},
    "rollout": {"sepo.credit": "rollout", "sepo.source": "pool"},
    "probe": {"sepo.credit": "probe", "sepo.source": "pool"},
    "shared-worst": {"sepo.credit": "shared", "sepo.source": "best_response"},
    "rollout-worst": {"sepo.credit": "rollout", "sepo.source": "best_response"},
    "worst": {"sepo.credit": "probe", "sepo.source": "best_response"},
    "episode": {"sepo.normalise": "episode"},
    "horizon-round": {"sepo.horizon": "round"},
}
"""What an ablation changes: who answers for a penalty, who the adversary is, how an advantage is taken."""
ABLATED = ("kuhn", "ipd")


def main_runs(model: str, seeds: int) -> Iterator[Run]:
    """Base, SFT and SEPO in every game."""
    for seed in range(seeds):
        for game in GAMES:
            yield Run(f"{game}-{model}-{seed}", RECIPES / f"{game}-{model}.toml", {"seed": str(seed)})


def ablations(folder: Path, seeds: int) -> Iterator[Run]:
    """Each variant in two games, measured at every step."""
    for seed in range(seeds):
        for game in ABLATED:
            start = {"model": f"run:{folder / f'{game}-tiny-{seed}'}@start", "warm_start.epochs": "0"}
            for name, changes in VARIANTS.items():
                settings = {"seed": str(seed), "sepo.signal_every": "1", **start, **WORST.get(game, {}), **changes}
                yield Run(f"{game}-{name}-{seed}", RECIPES / f"{game}-tiny.toml", settings)


def main() -> None:
    """Run what is not done yet, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("--only", default="", help="runs whose names hold this")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--model", default="tiny", help="tiny or smollm2")
    parser.add_argument("--ablations", action="store_true", help="the ablations in place of the main runs")
    asked = parser.parse_args()
    folder = asked.folder
    runs = ablations(folder, asked.seeds) if asked.ablations else main_runs(asked.model, asked.seeds)
    make((run for run in runs if asked.only in run.name), folder)


if __name__ == "__main__":
    main()
