"""Policies of the atlas, by experiments/declared/atlas.toml: `python experiments/atlas.py runs/atlas known`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed.

`known`   One SFT model a seed in each of four known games, and six ways of training that start from it.
`drawn`   One SFT model a seed in each of 20 drawn games, and one way of training, which differs from game to game.
`base`, `smollm2`, `gemma`  `known` with larger models.
`tables`  Writes the probabilities of every policy once, into a file of its run's folder.
`cost`    Prints the time of the finished runs by the clock.

`experiments/atlas_adversaries.py` then measures them without any model, `experiments/atlas_table.py` has the figures,
and `experiments/atlas_dataset.py` writes all policies into one file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from drawn_agents import list_games
from drawn_agents_table import FAMILIES
from experiment import command_line, run
from result_tables import FinishedRun, finished

from stratagem.games.catalogue import make_game
from stratagem.games.drawn.solution import scale_form
from stratagem.games.drawn.worth import even_policy
from stratagem.games.tree import TERMINAL
from stratagem.games.tree_cache import tree_of
from stratagem.language.models.run_models import own_text, read_run_models
from stratagem.measure.tree_policy import Floats, Oracle, policy_on
from stratagem.players.catalogue import make_player
from stratagem.sweeps.planned_run import PlannedRun

SEEDS = range(1, 5)
"""Seeds; 0 is of pilots."""
DRAWN = 20
"""Number of drawn games."""
DRAWN_SEEDS = range(1, 3)
"""Seeds in drawn games."""
ITERATIONS = 60
"""Iterations of the online ways of training; the middle policy is that of half of them."""
CFR = ("cfr:2", "cfr:5", "cfr:10", "cfr:40")
"""Teachers by seed: averages of CFR, which err the less the more iterations they have."""
DILEMMA = ("GenerousTFT", "Pavlov", "TitForTat", "FirmButFair")
"""Teachers of the dilemma, where CFR's defection is an equilibrium."""
PROMPTS = "style=bare, mode=direct, temperature=1.0"
"""Prompts and sampling of all policies, as in training."""
SOLUTION = ("noise(GameSolution, p=0.5)", "noise(GameSolution, p=0.3)")
"""Teachers of drawn games, which CFR cannot solve where their sum is not constant."""
TABLES = "atlas.npz"
"""File of a run's policies, by label and slot of the tree."""


class AtlasGame(NamedTuple):
    """Game of the atlas, and the players that SFT imitates by seed."""

    text: str
    teachers: Sequence[str] = CFR
    learning_rate: str = "1e-3"
    """Learning rate of the online ways; with the smaller ones of the recipes policies hardly move from SFT."""
    num_examples: int = 3_000
    """Examples of SFT."""


KNOWN: Mapping[str, AtlasGame] = {
    "kuhn": AtlasGame("kuhn(hands=1)"),
    "leduc": AtlasGame("leduc", num_examples=9_000),  # 936 situations; dice has 1,024
    "dice": AtlasGame("spiel:liars_dice(dice_sides=4)", num_examples=9_000),
    "ipd": AtlasGame("ipd(rounds=3)", DILEMMA, "3e-4"),  # with 1e-3 a policy ended at defection, an equilibrium
}
RECIPES, SFT = Path("recipes"), "sft"
TINY = "tiny"


class AtlasModel(NamedTuple):
    """Model of the atlas, and how its SFT differs."""

    text: str
    learning_rate: str
    adapter: str = ""
    """Settings of the adapter of SFT; without any, all weights are trained."""


MODELS: Mapping[str, AtlasModel] = {
    TINY: AtlasModel("tiny", "3e-3"),
    "base": AtlasModel("base", "1e-3"),
    "smollm2": AtlasModel("smollm2", "5e-4", "adapter = { rank = 32, lora_alpha = 64 }, "),
    "gemma": AtlasModel("hf:google/gemma-3-270m", "5e-4", "adapter = { rank = 32, lora_alpha = 64 }, "),
}


class Method(NamedTuple):
    """Way of training: its recipes, and its changes of them."""

    recipes: tuple[str, ...]
    stage: str
    """Table of the recipe that has the iterations."""
    changes: Mapping[str, str] = {}


