"""Target policies of seats, and their examples for KL-SFT (ShapeLLM, A.9).

The target after a prompt is a distribution over the seat's two labels; all other tokens have probability 0. It comes
from a table of the five states (`initial_policies`), or from another model's probabilities of the labels, renormalised.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from stratagem.base.errors import CannotCompute
from stratagem.base.settings import Settings
from stratagem.games.base import View
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Chat, Engine, PolicyNode, ScoreRequest
from stratagem.language.engines.open import engine_for
from stratagem.language.prompting.catalogue import make_style
from stratagem.language.prompting.past import NOTHING, Joint, Past
from stratagem.learn.example import Example
from stratagem.learn.losses.kl_targets import target_entropy
from stratagem.measure.labels import LabelReading, Labels, Scene, scan, scene_of
from stratagem.players.speaker import Compiler

FiveStates = tuple[float, float, float, float, float]
"""A probability for each of the five states."""
_TABLE = "ShapeLLM, Table 14"
_FIGURE = "assumed: ShapeLLM's Figure 2 begins with much cooperation under the labels C/D and prints no number"
_RECIPROCAL = "assumed: a seat that mostly answers in kind; nothing is printed of what gemma makes of the counts"
_NOTHING = "assumed: nothing is printed of these labels"


@dataclass(frozen=True)
class InitialPolicy:
    """Table of target probabilities by state."""

    game: str
    labels: Labels
    first: FiveStates
    """Probabilities of the first action in the five states; the second action has the rest, other tokens have 0."""
    source: str
    """Source of the numbers: a table of the paper, or an assumption."""


INITIAL_POLICIES: MappingProxyType[str, InitialPolicy] = MappingProxyType(
    {
        "ipd-75": InitialPolicy("ipd-shapellm", ("H", "K"), (0.60, 0.89, 0.89, 0.70, 0.68), f"{_TABLE} (a)"),
        "ipd-50": InitialPolicy("ipd-shapellm", ("N", "Y"), (0.68, 0.38, 0.87, 0.58, 0.77), f"{_TABLE} (a)"),
        "ipd-25": InitialPolicy("ipd-shapellm", ("I", "X"), (0.12, 0.21, 0.75, 0.34, 0.24), f"{_TABLE} (a)"),
        "imp-75": InitialPolicy("imp", ("S", "Y"), (0.71, 0.78, 0.87, 0.57, 0.70), f"{_TABLE} (b)"),
        "imp-50": InitialPolicy("imp", ("N", "Y"), (0.48, 0.32, 0.60, 0.56, 0.66), f"{_TABLE} (b)"),
        "imp-25": InitialPolicy("imp", ("N", "M"), (0.30, 0.20, 0.36, 0.13, 0.18), f"{_TABLE} (b)"),
        "icg-75": InitialPolicy("icg", ("T", "K"), (0.61, 0.90, 0.87, 0.82, 0.82), f"{_TABLE} (c)"),
        "icg-50": InitialPolicy("icg", ("N", "M"), (0.41, 0.40, 0.71, 0.37, 0.61), f"{_TABLE} (c)"),
        "icg-25": InitialPolicy("icg", ("T", "F"), (0.24, 0.47, 0.47, 0.02, 0.11), f"{_TABLE} (c)"),
        "ipd-cooperative": InitialPolicy("ipd-shapellm", ("C", "D"), (0.85, 0.85, 0.85, 0.85, 0.85), _FIGURE),
        "ipd-reciprocal": InitialPolicy("ipd-shapellm", ("C", "D"), (0.85, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
        "c-ipd-cooperative": InitialPolicy("c-ipd", ("C", "D"), (0.85, 0.85, 0.85, 0.85, 0.85), _FIGURE),
        "c-ipd-reciprocal": InitialPolicy("c-ipd", ("C", "D"), (0.85, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
        "imp-even": InitialPolicy("imp", ("H", "T"), (0.5, 0.5, 0.5, 0.5, 0.5), _NOTHING),
        "imp-reciprocal": InitialPolicy("imp", ("H", "T"), (0.5, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
        "icg-even": InitialPolicy("icg", ("S", "G"), (0.5, 0.5, 0.5, 0.5, 0.5), _NOTHING),
        "icg-reciprocal": InitialPolicy("icg", ("S", "G"), (0.5, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
        "ish-even": InitialPolicy("ish", ("S", "H"), (0.5, 0.5, 0.5, 0.5, 0.5), _NOTHING),
        "ish-reciprocal": InitialPolicy("ish", ("S", "H"), (0.5, 0.9, 0.2, 0.9, 0.2), _RECIPROCAL),
    }
)
"""Initial policies by name; a number in a name is the probability, in percent, for which the paper chose the labels."""


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
        nodes = [(PolicyNode((), self.labels(prompt), masked=False),) for prompt in prompts]
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
    engine, adapter = engine_for(teacher)
    if not engine.capabilities.scores:
        raise CannotCompute(f"{engine.name} does not tell how likely its tokens are, so it cannot be copied.")
    # from logarithms, since the probabilities of both labels may underflow
    return [1.0 / (1.0 + math.exp(min(700.0, b - a))) for a, b in LabelScorer.of(engine).logprobs(prompts, adapter)]


def measured_policy(engine: Engine, target: TargetPolicy, adapter: str = "") -> LabelReading:
    """Return the model's probabilities of both labels in the five states, in the target's first style."""
    reading = next(scan(engine, target.scene(target.styles[0]), [target.labels], adapter=adapter))[target.labels]
    if reading is None:
        raise CannotCompute(f"The labels {'/'.join(target.labels)} are not one token each for {engine.name}.")
    return reading
