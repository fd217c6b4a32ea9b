"""Supervised fine-tuning: say what a demonstration said (SEPO, stage 1).

The loss is the mean negative log-probability of the replies' tokens, the end token included; prompts teach nothing.
Batches are drawn without repetition within an epoch, in an order that follows from the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from stratagem.decoding.vocabulary import Ids
from stratagem.demonstrations.scripted import num_training
from stratagem.engines.base import Engine
from stratagem.games.key import Key
from stratagem.learning.example import Example, of_demonstration
from stratagem.learning.optimizer import OptimizerSettings
from stratagem.models.adapters import adapter_parameters, add_adapter
from stratagem.models.language_model import LanguageModel
from stratagem.prompting.base import Message
from stratagem.settings import FiniteSettings


class AdapterSettings(FiniteSettings):
    """A LoRA adapter on linear layers of the language model."""

    replaced: ClassVar[Mapping[str, str]] = {
        "alpha": "lora_alpha",
    }

    rank: int = Field(default=16, ge=1)
    """Rank r of the adapter's matrices (Hu et al. 2021)."""
    lora_alpha: float = Field(default=32.0, gt=0.0)
    """LoRA's alpha: the adapter's output is scaled by `lora_alpha` / `rank`."""
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    """Dropout on the adapter's inputs in training."""
    targets: tuple[str, ...] = ()
    """The layers that have one, by their last names, as `["q_proj", "v_proj"]`; without any all linear layers do."""

    def add(self, lm: LanguageModel, name: str, seed: int) -> list[Any]:
        """Add one to a model, and give its weights."""
        add_adapter(lm, name, self.rank, self.lora_alpha, self.targets or None, seed=seed, dropout=self.dropout)
        return adapter_parameters(lm, name)


class SFTSettings(FiniteSettings):
    """Supervised fine-tuning on demonstrations."""

    replaced: ClassVar[Mapping[str, str]] = {
        "examples": "num_examples",
        "batch": "batch_size",
        "optimiser": "optimizer",
    }

    num_examples: int = Field(default=8000, ge=1)
    """Number of examples; of each game, those that are held out included."""
    epochs: int = Field(default=3, ge=0)
    """Number of passes over the examples."""
    batch_size: int = Field(default=8, ge=1)
    """Number of examples in an optimizer step."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=2e-5, schedule="cosine", warmup_ratio=0.05)
    """Optimizer of the trained weights."""
    adapter: AdapterSettings | None = None
    """LoRA adapter that is trained; it is merged into the base at the end. Without this table all
    weights are trained."""

    def steps(self, examples: int) -> int:
        """How many steps so many examples take."""
        return self.epochs * -(-examples // self.batch_size)


class SFTStageSettings(SFTSettings):
    """Supervised fine-tuning of a run's base before its iterations."""

    teacher: str = ""
    """Whose games against itself are imitated, in all seats; without one the game's demonstrators are."""

    @property
    def taught(self) -> int:
        """How many demonstrations of each game are learnt from: of demonstrators four fifths, of a teacher all."""
        return self.num_examples if self.teacher else num_training(self.num_examples)


def demonstrated(engine: Engine, messages: Sequence[Message], reply: str) -> Example:
    """A demonstration in the model's tokens, as it would have said it itself."""
    prompt = engine.begin(tuple((message.role, message.content) for message in messages)).tokens
    return of_demonstration(prompt, (*_said(engine, reply), engine.vocabulary.end))


def _said(engine: Engine, reply: str) -> Ids:
    return tuple(engine.vocabulary.encode(reply))


def batches(units: Sequence[Sequence[Example]], settings: SFTSettings, key: Key) -> Iterator[list[Example]]:
    """The examples of every step."""
    for epoch in range(settings.epochs):
        order = list(range(len(units)))
        key.at("epoch", epoch).rng().shuffle(order)
        examples = [example for place in order for example in units[place]]
        yield from (
            examples[start : start + settings.batch_size] for start in range(0, len(examples), settings.batch_size)
        )
