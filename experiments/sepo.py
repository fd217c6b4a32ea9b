"""Every run of docs/results/sepo.md, resumable: `python experiments/sepo.py runs/sepo STUDY [--only kuhn] [--seeds 5]`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.

`main`     Base, SFT and SEPO in five games, by the recipes as they are.
`control`  The same without the penalties for exploitability and collusion, from the SFT model of the main run.
`arms`     Who the penalty is credited to x the value of a round, in ipd and kuhn, from one SFT model a seed.
`pool`     Four of these arms in kuhn with many seeds: does the pool's figure see exploitability?
`leduc`    Two of them in Leduc poker: the control, and the penalty by the best response.
`dice`     The same two in liar's dice, with one die of four faces each.
`smollm2`  `main` with SmolLM2-135M.
`smollm2-arms`  Three arms in kuhn with SmolLM2-135M: the control, and probes by the pool and by the best response.
`smollm2-leduc`  The control and the best response in Leduc poker with SmolLM2-135M, where its SFT passes a gate.
`reasoned` The control and the best response in kuhn with SmolLM2-135M that reasons before its action.
`reasoned-many`  The same with twelve times as many hands, for one GPU.
`front`    Five weights of the penalty in kuhn and in ipd, to see what a penalty costs.
`bits`     Two of them from ten copies of one SFT model, in each of which one weight has its last bit flipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from experiment import command_line, run
from safetensors.numpy import load_file, save_file

from stratagem.base.errors import StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.exploitability.exact import exact
from stratagem.players.catalogue import make_player
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.training.runs.files import new_folder
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

RECIPES, MODELS = Path("recipes/sepo"), Path("recipes/models")
GAMES = ("kuhn", "ipd", "auction", "negotiation-v1", "negotiation-v2")
LEDUC, DICE, SMOLLM2, LEDUC_SMOLLM2 = "leduc", "dice", "kuhn-smollm2", "leduc-smollm2"
REASONED, REASONED_MANY = "kuhn-reasoned", "kuhn-reasoned-many"
GAME_CHANGES: Mapping[str, Mapping[str, str]] = {
    "ipd": {"games": '["ipd(rounds=4)"]'},
    REASONED_MANY: {
        "engine": '{ type = "transformers", rows = 256 }',
        "max_tokens_per_microbatch": "8192",
        "sepo.groups_per_batch": "24",
    },
}
"""Settings of the arms; the exact best response in ipd walks all histories, so that game is shorter."""
RECIPE_NAMES = {REASONED_MANY: REASONED}
"""Names of the recipes of games that are not those of the games."""
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
RESPONSE_ARMS = ("none-togo", "best-togo")
"""The control, and the penalty by the best response."""
WEIGHTS = "model.safetensors"
POOL_ARMS = ("none-togo", "rollout-togo", "probe-togo", "best-togo")


FRONT: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "kuhn": ("sepo.exploitability_weight", "best-togo", ("0", "0.5", "1.5", "4.5", "13.5")),
    "ipd": ("sepo.externality_weight", "none-togo", ("0", "0.6", "1.8", "5.4", "16.2")),
}
"""The penalty of a game, the arm that has it alone, and its weights; 0 is the control."""


def recipes(game: str, model: str) -> tuple[Path, ...]:
    """Recipes of a game and a model: one of their own, or the game's and the model's."""
    name = RECIPE_NAMES.get(game, game)
    both = RECIPES / f"{name}-{model}.toml"
    return (both,) if both.exists() else (RECIPES / f"{name}.toml", MODELS / f"{model}.toml")


def main_runs(folder: Path, seeds: Iterable[int], model: str = "tiny") -> Iterator[PlannedRun]:
    """Base, SFT and SEPO in every game."""
    for seed in seeds:
        for game in GAMES:
            yield PlannedRun(f"{game}-{model}-{seed}", recipes(game, model), {"seed": str(seed)})


def controls(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The main runs without probes; the externality penalty, the SFT model and everything else is the same."""
    for seed in seeds:
        for game in GAMES:
            start = {"model": f"run:{folder / f'{game}-tiny-{seed}'}@start", "sft.epochs": "0"}
            changes = {"seed": str(seed), **start, **CREDITS["none"]}
            yield PlannedRun(f"{game}-control-{seed}", recipes(game, "tiny"), changes)


