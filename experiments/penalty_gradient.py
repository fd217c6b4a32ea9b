"""Gradient of SEPO's exploitability penalty under each `penalty_credit`, at one fixed policy.

`python experiments/penalty_gradient.py RUN [--label start] [--batches 200] [--seed 0]` plays batches of Kuhn poker with
a model of a run, without learning from them. For each credit it prints, over the batches: the squared length of the
penalty's expected gradient with its standard error, estimated from split halves so that noise adds nothing; the squared
length of one batch's gradient; and how much of the exact gradient a batch brings, with its standard error: the
projection on it, where 0 is no progress at all, and what counts is the sign and the error, since advantages are divided
by their spread. The exact gradient follows from the game tree: the derivative of what the pool's adversaries gain,
decision by decision.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import torch

from stratagem.algorithms.sepo.algorithm import SEPOCollector
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.base.provenance import provenance
from stratagem.games.base import Game, View
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.learn.example import Example, example_from_call
from stratagem.learn.gradient_signal import gradients
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.openings import opening_policy
from stratagem.players.base import Mix, Player, Scripted, Traits
from stratagem.players.pools import pools
from stratagem.training.collector import RolloutBatch, merge
from stratagem.training.online import policy_of
from stratagem.training.policy import TrainablePolicy
from stratagem.training.runs.folder import RunFolder

CREDITS = ("shared", "rollout", "probe")
PLAYED = 20
"""Batches in which every decision is looked for as it was said."""
Table = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Tabular(Scripted[Any]):
    """Plays by a table over information sets."""

    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None)
    table: Table

    @property
    def name(self) -> str:
        """Any name will do."""
        return "table"

    def strategy(self, view: View[Any]) -> str | Mix:
        """Return the strategy of the table."""
        return self.table[view.info_key]


def exact_worths(game: Game[Any], policy: Table, adversaries: Iterable[Player]) -> dict[tuple[str, str], float]:
    """By decision, its probability times what it gains over the policy's mean there, against the adversaries that win.

    A policy's value is linear in what it does in one information set, so the gradient of the value is the sum of these
    times the gradients of the decisions' log-probabilities.
    """
    worths: dict[tuple[str, str], float] = {}
    players = list(adversaries)
    for other in players:
        value = _value(game, Tabular(policy), other)
        if value >= 0.0:  # who gains nothing costs nothing
            continue
        for key, mix in policy.items():
            for action, share in mix.items():
                pure = Tabular({**policy, key: {action: 1.0}})
                gain = share * (_value(game, pure, other) - value) / len(players)
                worths[key, action] = worths.get((key, action), 0.0) + gain
    return worths


def _value(game: Game[Any], agent: Player, other: Player) -> float:
    """Compute the agent's payoff per round over both seats, on the common scale."""
    first = expected_payoffs(game, [agent, other]).per_round(0, scaled=True)
    return (first + expected_payoffs(game, [other, agent]).per_round(1, scaled=True)) / 2.0


def exact_examples(batches: Iterable[RolloutBatch], worths: Mapping[tuple[str, str], float]) -> list[Example]:
    """Each decision once, as it was said, with its value."""
    found: dict[tuple[str, str], Example] = {}
    for batch in batches:
        for episode in batch.episodes:
            for row in episode.decisions:
                if row.calls and row.action is not None and (row.info_key, row.action) in worths:
                    example = example_from_call(row.calls[0], **{"term/exact": worths[row.info_key, row.action]})
                    found.setdefault((row.info_key, row.action), replace(example, row={"half": 0.0}))
    return list(found.values())


def mean(values: Sequence[float]) -> tuple[float, float]:
    """A mean with its standard error."""
    middle = math.fsum(values) / len(values)
    spread = math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return middle, math.sqrt(spread / len(values))


def measured(trained: TrainablePolicy, sepo: SEPOCollector, batches: int, exact: torch.Tensor) -> dict[str, float]:
    """The figures of one credit."""
    dots, noises, along = [], [], []
    for number in range(batches):
        found = gradients(trained.learner, merge([sepo.collect(number)]).examples).get("exploit")
        first, second = found or (torch.zeros_like(exact), torch.zeros_like(exact))
        whole = first + second
        dots.append(4.0 * float(first.dot(second)))
        noises.append(float(whole.dot(whole)))
        along.append(float(whole.dot(exact) / exact.dot(exact)))
    (length, length_error), (progress, progress_error) = mean(dots), mean(along)
    return {
        "squared_length": length,
        "squared_length_error": length_error,
        "squared_length_of_one_batch": mean(noises)[0],
        "progress": progress,
        "progress_error": progress_error,
    }


def main() -> None:
    """Measure all credits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run of recipes/sepo/kuhn-tiny.toml")
    parser.add_argument("--label", default="start", choices=("base", "start"), help="which of its models")
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    asked = parser.parse_args()
    recipe = RunFolder.open(asked.run).config(SEPORecipe)
    trained, game = policy_of(recipe, load(f"run:{asked.run}@{asked.label}")), make_game(recipe.games[0])

    def sepo(credit: str) -> SEPOCollector:
        settings = recipe.sepo.model_copy(update={"penalty_credit": credit, "penalty_source": "pool"})
        return SEPOCollector(
            settings, game, trained.player, Key(asked.seed).at("penalty gradient", credit), recipe.exact_budget
        )

    worths = exact_worths(game, opening_policy(game, trained.player), pools(game)["exploit"].make(game))
    played = (sepo("probe").collect(number) for number in range(PLAYED))
    exact = gradients(trained.learner, exact_examples(played, worths))["exact"][0]
    told = {}
    for credit in CREDITS:
        told[credit] = measured(trained, sepo(credit), asked.batches, exact)
        print(credit, {name: float(f"{value:.4g}") for name, value in told[credit].items()}, flush=True)
    if asked.out is not None:
        about = {"label": asked.label, "batches": asked.batches, "seed": asked.seed, "made_by": provenance()}
        asked.out.write_text(json.dumps({**about, "credits": told}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
