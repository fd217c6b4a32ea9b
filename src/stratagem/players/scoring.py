"""Scored policies: probabilities of actions by a server's log-probabilities, with the unseen rest as a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import View
from stratagem.games.key import Key
from stratagem.language.decoding.guides import OneToken
from stratagem.language.engines.base import Prompt, Request
from stratagem.language.engines.streaming import answer_requests
from stratagem.players.base import Asking, ScoredActions
from stratagem.players.opening import Openings, ReplyTree
from stratagem.players.speaker import Speaker

ALTERNATIVES = 20
"""Number of likeliest tokens that are asked for at each position; servers tell no more."""
_CALLS = 8
"""Largest number of replies for one situation."""
_SMALL = 1e-4
"""Probability of undecided beginnings that is not worth another reply."""


def scored_policies(speaker: Speaker, views: Sequence[View[Any]], ask: Asking | None = None) -> list[ScoredActions]:
    """Return the probabilities in each situation, as far as replies tell them.

    One reply decides where the first token does. Further replies follow beginnings that are undecided yet, at most
    eight.
    """
    sampling = speaker.sampling
    if sampling.temperature != 1.0 or sampling.truncates or sampling.explores:
        raise CannotCompute(
            "A server tells probabilities at temperature=1 and without top_p, min_p or a sampler, so only such a "
            "player is scored."
        )
    openings = [Openings(view.choices) for view in views]
    trees = [ReplyTree(opening) for opening in openings]
    prompts = [speaker.prompt(view) for view in views]
    ask = ask or partial(answer_requests, speaker.engine)
    for number in range(_CALLS):
        left = [index for index, tree in enumerate(trees) if number == 0 or tree.reducible > _SMALL]
        requests = [_request(speaker, prompts[index], openings[index], number) for index in left]
        for index, call in zip(left, ask(requests), strict=True):
            if call.failed or not any(call.alternatives):
                why = call.text if call.failed else f"{speaker.engine.name} tells no log-probabilities of its replies."
                raise CannotCompute(why)
            trees[index].add(call.alternatives)
    return [tree.score_actions() for tree in trees]


def _request(speaker: Speaker, prompt: Prompt, openings: Openings, number: int) -> Request:
    key = Key(0).at("scored", number)
    request = speaker.ask(prompt, OneToken(), key, length(speaker, openings))
    return replace(request, alternatives=ALTERNATIVES)


def length(speaker: Speaker, openings: Openings) -> int:
    """Return the tokens of a reply that is read by its opening: room for the longest action."""
    return min(speaker.max_new_tokens, openings.longest + 8)
