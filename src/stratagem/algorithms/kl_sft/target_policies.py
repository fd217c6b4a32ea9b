"""What a seat is to begin with, and the examples by which a model learns it (ShapeLLM, A.9).

The target after a prompt is a distribution over the seat's two labels, and all other tokens have none. It comes from a
table of the five states (`initial_policies`), or is what another model says of its labels, renormalised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Self

from pydantic import Field, model_validator

from stratagem.algorithms.kl_sft.initial_policies import INITIAL_POLICIES, InitialPolicy
from stratagem.algorithms.kl_sft.prompts import Told, told
from stratagem.engines.base import Engine, Node, ScoreRequest
from stratagem.engines.open import served
from stratagem.errors import CannotCompute
from stratagem.evaluation.labels import Labels, Reading, Scene, scan, scene_of
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learning.example import Example
from stratagem.learning.losses.kl_targets import target_entropy
from stratagem.players.speaker import Compiler
from stratagem.prompting.catalogue import make_style
from stratagem.settings import Settings


class TargetPolicy(Settings):
    """What one seat is to begin with: a table of probabilities, or the policy of another model."""

    policy: str = ""
    """A table by its name in `initial_policies`, with its game and its labels."""
    teacher: str = ""
    """A model, as `stratagem players` names them, that is copied in `game`."""
    game: str = ""
    """What is played, and under which labels; a table has its own, which hold where none is named here."""
    seat: Literal[0, 1] = 1
    """Who is told."""
    styles: tuple[str, ...] = Field(default=("shapellm-state",), min_length=1)
    """How turns are put in words; each has as many prompts."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if bool(self.policy) == bool(self.teacher):
            raise ValueError("an aim is either a `policy` or a `teacher`: name one of them")
        if self.policy and self.policy not in INITIAL_POLICIES:
            raise ValueError(f"there is no initial policy {self.policy!r}: there are {', '.join(INITIAL_POLICIES)}")
        if self.teacher and not self.game:
            raise ValueError("a `teacher` is copied in a `game`: name one, such as ipd-shapellm")
        return self

    @property
    def table(self) -> InitialPolicy | None:
        """The table that is aimed at."""
        return INITIAL_POLICIES.get(self.policy)

    @property
    def labels(self) -> Labels:
        """What the two actions are called, by both seats."""
        if self.table and not self.game:
            return self.table.labels
        first, second = self.scene(self.styles[0]).game.seat_labels(self.seat)
        return first, second

    def scene(self, style: str) -> Scene:
        """The game in this style, and who is told."""
        game = self.game or (self.table.game if self.table else "")
        return scene_of(make_game(game), make_style(style), self.seat)

    def prompts(self, number: int, key: Key, episodes: int = 5) -> Iterator[Told]:
        """So many prompts or a few more, as many in each style."""
        for style in self.styles:
            yield from told(self.scene(style), self.labels, -(-number // len(self.styles)), key.at(style), episodes)

    def shares(self, prompts: Sequence[Told]) -> list[float]:
        """What the first label is to have after each prompt; the second has the rest."""
        table = self.table
        return copied(self.teacher, prompts) if table is None else [table.first[one.state] for one in prompts]


class Asked(NamedTuple):
    """A model, and what it makes of labels."""

    engine: Engine
    compiler: Compiler

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """The model behind an engine."""
        return cls(engine, Compiler(engine.vocabulary))

    def labels(self, one: Told) -> tuple[int, int]:
        """The tokens of the first and the second label after a prompt."""
        spelt = self.compiler.labels(one.view.choices, self.engine.begin(one.messages))
        tokens = {action: token for token, action in spelt.items()}
        first, second = (tokens[action] for action in one.view.choices)
        return first, second

    def example(self, one: Told, share: float) -> Example:
        """What teaches the first label to have this share after a prompt; which of the two stands there is all one."""
        prompt, (first, second) = self.engine.begin(one.messages).tokens, self.labels(one)
        target = {token: part for token, part in ((first, share), (second, 1.0 - share)) if part > 0.0}
        column = {"target_entropy": (target_entropy(target),)}
        return Example(tokens=(*prompt, first), loss_positions=(len(prompt),), targets=(target,), columns=column)

    def stated(self, prompts: Sequence[Told], adapter: str = "") -> list[tuple[float, float]]:
        """The log-probabilities of both labels, among all tokens, after each prompt."""
        nodes = [(Node((), self.labels(one), masked=False),) for one in prompts]
        requests = [
            ScoreRequest(prompt=self.engine.begin(one.messages), nodes=some, adapter=adapter)
            for one, some in zip(prompts, nodes, strict=True)
        ]
        return [(first, second) for ((first, second),) in self.engine.score(requests)]


def examples_of(engine: Engine, aim: TargetPolicy, number: int, key: Key, episodes: int = 5) -> list[Example]:
    """So many prompts in the model's tokens, each with the distribution that is wanted after it."""
    asked, prompts = Asked.of(engine), list(aim.prompts(number, key, episodes))
    return [asked.example(one, share) for one, share in zip(prompts, aim.shares(prompts), strict=True)]


def copied(teacher: str, prompts: Sequence[Told]) -> list[float]:
    """The first label's part of what a model says of the two after each prompt, which is put in its own tokens."""
    engine, adapter = served(teacher)
    if not engine.capabilities.scores:
        raise CannotCompute(f"{engine.name} does not tell how likely its tokens are, so it cannot be copied.")
    # of logarithms, since both labels may be too rare for a probability
    return [1.0 / (1.0 + math.exp(min(700.0, b - a))) for a, b in Asked.of(engine).stated(prompts, adapter)]


def reached(engine: Engine, aim: TargetPolicy, adapter: str = "") -> Reading:
    """What the model says of both labels in the five states, in the aim's first style."""
    reading = next(scan(engine, aim.scene(aim.styles[0]), [aim.labels], adapter=adapter))[aim.labels]
    if reading is None:
        raise CannotCompute(f"The labels {'/'.join(aim.labels)} are not one token each for {engine.name}.")
    return reading
