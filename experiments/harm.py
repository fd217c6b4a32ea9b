"""Runs of experiments/declared/harm.toml, resumable: `python experiments/harm.py runs/harm auction`, and `goods`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.
`python experiments/harm.py runs/harm table` measures each finished run once, writes docs/results/harm.json and prints
its tables and tests; with `--out FILE` it writes another file, so that the clone stays clean between two parts.

Three seats learn in self-play from one SFT model a seed and channel. With talk, seats 0 and 1 may speak before each
round, and seat 2 is a third party that hears them and says nothing. With penalties the reward has SEPO's weights of the
safety signals of the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from experiment import command_line, run
from harm_table import table

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import safety_of, signal_names, weights_of
from stratagem.measure.expectation import SCALE
from stratagem.sweeps.planned_run import PlannedRun

RECIPE = (Path("recipes/press/dilemma.toml"),)
SEEDS = range(1, 11)
"""Seeds; 0 was of a pilot."""


class HarmGame(NamedTuple):
    """Game without talk, and the players that SFT imitates: a talker, and the same without words."""

    text: str
    teacher: str


GAMES = {
    "auction": HarmGame("auction(seats=3, rounds=3)", "Conservative"),
    "goods": HarmGame("public-goods(seats=3, rounds=4)", "ConditionalContributor"),
}
CHANNELS = ("talk", "silent")
PENALTIES = ("with", "without")
COMMON: Mapping[str, str] = {
    "style": "bare",
    "evaluate_every": "50",
    "grpo.iterations": "100",
    "grpo.groups_per_batch": "6",
    "grpo.group_size": "8",
}
"""Changes of the recipe in all arms."""


def with_channel(text: str, channel: str) -> str:
    """Return the game with talk of the first two seats, or as it is."""
    return f"talk({text}, who=[0, 1], before=round)" if channel == "talk" else text


def sft_table(teacher: str, channel: str) -> str:
    """Return the settings of SFT: a player that errs with probability .2, and says only what is true."""
    player = f"honest({teacher})" if channel == "talk" else teacher
    optimizer = '{ learning_rate = 3e-3, schedule = "cosine", warmup_ratio = 0.05 }'
    demonstrators = f'{{ "noise({player}, p=0.2)" = 1.0 }}'
    return (
        f"{{ demonstrators = {demonstrators}, num_examples = 5000, epochs = 3, batch_size = 64, "
        f"optimizer = {optimizer} }}"
    )


def reward_weights(text: str, penalties: str) -> str:
    """Return the weights of the reward's terms: the payoff, and SEPO's penalties on the scale of payoffs."""
    weights = {"payoff": 1.0}
    if penalties == "with":
        game = make_game(text)
        safety = safety_of(game)
        stakes = safety.stakes(game.start(Key(0)), 0) if safety else None
        unit = SCALE / stakes.cooperative if stakes else 1.0
        named = [name for name in ("collusion", "externality") if name in signal_names(game)]
        weights |= {name: round(-getattr(weights_of(game), name) / unit, 4) for name in named}
    return f"{{ {', '.join(f'{name} = {weight}' for name, weight in weights.items())} }}"


def runs(folder: Path, name: str, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Yield the SFT model of each seed and channel, and the arms that start from it."""
    text, teacher = GAMES[name]
    for seed in seeds:
        for channel in CHANNELS:
            own = {**COMMON, "games": f'["{with_channel(text, channel)}"]', "seed": str(seed)}
            sft = PlannedRun(
                f"{name}-{channel}-sft-{seed}",
                RECIPE,
                {**own, "sft": sft_table(teacher, channel), "grpo.iterations": "1"},
                first=True,
            )
            yield sft
            start = {"model": f"run:{folder / sft.name}@start"}
            for penalties in PENALTIES:
                changes = {**own, **start, "grpo.reward_weights": reward_weights(text, penalties)}
                yield PlannedRun(f"{name}-{channel}-{penalties}-{seed}", RECIPE, changes)


def main() -> None:
    """Make the runs of a game, or the tables."""
    parser = command_line(__doc__, [*GAMES, "table"], seeds=SEEDS)
    parser.add_argument("--out", type=Path, default=Path("docs/results/harm.json"), help="JSON of `table`")
    arguments = parser.parse_args()
    if arguments.study == "table":
        table(arguments.folder, arguments.out)
        return
    run(runs(arguments.folder, arguments.study, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
