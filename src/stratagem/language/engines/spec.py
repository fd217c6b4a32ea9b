"""Specs of engines: settings of one kind of engine, as a recipe's `engine` table has them, which open it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from stratagem.language.engines.base import Engine, TrainableEngine
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.reference import ModelRef


class EngineSpec(ABC):
    """Settings of one kind of engine; a subclass is a frozen dataclass, whose fields are the settings."""

    @classmethod
    def missing(cls) -> str | None:
        """Sentence that says why this engine cannot be used on this machine; None if it can."""
        return None

    @abstractmethod
    def serve(self, ref: ModelRef) -> Engine:
        """Open an engine of a model that is not trained here."""


class TrainableEngineSpec(EngineSpec):
    """Settings of an engine of weights on this machine, which may be under training."""

    @abstractmethod
    def open(self, lm: LanguageModel) -> TrainableEngine:
        """Open an engine of the learner's model, whose weights and adapters change in place."""

    def serve(self, ref: ModelRef) -> TrainableEngine:
        """Open an engine of a model that is not trained here; an engine with weights of its own overrides this."""
        from stratagem.language.models.load import load

        return self.open(load(ref))


__all__ = ["EngineSpec", "TrainableEngineSpec"]
