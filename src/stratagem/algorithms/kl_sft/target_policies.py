"""Target policies of seats, and their examples for KL-SFT (ShapeLLM, A.9).

The target after a prompt is a distribution over the seat's two labels; all other tokens have probability 0. It comes
from a table of the five states (`initial_policies`), or from another model's probabilities of the labels, renormalised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Self

from pydantic import Field, model_validator

from stratagem.algorithms.kl_sft.initial_policies import INITIAL_POLICIES, InitialPolicy
from stratagem.algorithms.kl_sft.prompts import StatePrompt, draw_prompts
from stratagem.engines.base import Engine, Node, ScoreRequest
from stratagem.engines.open import served
from stratagem.errors import CannotCompute
from stratagem.evaluation.labels import Labels, Reading, Scene, scan, scene_of
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.learning.example import Example
from stratagem.learning.losses.kl_targets import target_entropy
from stratagem.players.speaker import Compiler
from stratagem.prompting.catalogue import make_style
from stratagem.settings import Settings


class TargetPolicy(Settings):
    """Target policy of one seat: a table of probabilities, or the policy of another model."""

    policy: str = ""
    """Table by its name in `initial_policies`, with its game and its labels."""
    teacher: str = ""
    """Model whose policy in `game` is the target, as `stratagem players` names models."""
    game: str = ""
    """Game with its labels; if empty, those of the table."""
    seat: Literal[0, 1] = 1
    """Seat of the prompts."""
    styles: tuple[str, ...] = Field(default=("shapellm-state",), min_length=1)
    """Prompt styles; each has the same number of prompts."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if bool(self.policy) == bool(self.teacher):
            raise ValueError("a target policy is either a `policy` or a `teacher`: name one of them")
        if self.policy and self.policy not in INITIAL_POLICIES:
            raise ValueError(f"there is no initial policy {self.policy!r}: there are {', '.join(INITIAL_POLICIES)}")
        if self.teacher and not self.game:
            raise ValueError("a `teacher` is copied in a `game`: name one, such as ipd-shapellm")
        return self

    @property
    def table(self) -> InitialPolicy | None:
        """Table of the target probabilities; None with a teacher."""
        return INITIAL_POLICIES.get(self.policy)

    @property
    def labels(self) -> Labels:
        """Labels of the two actions."""
        if self.table and not self.game:
            return self.table.labels
        first, second = self.scene(self.styles[0]).game.seat_labels(self.seat)
        return first, second

    def scene(self, style: str) -> Scene:
        """Return the game, the prompt style and the seat."""
        game = self.game or (self.table.game if self.table else "")
        return scene_of(make_bounded_game(game), make_style(style), self.seat)

    def prompts(self, number: int, key: Key, episodes: int = 5) -> Iterator[StatePrompt]:
        """Draw `number` prompts, rounded up to the same number in each style."""
        for style in self.styles:
            scene, count = self.scene(style), -(-number // len(self.styles))
            yield from draw_prompts(scene, self.labels, count, key.at(style), episodes)

    def probabilities(self, prompts: Sequence[StatePrompt]) -> list[float]:
        """Return the target probability of the first label after each prompt; the second has the rest."""
        table = self.table
        if table is None:
            return teacher_probabilities(self.teacher, prompts)
        return [table.first[prompt.state] for prompt in prompts]


class LabelScorer(NamedTuple):
    """Engine of a model, with the tokens of labels after a prompt."""

    engine: Engine
    compiler: Compiler

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """Make a scorer of an engine's model."""
        return cls(engine, Compiler(engine.vocabulary, engine.ends))

    def labels(self, prompt: StatePrompt) -> tuple[int, int]:
        """Return the tokens of the first and the second label after a prompt."""
        spelt = self.compiler.labels(prompt.view.choices, self.engine.begin(prompt.messages))
        tokens = {action: token for token, action in spelt.items()}
        first, second = (tokens[action] for action in prompt.view.choices)
        return first, second

    def example(self, state_prompt: StatePrompt, probability: float) -> Example:
        """Return the example with this target probability of the first label; its token in the text is arbitrary."""
        prompt, (first, second) = self.engine.begin(state_prompt.messages).tokens, self.labels(state_prompt)
        both = ((first, probability), (second, 1.0 - probability))
        target = {token: share for token, share in both if share > 0.0}
        column = {"target_entropy": (target_entropy(target),)}
        return Example(tokens=(*prompt, first), loss_positions=(len(prompt),), targets=(target,), columns=column)

    def logprobs(self, prompts: Sequence[StatePrompt], adapter: str = "") -> list[tuple[float, float]]:
        """Return the log-probabilities of both labels, among all tokens, after each prompt."""
        nodes = [(Node((), self.labels(prompt), masked=False),) for prompt in prompts]
        requests = [
            ScoreRequest(prompt=self.engine.begin(prompt.messages), nodes=some, adapter=adapter)
            for prompt, some in zip(prompts, nodes, strict=True)
        ]
        return [(first, second) for ((first, second),) in self.engine.score(requests)]


def make_examples(engine: Engine, target: TargetPolicy, number: int, key: Key, episodes: int = 5) -> list[Example]:
    """Return prompts in the model's tokens, each with its target distribution."""
    scorer, prompts = LabelScorer.of(engine), list(target.prompts(number, key, episodes))
    return [scorer.example(*pair) for pair in zip(prompts, target.probabilities(prompts), strict=True)]


def teacher_probabilities(teacher: str, prompts: Sequence[StatePrompt]) -> list[float]:
    """Return a model's probability of the first label, renormalised over both, after each prompt in its own tokens."""
    engine, adapter = served(teacher)
    if not engine.capabilities.scores:
        raise CannotCompute(f"{engine.name} does not tell how likely its tokens are, so it cannot be copied.")
    # from logarithms, since the probabilities of both labels may underflow
    return [1.0 / (1.0 + math.exp(min(700.0, b - a))) for a, b in LabelScorer.of(engine).logprobs(prompts, adapter)]


def measured_policy(engine: Engine, target: TargetPolicy, adapter: str = "") -> Reading:
    """Return the model's probabilities of both labels in the five states, in the target's first style."""
    reading = next(scan(engine, target.scene(target.styles[0]), [target.labels], adapter=adapter))[target.labels]
    if reading is None:
        raise CannotCompute(f"The labels {'/'.join(target.labels)} are not one token each for {engine.name}.")
    return reading
