"""KL-SFT: supervised fine-tuning to target policies, by the KL divergence to whole distributions (ShapeLLM, A.9).

For a prompt c with a target p over two labels the loss is

    KL(p, pi) = sum over both labels of  p(a | c) (log p(a | c) - log pi(a | c))

with pi over the whole vocabulary, so tokens other than the labels become rare, too. The paper distils 1,000 prompts of
one model into another; a table of probabilities in the five states takes the teacher's place here. A model may learn
several target policies at once. To train on samples of a policy, use `sft`: its expected gradient is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal

from pydantic import Field, field_validator

from stratagem.algorithms.kl_sft.target_policies import TargetPolicy, make_examples
from stratagem.games.key import Key
from stratagem.language.engines.base import Engine
from stratagem.language.engines.open import open_engine
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.reference import parse_model
from stratagem.learn.example import Example
from stratagem.learn.losses.kl_targets import KLTargets
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.learn.schedules import read_schedule
from stratagem.training.algorithm import Algorithm
from stratagem.training.artifacts import Artifacts
from stratagem.training.policy import TrainablePolicy, learner_policy
from stratagem.training.recipe_file import AnyRecipe
from stratagem.training.sft import AdapterSettings, SFTSettings
from stratagem.training.stage import Stage
from stratagem.training.supervised import SupervisedStage

ADAPTER = "start"
DECODING = DecodingSettings(mode="single", style="shapellm-state")
"""Decoding mode and prompt style of the trained actions."""
SAVE_EVERY = 50
"""Steps between two checkpoints."""


class KLSFTSettings(SFTSettings):
    """Settings of KL-SFT."""

    num_examples: int = Field(default=1000, ge=5)
    """Number of examples; prompts of each target policy (A.9's N). Five are enough for a style that does not count."""
    episodes: int = Field(default=5, ge=1)
    """Number of episodes of a trial, over which joint actions are counted."""
    batch_size: int = Field(default=40, ge=1)
    """Number of examples in an optimizer step."""
    epochs: int = Field(default=4, ge=0)
    """Number of passes over the examples."""
    optimizer: OptimizerSettings = OptimizerSettings(
        learning_rate=1e-3, schedule=read_schedule("cosine"), warmup_ratio=0.05
    )
    """Optimizer of the trained weights."""


class KLSFTRecipe(AnyRecipe):
    """KL-SFT of a model to the target policies of one or more seats."""

    algorithm: Literal["kl_sft"] = "kl_sft"
    """Name of the algorithm."""
    model: str = "tiny"
    """Base model, as `stratagem players` names models."""
    target_policies: tuple[TargetPolicy, ...] = Field(min_length=1)
    """Target policies of the seats; one model learns them all."""
    kl_sft: KLSFTSettings = KLSFTSettings()
    """Settings of KL-SFT."""

    @field_validator("model")
    @classmethod
    def _can_change(cls, model: str) -> str:
        if parse_model(model).four_bit:
            raise ValueError("a model in 4 bits cannot change itself: leave +4bit out")
        return model

    @property
    def bases(self) -> tuple[str, ...]:
        """Base model."""
        return (self.model,)

    @property
    def steps(self) -> int:
        """Number of optimizer steps; the prompts of a target policy are split evenly among its styles."""
        prompts = sum(
            -(-self.kl_sft.num_examples // len(target.styles)) * len(target.styles) for target in self.target_policies
        )
        return self.kl_sft.steps(prompts)


def kl_sft(
    recipe: KLSFTRecipe,
    artifacts: Artifacts,
    *,
    name: str = "kl_sft",
    adapters: Iterable[AdapterSettings] = (),
    strict: bool = False,
) -> SupervisedStage:
    """Make the stage that trains the base of a run, or one of its bases, to the target policies.

    `adapters` come on the base later. Those that it cannot have are refused before it is trained.
    """
    settings, key, lm = recipe.kl_sft, Key(recipe.seed).at("kl_sft"), artifacts.load_given()
    for adapter in adapters:
        adapter.check(lm)
    engine = open_engine(lm, recipe.engine.value)
    examples = [[example] for example in target_examples(engine, recipe, key)]
    policy = TrainablePolicy(
        lm,
        engine,
        DECODING,
        name=ADAPTER,
        adapter=settings.adapter,
        seed=recipe.seed,
        policy=learner_policy(lm, recipe),
        strict=strict,
    )
    policy.assign(KLTargets(), settings.optimizer, settings.steps(len(examples)), key=key.at("dropout"))
    return SupervisedStage(name, artifacts, policy, examples, settings, key.at("order"), DECODING, SAVE_EVERY)


def target_examples(engine: Engine, recipe: KLSFTRecipe, key: Key) -> list[Example]:
    """Return the examples of all target policies."""
    settings = recipe.kl_sft
    return [
        example
        for number, target in enumerate(recipe.target_policies)
        for example in make_examples(engine, target, settings.num_examples, key.at("aim", number), settings.episodes)
    ]


class KLSFTAlgorithm(Algorithm[KLSFTRecipe]):
    """KL-SFT alone; other runs take its model as a base, `run:PATH@start`."""

    recipe_type = KLSFTRecipe

    def check(self) -> None:
        """Check nothing beyond the recipe itself."""

    @property
    def num_steps(self) -> int:
        return self.recipe.steps

    def stages(self) -> Sequence[Callable[[], Stage]]:
        return [partial(kl_sft, self.recipe, Artifacts(self.run, self.recipe.model), strict=self.strict)]
