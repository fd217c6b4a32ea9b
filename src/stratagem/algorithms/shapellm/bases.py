"""Base models of the seats; each is loaded once, and seats share it by adapters of their own."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.engines.base import TrainableEngine
from stratagem.engines.open import open_engine
from stratagem.engines.spec import TrainableEngineSpec
from stratagem.errors import BadParameter
from stratagem.learning.policy import Policy
from stratagem.models.language_model import LanguageModel
from stratagem.models.reference import parse_model
from stratagem.models.run_models import resolved
from stratagem.training.artifacts import Artifacts


@dataclass(frozen=True)
class Base:
    """Base model with its engine and its differentiable policy."""

    lm: LanguageModel
    engine: TrainableEngine
    policy: Policy

    @classmethod
    def of(cls, artifacts: Artifacts, spec: TrainableEngineSpec, max_tokens: int) -> Base:
        """Load a base of a run; it has no adapter, since each seat adds its own."""
        text = artifacts.model
        if resolved(parse_model(text)).adapters:
            raise BadParameter(
                f"{text} is a model with an adapter, and seats of a run are on a base without one: name such a base, "
                "as run:PATH@start, or name this model at a seat that is frozen."
            )
        lm = artifacts.load()
        policy = Policy(lm, max_tokens_per_microbatch=max_tokens, fp32_head=True)
        return cls(lm, open_engine(lm, spec), policy)
