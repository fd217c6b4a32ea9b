"""Check of initial policies: does each base begin with the target policies of the recipe?

KL-SFT may be too short, or left out where a model is said to have the policies by itself. The labels of a published
table were found with the prompts of its paper, and have other policies under other prompts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from stratagem.algorithms.kl_sft.target_policies import LabelScorer, TargetPolicy
from stratagem.algorithms.shapellm.bases import Base
from stratagem.decoding.spelling import Unspellable
from stratagem.engines.base import Engine
from stratagem.errors import BadParameter
from stratagem.evaluation.labels import Reading, divergence
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixGame
from stratagem.learning.monitor import TrainingWarning

LIMIT = 0.05
"""Largest KL divergence in nats, mean over the five states: .25 in place of .40, or .75 in place of .60."""
LEAST_LEGAL = 0.95
"""Least probability of both labels together, mean over the five states; other replies are null actions."""
_PROMPTS = 25
"""Number of prompts of a target policy, five of each state: a style with counts has other counts in each."""


def check_initial_policies(
    game: Game[Any], bases: Mapping[str, Base], targets: Sequence[TargetPolicy], open_bases: Collection[str]
) -> None:
    """Warn of every base that begins far from a target policy under the labels of the game.

    `open_bases` are those with a seat whose replies are any tokens; their other replies than labels count, too.
    """
    own = [target for target in targets if _plays_with_labels(game, target)]
    for text, base in bases.items():
        for sentence in distant(base.engine, text, own, LEAST_LEGAL if text in open_bases else 0.0):
            warnings.warn(sentence, TrainingWarning, stacklevel=2)


def _plays_with_labels(game: Game[Any], target: TargetPolicy) -> bool:
    """Return whether the seat of a target policy plays with its labels."""
    return isinstance(game, MatrixGame) and tuple(game.seat_labels(target.seat)) == tuple(target.labels)


def distant(
    engine: Engine, model: str, targets: Sequence[TargetPolicy], least_legal: float = LEAST_LEGAL
) -> Iterator[str]:
    """Yield a sentence for every target table that a model is far from, where its engine tells probabilities."""
    for target in targets if engine.capabilities.scores else ():
        try:
            if target.table and (sentence := _distance(engine, model, target, target.table.first, least_legal)):
                yield sentence
        except (BadParameter, Unspellable):  # labels that this model cannot write as one token
            continue


def _distance(engine: Engine, model: str, target: TargetPolicy, wanted: Sequence[float], least_legal: float) -> str:
    """Say how far the model is from the target; empty where it is near."""
    reading = policy_after_prompts(engine, target)
    distance = divergence(wanted, reading)
    if distance <= LIMIT:
        return "" if fmean(reading.legal) >= least_legal else _null_actions(model, target, fmean(reading.legal))
    return (
        f"{model} begins at seat {target.seat} with the probabilities {_shown(reading.share)} of {target.labels[0]}, "
        f"and the target policy {target.policy} has {_shown(wanted)}: {distance:.2f} nats between them. Raise "
        "`kl_sft.epochs`, or choose labels for this model and these prompts by `stratagem labels`."
    )


def _null_actions(model: str, target: TargetPolicy, legal: float) -> str:
    """Say how often the model plays neither label."""
    first, second = target.labels
    return (
        f"{model} begins at seat {target.seat} with a probability of {1.0 - legal:.2f} of a reply that is neither "
        f"{first} nor {second}, and such a reply is a null action. Raise `kl_sft.epochs`, or choose labels for this "
        "model and these prompts by `stratagem labels`."
    )


def policy_after_prompts(engine: Engine, target: TargetPolicy) -> Reading:
    """Return the probabilities of both labels in the five states, each the mean over prompts of all styles."""
    prompts = list(target.prompts(_PROMPTS, Key(0).at("initial check")))
    told = list(zip(prompts, LabelScorer.of(engine).logprobs(prompts), strict=True))
    by_state = [[pair for prompt, pair in told if prompt.state == state] for state in range(5)]
    first, second = ([fmean(math.exp(pair[n]) for pair in own) for own in by_state] for n in (0, 1))
    return Reading(tuple(first), tuple(second))


def _shown(probabilities: Sequence[float]) -> str:
    return ", ".join(f"{p:.2f}" for p in probabilities)
