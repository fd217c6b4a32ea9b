"""Exact policy of a language model in many situations: the probabilities that its sampler draws from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import View
from stratagem.language.decoding.exact import weigh_actions
from stratagem.language.decoding.walker import Walker
from stratagem.language.engines.base import PolicyNode, Prompt, ScoreRequest, Scores
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.players.base import Mix
from stratagem.players.speaker import Speaker

_LISTED = 256
"""Number of actions beyond which a situation is refused: sheets of orders soon have millions."""
_FINE = 1e-6
"""Tolerance of a sum of probabilities in low precision."""
Views = Sequence[View[Any]]


def masked_policies(speaker: Speaker, views: Views, past: Past = NOTHING) -> list[Mix]:
    """Return the product of the masked distributions on the path to each action, all situations in one batch."""
    for view in views:
        if view.choices.count > _LISTED:
            raise CannotCompute(
                f"In {view.game.spec.name} there are up to {view.choices.count} actions at once, too many for each to "
                "be given its probability."
            )
    prompts = [speaker.prompt(view, past) for view in views]
    pairs = zip(views, prompts, strict=True)
    walkers = [_walker(speaker, view, prompt) for view, prompt in pairs]
    trees = [speaker.compiler.tree(walker) for walker in walkers]
    nodes = [tuple(PolicyNode(fork.prefix, fork.allowed, masked=True) for fork in tree.forks) for tree in trees]
    scores = _scores(speaker, prompts, nodes)
    return [weigh_actions(walker, tree, rows) for walker, tree, rows in zip(walkers, trees, scores, strict=True)]


def _walker(speaker: Speaker, view: View[Any], prompt: Prompt) -> Walker:
    walker = speaker.compiler.walker(view.choices, prompt)
    if not isinstance(walker, Walker):
        raise CannotCompute(f"In {view.game.spec.name} open text can be said, which has no list of probabilities.")
    return walker


def single_policies(speaker: Speaker, views: Views, past: Past = NOTHING) -> list[Mix]:
    """Return the probability of each label among the whole vocabulary; the rest to one is the null action's."""
    prompts = [speaker.prompt(view, past) for view in views]
    labels = [speaker.compiler.labels(view.choices, prompt) for view, prompt in zip(views, prompts, strict=True)]
    scores = _scores(speaker, prompts, [(PolicyNode((), tuple(row), masked=False),) for row in labels])
    return [shares_of(row.values(), logprobs) for row, (logprobs,) in zip(labels, scores, strict=True)]


def shares_of(actions: Iterable[str], logprobs: Sequence[float]) -> Mix:
    """Normalise probabilities whose sum differs from one by rounding only."""
    shares = [math.exp(logprob) for logprob in logprobs]
    total = math.fsum(shares)
    whole = total if total > 1.0 - _FINE else 1.0
    return {action: share / whole for action, share in zip(actions, shares, strict=True)}


def _scores(speaker: Speaker, prompts: Sequence[Prompt], nodes: Sequence[tuple[PolicyNode, ...]]) -> list[Scores]:
    requests = [
        ScoreRequest(prompt=prompt, nodes=some, adapter=speaker.adapter, sampling=speaker.sampling)
        for prompt, some in zip(prompts, nodes, strict=True)
    ]
    return speaker.engine.score(requests)
