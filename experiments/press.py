"""Runs of docs/results/press.md, resumable: `python experiments/press.py runs/press honesty`, and its other parts.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.
`python experiments/press.py runs/press table` writes docs/results/press.json and prints the tables of the page.

`honesty`  Result 1: self-play in the sender-receiver game at three biases from an honest start, at bias 0 from an
           untrained model, and against a believer at bias 1; two dilemmas with talk and without.
`deception` Result 2: SEPO at bias 1 from the honest start, with the penalty for deception and without.
`negotiation` Result 2 in the negotiation over items: the same from a start that says truly which item it values most.
`shaping`  Two tables in chicken and in the stag hunt, of which the shaper may speak, and the same in silence.
`credit`   Result 3: the effect of a message as its advantage, against silence and against alternatives, and the return
           of the episode, from an untrained model. An episode with branches costs twice as much, so groups are half as
           large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from experiment import command_line, run
from press_table import table

from stratagem.sweeps.planned_run import PlannedRun

RECIPES = Path("recipes/press")
SEEDS = range(8)
BIASES = ("0.5", "1", "2")
DILEMMAS = {"stag": "ish(rounds=1)", "dilemma": "ipd(rounds=1)"}
"""Dilemmas of one round by name."""
SHAPED = {"chicken": "icg(rounds=1)", "stag": "ish(rounds=1)"}
"""Games of shaping by words."""
Changes = Mapping[str, str]
WEIGHTS = {"without": "0", "with": "2"}
"""Weights of the penalty for deception, by arm."""
CREDITS: Mapping[str, Changes] = {
    "episode": {"grpo.advantage": "group_mean(normalize_std=False)", "grpo.group_size": "8"},
    "silence": {"grpo.advantage": "message_effect(counterfactual=silence)"},
    "alternatives": {"grpo.advantage": "message_effect(counterfactual=alternatives)", "grpo.message_alternatives": "1"},
}
"""Changes of each arm of the third result."""


def sender_receiver(bias: str, rounds: int = 1) -> str:
    """Return the game's text."""
    return f"sender-receiver(bias={bias})" if rounds == 1 else f"sender-receiver(bias={bias}, rounds={rounds})"


def games(text: str) -> Changes:
    """Return the change of the games of a recipe."""
    return {"games": f'["{text}"]'}


def honest_start(folder: Path) -> tuple[PlannedRun, Changes]:
    """Return the run of the honest SFT model, which all biases share, and the changes that start from it."""
    made = PlannedRun("honest-sft", (RECIPES / "sender-receiver.toml",), {"grpo.iterations": "1"}, first=True)
    return made, {"model": f"run:{folder / made.name}@start", "sft.epochs": "0"}


def honesty(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Self-play and play against a believer in the sender-receiver game, and dilemmas with talk and without."""
    sft, start = honest_start(folder)
    yield sft
    recipe, dilemma = (RECIPES / "sender-receiver.toml",), (RECIPES / "dilemma.toml",)
    believer = {**games(sender_receiver("1")), **start, "grpo.opponents": "{ Honest = 1.0 }"}
    untrained = {**games(sender_receiver("0")), "sft.epochs": "0"}
    for seed in seeds:
        own = {"seed": str(seed)}
        for bias in BIASES:
            yield PlannedRun(f"self-{bias}-{seed}", recipe, {**games(sender_receiver(bias)), **start, **own})
        yield PlannedRun(f"believer-1-{seed}", recipe, {**believer, **own})
        yield PlannedRun(f"untrained-0-{seed}", recipe, {**untrained, **own})
        for name, game in DILEMMAS.items():
            yield PlannedRun(f"{name}-talk-{seed}", dilemma, {**games(f"talk({game})"), **own})
            yield PlannedRun(f"{name}-silent-{seed}", dilemma, {**games(game), **own})


def deception(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """SEPO with the penalty for deception and without, from the honest start."""
    sft, start = honest_start(folder)
    yield sft
    changes = {"model": start["model"]}
    for seed in seeds:
        for name, weight in WEIGHTS.items():
            own = {**changes, "sepo.deception_weight": weight, "seed": str(seed)}
            yield PlannedRun(f"sepo-{name}-{seed}", (RECIPES / "deception.toml",), own)


def negotiation(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """SEPO in the negotiation over items with the penalty for deception and without, from one SFT model."""
    recipe = (RECIPES / "negotiation.toml",)
    made = PlannedRun("claims-sft", recipe, {"sepo.iterations": "1"}, first=True)
    yield made
    start = {"model": f"run:{folder / made.name}@start", "sft.epochs": "0"}
    for seed in seeds:
        for name, weight in WEIGHTS.items():
            own = {**start, "sepo.deception_weight": weight, "seed": str(seed)}
            yield PlannedRun(f"items-{name}-{seed}", recipe, own)


def shaping(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Shaping in chicken and in the stag hunt, with one seat that may speak and in silence."""
    recipe = (RECIPES / "shaping.toml",)
    for seed in seeds:
        for name, game in SHAPED.items():
            for arm, text in {"words": f"talk({game}, who=[0], intents=[move])", "silent": game}.items():
                yield PlannedRun(f"shaping-{name}-{arm}-{seed}", recipe, {"game": text, "seed": str(seed)})


def credit(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Messages credited by the return of the episode, and by their effect."""
    for seed in seeds:
        for name, changes in CREDITS.items():
            yield PlannedRun(f"credit-{name}-{seed}", (RECIPES / "credit.toml",), {**changes, "seed": str(seed)})


STUDIES: Mapping[str, Callable[[Path, Iterable[int]], Iterator[PlannedRun]]] = {
    "honesty": honesty,
    "deception": deception,
    "negotiation": negotiation,
    "shaping": shaping,
    "credit": credit,
}


def main() -> None:
    """Make the runs of a part."""
    arguments = command_line(__doc__, [*STUDIES, "table"], seeds=SEEDS).parse_args()
    if arguments.study == "table":
        table(arguments.folder)
        return
    run(STUDIES[arguments.study](arguments.folder, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