_ONLINE = {"style": "bare", "temperature": "1.0", "evaluate_every": str(ITERATIONS // 2), "exact_budget": "60000"}
_SHORT = {"validation_episodes": "2", "test_episodes": "2"}
_RANDOM = {"opponents": '["random"]'}
_SEPO = {"sft.sources": "[]"}
METHODS: Mapping[str, Method] = {
    "reinforce": Method(("reinforce/kuhn.toml",), "reinforce", _RANDOM),
    "grpo": Method(("grpo/kuhn.toml",), "grpo", _RANDOM),
    "league": Method(
        ("league/kuhn.toml", "league/learners/pfsp.toml"),
        "league",
        {**_RANDOM, "league.groups_per_batch": "8", "league.snapshot_every": "10", "league.crossplay_games": "2"},
    ),
    "sepo": Method(("sepo/dice-tiny.toml",), "sepo", _SEPO),
    "plain": Method(("sepo/dice-tiny.toml",), "sepo", {**_SEPO, "sepo.penalty_credit": "none"}),
    "kto": Method(("scopal/tiny.toml",), ""),
}
"""Ways of training that start from the SFT model; `plain` is SEPO without its penalty by the best response."""


def sft_settings(game: AtlasGame, seed: int, model: AtlasModel) -> str:
    """Return the settings of SFT: the actions of a teacher in situations of random play."""
    optimizer = f'{{ learning_rate = {model.learning_rate}, schedule = "cosine", warmup_ratio = 0.05 }}'
    source = f'games = ["{game.text}"], teacher = "{game.teachers[seed % len(game.teachers)]}", played_by = "random"'
    return (
        f"{{ epochs = 3, batch_size = 64, optimizer = {optimizer}, {model.adapter}"
        f"sources = [{{ {source}, num_examples = {game.num_examples} }}] }}"
    )


def sft_run(name: str, game: AtlasGame, seed: int, model: str = TINY) -> PlannedRun:
    """Return the run of the SFT model of a game and seed."""
    given = MODELS[model]
    own = {"games": f'["{game.text}"]', "seed": str(seed), "model": given.text, **_ONLINE, **_SHORT, **_RANDOM}
    own |= {"sft": sft_settings(game, seed, given), "reinforce.iterations": "1"}
    return PlannedRun(f"{name}-{SFT}-{seed}", (RECIPES / "reinforce/kuhn.toml",), own, first=True)


def method_run(folder: Path, name: str, game: AtlasGame, method: str, seed: int) -> PlannedRun:
    """Return the run of a way of training from the SFT model of a game and seed."""
    way, sft = METHODS[method], folder / f"{name}-{SFT}-{seed}"
    own = {"games": f'["{game.text}"]', "seed": str(seed), "model": f"run:{sft}@start", **way.changes}
    if method == "kto":
        own |= {"style": "bare", "interaction.temperature": "1.0", "samples.max_samples": "3000"}
        own |= {"bc.max_steps": "20", "kto.max_steps": "60"}
        own |= {"final_evaluation.opponents": '["random"]', "final_evaluation.episodes": "2"}
    else:
        own |= {**_ONLINE, **_SHORT, "sft.epochs": "0", f"{way.stage}.iterations": str(ITERATIONS)}
        own |= {f"{way.stage}.optimizer.learning_rate": game.learning_rate}
    return PlannedRun(f"{name}-{method}-{seed}", tuple(RECIPES / one for one in way.recipes), own)


def row_of(game: str, model: str) -> str:
    """Return the first part of the names of runs of a game and model."""
    return game if model == TINY else f"{game}-{model}"


def known(folder: Path, seeds: Iterable[int], model: str = TINY) -> Iterator[PlannedRun]:
    """Yield the runs in known games, the first seed of every game and way before the second."""
    for seed in seeds:
        for name, game in KNOWN.items():
            row = row_of(name, model)
            yield sft_run(row, game, seed, model)
            yield from (method_run(folder, row, game, method, seed) for method in METHODS)


def drawn_games(folder: Path) -> dict[str, AtlasGame]:
    """Return the drawn games by name: the first draws of each family by turns, each tree once."""
    per_family = -(-DRAWN // len(FAMILIES))
    games = [game for game in list_games(folder, per_family) if game.family != "known"][:DRAWN]
    return {f"drawn{number:02}": AtlasGame(game.name, SOLUTION) for number, game in enumerate(games)}


def drawn(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Yield the runs in drawn games; the way of training moves on by one from game to game and from seed to seed."""
    ways = tuple(METHODS)
    for seed in seeds:
        for number, (name, game) in enumerate(drawn_games(folder).items()):
            yield sft_run(name, game, seed)
            yield method_run(folder, name, game, ways[(number + seed) % len(ways)], seed)


# --- policies as tables


@dataclass(frozen=True, eq=False)
class AtlasPolicy:
    """Policy of the atlas by the slots of its game's tree."""

    game: str
    """Name of the game in the atlas."""
    text: str
    """Name of the game in the catalogue."""
    method: str
    seed: int
    stage: str
    """`middle` or `end` of the run; the middle of KTO is the cloning before it."""
    policy: Floats

    model: str = TINY

    @property
    def name(self) -> str:
        """Name of the policy."""
        return f"{self._row}-{self.method}-{self.seed}@{self.stage}"

    @property
    def family(self) -> str:
        """Runs that start from one SFT model, which are no independent observations."""
        return f"{self._row}-{self.seed}"

    @property
    def _row(self) -> str:
        return row_of(self.game, self.model)


@lru_cache(maxsize=4)
def scaled_oracle(text: str) -> Oracle:
    """Return the best responses of a game whose payoffs are shares of each seat's payoff range, an episode."""
    tree = tree_of(make_game(text), one_round=True)
    if len(tree.kinds) > 1:
        raise SystemExit(f"{text} shows rounds of several kinds, and a policy of the atlas is one table.")
    ranges = scale_form(tree).ranges
    one_long = np.where(tree.mover == TERMINAL, 1, 0)
    return Oracle(replace(tree, returns=tree.returns / ranges, rounds=one_long))


def even_play(oracle: Oracle) -> Floats:
    """Return random play by slot."""
    return even_policy(oracle.tree)


def labels_of(path: Path, method: str) -> dict[str, str]:
    """Return the labels of a run's models by stage: the middle and the end, or the end alone of SFT."""
    if method == SFT:
        return {"end": "start"}
    models = read_run_models(path).models
    steps = {int(step): label for label in models if (step := label.partition("/")[0]).isdecimal()}  # STEP or STEP/NAME
    middle = min(steps) if method == "kto" else ITERATIONS // 2
    if len(steps) < 2 or middle not in steps:
        raise SystemExit(f"{path} has no policy of the middle: its models are {', '.join(models)}.")
    return {"middle": steps[middle], "end": steps[max(steps)]}


def extract(one: FinishedRun) -> dict[str, Floats]:
    """Return the policies of a run by stage, and write them into its folder once."""
    path = one.path / TABLES
    if not path.is_file():
        text = one.folder.config_data()["games"][0]
        labels = labels_of(one.path, parts_of(one).method)
        tree = scaled_oracle(text).tree
        made: dict[str, Any] = {
            stage: policy_on(
                tree, make_player(f"lm({own_text(one.path.resolve(), label)}, {PROMPTS})", make_game(text))
            )
            for stage, label in labels.items()
        }
        with path.with_suffix(".part").open("wb") as file:
            np.savez_compressed(file, **made)
        path.with_suffix(".part").rename(path)
    with np.load(path) as stored:
        return {stage: stored[stage] for stage in stored.files}


class RunParts(NamedTuple):
    """Parts of the name of a run."""

    game: str
    method: str
    model: str


def parts_of(one: FinishedRun) -> RunParts:
    """Return the parts of the name of a run, GAME-METHOD-SEED or GAME-MODEL-METHOD-SEED."""
    game, *model, method = one.stem.split("-")
    return RunParts(game, method, model[0] if model else TINY)


def read_policies(folder: Path) -> dict[str, list[AtlasPolicy]]:
    """Return the policies of all finished runs by game; a run in a drawn game has its end alone."""
    found: dict[str, list[AtlasPolicy]] = defaultdict(list)
    for one in finished(folder):
        (game, method, model), text = parts_of(one), one.folder.config_data()["games"][0]
        for stage, policy in extract(one).items():
            if stage == "end" or game in KNOWN:
                found[game].append(AtlasPolicy(game, text, method, one.seed, stage, policy, model))
    return {game: sorted(found[game], key=lambda one: one.name) for game in sorted(found)}


def cost_lines(folder: Path) -> Iterator[str]:
    """Yield the number of finished runs and their seconds by the clock, by game and way of training."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for one in finished(folder):
        game, method, model = parts_of(one)
        name = f"{row_of(game if game in KNOWN else 'drawn', model)} {method}"
        ends = (datetime.fromisoformat(text) for text in (one.folder.info().begun, one.folder.status().since))
        begun, ended = ends
        seconds[name].append((ended - begun).total_seconds())
    yield from (f"{name}: {len(some)} runs, {np.mean(some):.0f} s each" for name, some in sorted(seconds.items()))
    every = [second for some in seconds.values() for second in some]
    yield f"{len(every)} runs, {sum(every) / 3600.0:.2f} h"


def main() -> None:
    """Make the runs of a part, or their tables."""
    studies = ["known", "drawn", "base", "smollm2", "gemma", "tables", "cost"]
    parser = command_line(__doc__, studies, seeds=range(0))
    asked = parser.parse_args()
    folder: Path = asked.folder
    folder.mkdir(parents=True, exist_ok=True)
    if asked.study == "tables":
        for game, policies in read_policies(folder).items():
            print(f"{game}: {len(policies)} policies", flush=True)
    elif asked.study == "cost":
        print("\n".join(cost_lines(folder)))
    elif asked.study == "drawn":
        run(drawn(folder, asked.seeds or DRAWN_SEEDS), asked)
    else:
        model = TINY if asked.study == "known" else asked.study
        run(known(folder, asked.seeds or SEEDS, model), asked)


if __name__ == "__main__":
    main()
