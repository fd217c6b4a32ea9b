"""Supervised fine-tuning (SFT) on demonstrations: cross-entropy of the replies, `-mean log pi(y_t | x, y_<t)`.

The loss mask has the replies' tokens with the end token, and no prompt tokens. Batches are drawn without replacement
within an epoch, in an order that follows from the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from stratagem.base.settings import FiniteSettings
from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import Engine
from stratagem.language.models.adapters import (
    adapted_layers,
    adapter_names,
    adapter_parameters,
    add_adapter,
    copy_adapter,
)
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.prompting.base import ChatMessage
from stratagem.learn.demonstrations.scripted import num_training
from stratagem.learn.example import Example, example_from_demonstration
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.learn.schedules import read_schedule
from stratagem.training.by_game import NamedDemonstrators
from stratagem.training.game_lists import GameNames

START = "start"
"""Name of the frozen adapter of SFT on a base in 4 bits, into which it cannot be merged."""


class AdapterSettings(FiniteSettings):
    """LoRA adapter (Hu et al. 2021) on linear layers of the language model."""

    rank: int = Field(default=16, ge=1)
    """Rank r of the adapter's matrices (Hu et al. 2021)."""
    lora_alpha: float = Field(default=32.0, gt=0.0)
    """LoRA's alpha: the adapter's output is scaled by `lora_alpha` / `rank`."""
    dropout: float = Field(default=0.0, ge=0.0, lt=1.0)
    """Dropout on the adapter's inputs in training."""
    targets: tuple[str, ...] = ()
    """Adapted layers, by the last part of their names, as `["q_proj", "v_proj"]`; without any, all linear layers."""

    def check(self, lm: LanguageModel) -> None:
        """Refuse targets that a model has not."""
        adapted_layers(lm, self.targets)

    def add(self, lm: LanguageModel, name: str, seed: int) -> list[Any]:
        """Add an adapter to a model, and return its weights; it goes on from the adapter of SFT, if there is one."""
        if START in adapter_names(lm):
            copy_adapter(lm, START, name, trainable=True, dropout=self.dropout)
        else:
            add_adapter(lm, name, self.rank, self.lora_alpha, self.targets or None, seed=seed, dropout=self.dropout)
        return adapter_parameters(lm, name)

    def same_weights(self, other: AdapterSettings) -> bool:
        """True if the weights of one fit the other; dropout may differ."""
        free = {"dropout": 0.0}
        return self.model_copy(update=free) == other.model_copy(update=free)


class SFTSettings(FiniteSettings):
    """Supervised fine-tuning on demonstrations."""

    num_examples: int = Field(default=8000, ge=1)
    """Number of examples; of each game, those that are held out included."""
    epochs: int = Field(default=3, ge=0)
    """Number of passes over the examples."""
    batch_size: int = Field(default=8, ge=1)
    """Number of examples in an optimizer step."""
    optimizer: OptimizerSettings = OptimizerSettings(
        learning_rate=2e-5, schedule=read_schedule("cosine"), warmup_ratio=0.05
    )
    """Optimizer of the trained weights."""
    adapter: AdapterSettings | None = None
    """LoRA adapter that is trained; it is merged into the base at the end, and stays an adapter on a base in 4 bits.
    Without this table all weights are trained."""

    def steps(self, examples: int) -> int:
        """Return the number of optimizer steps for a number of examples."""
        return self.epochs * -(-examples // self.batch_size)


class SourceSettings(FiniteSettings):
    """Source of examples: games, the player whose actions are learnt, and the prompts."""

    games: GameNames = Field(min_length=1)
    """Games of the source, also `draws(cards, 20, seed=3)`; they need not be those of the recipe. `rules:GAME` are
    questions about the rules."""
    teacher: str
    """Player whose actions are learnt."""
    played_by: str = ""
    """Player of all seats in the games whose situations the teacher is asked about; without one, the teacher."""
    records: tuple[str, ...] = ()
    """Folders of records of games that were played before; with any, the teacher's decisions there are learnt, and no
    game is played."""
    num_examples: int = Field(default=4000, ge=1)
    """Number of examples; of each game."""
    styles: tuple[str, ...] = ()
    """Prompt styles; the examples have them in turn. Without any, they have the recipe's `style`."""
    held_out: float = Field(default=0.0, ge=0.0, lt=1.0)
    """Share of the situations that are left out, so that they are new to the model in a test."""

    @model_validator(mode="after")
    def _played_or_recorded(self) -> Self:
        if self.records and self.played_by:
            raise ValueError("`records` and `played_by` cannot both say which games are used: give one of them")
        return self


class SFTStageSettings(SFTSettings):
    """Supervised fine-tuning of a run's base before its iterations."""

    teacher: str = ""
    """Player whose self-play is imitated, in all seats; without one, the game's demonstrators are imitated."""
    file: str = ""
    """File of demonstrations as JSON lines, as `stratagem data` and the pages of `stratagem view` write them; its
    examples of the game are learnt, in place of demonstrators."""
    demonstrators: NamedDemonstrators = Field(default={})
    """Demonstrators with their weights, as `{ TitForTat = 2, AlwaysDefect = 1 }`, in place of the game's. With several
    games, a table for a game: `[sft.demonstrators.kuhn]`."""
    sources: tuple[SourceSettings, ...] = ()
    """Mixture of sources, in place of `num_examples` of each game of the recipe."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        sources: dict[str, object] = {"teacher": self.teacher, "demonstrators": self.demonstrators}
        sources |= {"file": self.file, "sources": self.sources}
        if len(given := [f"`sft.{name}`" for name, source in sources.items() if source]) > 1:
            raise ValueError(f"{' and '.join(given)} cannot both be imitated: give one of them")
        return self

    def num_trained(self, games: int) -> int:
        """Return the number of training examples of so many games.

        Those of the sources, or for each game four fifths of demonstrations, or all of a teacher or a file.
        """
        if self.sources:
            return sum(len(source.games) * source.num_examples for source in self.sources)
        return games * (self.num_examples if self.teacher or self.file else num_training(self.num_examples))


def example_of_demonstration(engine: Engine, messages: Sequence[ChatMessage], reply: str) -> Example:
    """Return the example of a demonstration, in the model's tokens."""
    prompt = engine.begin(tuple((message.role, message.content) for message in messages)).tokens
    return example_from_demonstration(prompt, (*_tokens(engine, reply), engine.vocabulary.end))


def _tokens(engine: Engine, reply: str) -> Ids:
    return tuple(engine.vocabulary.encode(reply))


def batches(units: Sequence[Sequence[Example]], settings: SFTSettings, key: Key) -> Iterator[list[Example]]:
    """Yield the batch of every step."""
    for epoch in range(settings.epochs):
        order = list(range(len(units)))
        key.at("epoch", epoch).rng().shuffle(order)
        examples = [example for index in order for example in units[index]]
        yield from (
            examples[start : start + settings.batch_size] for start in range(0, len(examples), settings.batch_size)
        )