def arms(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """All arms in ipd and kuhn."""
    yield from _arms(folder, seeds, ("kuhn", "ipd"), tuple(ARMS))


def pool(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Four arms in kuhn."""
    yield from _arms(folder, seeds, ("kuhn",), POOL_ARMS)


def leduc(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The control and the penalty by the best response in Leduc poker, by the recipe as it is."""
    yield from _arms(folder, seeds, (LEDUC,), RESPONSE_ARMS, every={})


def dice(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The same in liar's dice."""
    yield from _arms(folder, seeds, (DICE,), RESPONSE_ARMS, every={})


def smollm2_arms(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The control, the probes of the pool and those of the best response in kuhn, with SmolLM2-135M."""
    yield from _arms(folder, seeds, ("kuhn",), ("none-togo", "probe-togo", "best-togo"), every={}, model="smollm2")


SOURCE = '[{ games = ["leduc"], teacher = "cfr:10", played_by = "random", num_examples = 3000 }]'
LEDUC_CHANGES: Mapping[str, str] = {
    "style": "plain",
    "sft.sources": SOURCE,
    "sft.epochs": "2",
    "sepo.group_size": "8",
    "sepo.groups_per_batch": "4",
    "sepo.iterations": "40",
    "sepo.best_response_every": "5",
}
"""Changes of the recipes of Leduc poker and of SmolLM2, which are composed."""
GATE = 0.5
"""Largest exact exploitability of SFT, as a share of random play's, from which the arms of a seed start."""


def smollm2_leduc(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The control and the best response in Leduc poker with SmolLM2-135M, in seeds whose SFT passes the gate."""
    parts = (RECIPES / "leduc-tiny.toml", MODELS / "smollm2.toml")
    for seed in seeds:
        own = {"seed": str(seed), **LEDUC_CHANGES}
        sft = f"{LEDUC_SMOLLM2}-sft-{seed}"
        yield PlannedRun(sft, parts, {**own, **CREDITS["none"], "sepo.iterations": "1"}, first=True)
        if passes_gate(folder / sft):
            start = {"model": f"run:{folder / sft}@start", "sft.epochs": "0"}
            for name in RESPONSE_ARMS:
                yield PlannedRun(f"{LEDUC_SMOLLM2}-{name}-{seed}", parts, {**own, **start, **ARMS[name]})


def passes_gate(sft: Path) -> bool:
    """Test whether SFT is at most half as exploitable as random play; True before there is a figure."""
    if not (sft / "evaluation.json").is_file():
        return True
    game = make_game(LEDUC)
    random = exact(game, make_player("random", game)).estimate
    assert random is not None
    return read_metrics(RunFolder.open(sft))[f"{LEDUC}/exact/exploitability"].values[0] <= GATE * random.mean


def reasoned(folder: Path, seeds: Iterable[int], game: str = REASONED) -> Iterator[PlannedRun]:
    """The control and the penalty by the best response in kuhn, with SmolLM2-135M that reasons before its action."""
    yield from _arms(folder, seeds, (game,), RESPONSE_ARMS, every={}, model="smollm2", options="+dtype=bf16")


def front(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Weights of one penalty: exploitability in kuhn and externality in ipd, from one SFT model a seed."""
    for seed in seeds:
        for game, (setting, arm, weights) in FRONT.items():
            yield from _arms(folder, [seed], (game,), ())
            start = {"model": f"run:{folder / f'{game}-sft-{seed}'}@start", "sft.epochs": "0"}
            changes = {"seed": str(seed), **GAME_CHANGES.get(game, {}), **EVERY, **start, **ARMS[arm]}
            for weight in weights:
                yield PlannedRun(f"{game}-front-{weight}-{seed}", recipes(game, "tiny"), {**changes, setting: weight})


def bits(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Arms of seed 0 in kuhn from perturbed copies of its SFT model, named by the copy in the place of the seed."""
    yield from _arms(folder, [0], ("kuhn",), ())
    for copy in range(10):
        start = perturbed(folder / "kuhn-sft-0" / "base" / "model", folder / f"kuhn-perturbed-{copy}", copy)
        changes = {"seed": "0", **EVERY, "model": f"dir:{start}", "sft.epochs": "0"}
        for name in RESPONSE_ARMS:
            yield PlannedRun(f"kuhn-{name}-bit-{copy}", recipes("kuhn", "tiny"), {**changes, **ARMS[name]})


def perturbed(model: Path, copy: Path, number: int) -> Path:
    """Return a copy of a model in which the last bit of one weight is flipped, another weight for each number."""
    if not (model / WEIGHTS).is_file():
        raise StratagemError(f"There is no model at {model} yet: the run of SFT is not finished.")
    if not copy.is_dir():
        new_folder(copy, lambda folder: _perturb(model, folder, Key(0).at("bits", number)))
    return copy


def _perturb(model: Path, copy: Path, key: Key) -> None:
    shutil.copytree(model, copy, ignore=shutil.ignore_patterns(WEIGHTS), dirs_exist_ok=True)
    weights = load_file(model / WEIGHTS)
    rows = weights[sorted(weights)[key.at("tensor").integer(len(weights))]].view(np.int32).reshape(-1)
    rows[key.at("weight").integer(len(rows))] ^= 1
    save_file(weights, copy / WEIGHTS, metadata={"format": "pt"})


EVERY = {"sepo.signal_every": "1", "sepo.best_response_every": "1"}
"""Signals are measured and adversaries renewed in every iteration."""


def _arms(
    folder: Path,
    seeds: Iterable[int],
    games: tuple[str, ...],
    names: tuple[str, ...],
    every: Mapping[str, str] = EVERY,
    model: str = "tiny",
    options: str = "",
) -> Iterator[PlannedRun]:
    """The SFT model of a seed, and the arms that start from it, with options of the model, measured as `every` says."""
    for seed in seeds:
        for game in games:
            parts, own = recipes(game, model), {"seed": str(seed), **GAME_CHANGES.get(game, {})}
            row = game if model == "tiny" else f"{game}-{model}"
            sft = f"{row}-sft-{seed}"
            yield PlannedRun(sft, parts, {**own, "sepo.iterations": "1"})
            start = {"model": f"run:{folder / sft}@start{options}", "sft.epochs": "0"}
            for name in names:
                yield PlannedRun(f"{row}-{name}-{seed}", parts, {**own, **every, **start, **ARMS[name]})


STUDIES: Mapping[str, Callable[[Path, Iterable[int]], Iterator[PlannedRun]]] = {
    "main": main_runs,
    "control": controls,
    "arms": arms,
    "pool": pool,
    "leduc": leduc,
    "dice": dice,
    "bits": bits,
    "smollm2": lambda folder, seeds: main_runs(folder, seeds, "smollm2"),
    "smollm2-arms": smollm2_arms,
    "smollm2-leduc": smollm2_leduc,
    "reasoned": reasoned,
    "reasoned-many": lambda folder, seeds: reasoned(folder, seeds, REASONED_MANY),
    "front": front,
}


def main() -> None:
    """Make the runs of a study."""
    arguments = command_line(__doc__, STUDIES).parse_args()
    run(STUDIES[arguments.study](arguments.folder, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
