"""The prompts that a seat of a repeated game may meet in a trial, drawn for the KL-SFT (ShapeLLM, A.9)."""

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


class Told(NamedTuple):
    """A prompt, and which of the five states its seat is in."""

    state: int
    view: View[Any]
    messages: Chat


def told(scene: Scene, labels: Labels, number: int, key: Key, episodes: int = 5) -> Iterator[Told]:
    """So many prompts of a seat, the five states in turn; where the style counts, from trials of so many episodes.

    The paper draws an episode, a round and a last joint action; that nothing was played yet is then a rare prompt, and
    it is the one at which its model comes off worst. Here it is one in five.
    """
    views, joints = scene.views(labels), list(product(labels, labels))
    for place in range(number):
        state = place % len(views)
        past = NOTHING
        if state and scene.style.recalls:  # something was played, and the prompt tells what came before it
            past = _past(joints, scene.game.rounds * episodes, key.at("prompt", place))
        yield Told(state, views[state], tuple((m.role, m.content) for m in scene.style.messages(views[state], past)))


def _past(joints: Sequence[Joint], rounds: int, key: Key) -> Past:
    """What was played before the last round, at any time of a trial of so many rounds; each joint action is as likely.

    Counts that are as even as these do no worse, in a model of a million weights, than counts of every shape.
    """
    rng = key.rng()
    played = rng.choices(joints, k=rng.randrange(rounds - 1))
    return Past(Counter(played), last=played[-1] if played else None, rounds=len(played))
