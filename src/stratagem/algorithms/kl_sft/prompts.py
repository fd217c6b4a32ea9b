"""Prompts of a seat in a trial of a repeated game, drawn for KL-SFT (ShapeLLM, A.9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from stratagem.engines.base import Chat
from stratagem.evaluation.labels import Labels, Scene
from stratagem.games.base import View
from stratagem.games.key import Key
from stratagem.prompting.past import NOTHING, Joint, Past


class StatePrompt(NamedTuple):
    """Prompt of a seat, and the number of its state among the five."""

    state: int
    view: View[Any]
    messages: Chat


def draw_prompts(scene: Scene, labels: Labels, number: int, key: Key, episodes: int = 5) -> Iterator[StatePrompt]:
    """Draw prompts of a seat, the five states in turn; styles with counts see trials of `episodes` episodes.

    The paper draws an episode, a round and a last joint action. The prompt before the first round is then rare, and its
    model is worst there. Here it is one in five.
    """
    views, joints = scene.views(labels), list(product(labels, labels))
    for index in range(number):
        state = index % len(views)
        past = NOTHING
        if state and scene.style.recalls:  # a round was played, and the prompt has the counts of earlier ones
            past = _past(joints, scene.game.rounds * episodes, key.at("prompt", index))
        messages = tuple((message.role, message.content) for message in scene.style.messages(views[state], past))
        yield StatePrompt(state, views[state], messages)


def _past(joints: Sequence[Joint], rounds: int, key: Key) -> Past:
    """Draw the joint actions before the last round, uniformly, with a uniform number of rounds within the trial.

    Such even counts train a model of a million weights as well as counts of every shape.
    """
    rng = key.rng()
    played = rng.choices(joints, k=rng.randrange(rounds - 1))
    return Past(Counter(played), last=played[-1] if played else None, rounds=len(played))
