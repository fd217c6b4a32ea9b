"""Decoding settings: the sampling distribution of a model's replies, its sampler by name, the mode and the style.

A sampler is the behaviour policy: the distribution that tokens are drawn from, as a function of the policy's. So an
exploring policy is trained on tokens of another distribution, whose log-probabilities are recorded with the tokens.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, PlainSerializer, PlainValidator

from stratagem.base.named import NamedObject, RegistryReader, in_a_recipe
from stratagem.base.options import within
from stratagem.base.registry import Registry
from stratagem.base.settings import Settings
from stratagem.language.decoding.sampling import Sampling

if TYPE_CHECKING:
    import torch  # players are made without it


class Sampler(ABC):
    """Sampler: a pure function from the policy's distribution to the one that tokens are drawn from.

    The policy's is tempered, over the legal tokens where there is a set of them, and cut by top-k, top-p and min-p.
    """

    @abstractmethod
    def behaviour_logprobs(self, policy_logprobs: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities to draw by, [N, A]; they sum to 1 over each row.

        Minus infinity, the log-probability of a token that cannot come, stays; every other token stays possible.
        """


@dataclass(frozen=True)
class EpsilonUniform(Sampler):
    """Mixture with the uniform distribution over the n tokens that can come: `(1 - epsilon) pi + epsilon / n`.

    Exploration as by the epsilon-soft policies of Sutton and Barto 2018, section 5.4.

    When not: free text, where n is the whole vocabulary, and one token in `1 / epsilon` would be any of them.
    """

    epsilon: float = 0.1
    """Probability of a uniform draw."""

    def __post_init__(self) -> None:
        within(None, "epsilon", self.epsilon, 0.0, 1.0)

    def behaviour_logprobs(self, policy_logprobs: torch.Tensor) -> torch.Tensor:
        possible = policy_logprobs > -math.inf
        uniform = -possible.sum(-1, keepdim=True).to(policy_logprobs).log()
        explored = uniform + _log(self.epsilon)
        mixed = (policy_logprobs + _log(1.0 - self.epsilon)).logaddexp(explored)
        return mixed.masked_fill(~possible, -math.inf)


def _log(share: float) -> float:
    return math.log(share) if share else -math.inf


SAMPLERS: dict[str, Callable[..., Sampler]] = {"epsilon_uniform": EpsilonUniform}
"""Samplers by name; without one, tokens are drawn by the policy itself."""

_registry: Registry[Sampler] = Registry("sampler", SAMPLERS, "stratagem.samplers", Sampler)

read_sampler = RegistryReader(_registry, Sampler)
"""Reader of a sampler: a text or a table."""
NamedSampler = Annotated[
    NamedObject[Sampler], PlainValidator(in_a_recipe(read_sampler)), PlainSerializer(NamedObject.table)
]
"""Sampler as a setting."""


class DistributionSettings(Settings):
    """Settings of the policy's distribution: its temperature, and the tokens that are left."""

    temperature: float = Field(default=1.0, gt=0.0)
    """Sampling temperature."""
    top_k: int = Field(default=0, ge=0)
    """Number of most likely tokens to sample from; 0 leaves all. The learner renormalises over the kept tokens."""
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    """Nucleus sampling: the most likely tokens that together have at least this probability; 1 leaves all."""
    min_p: float = Field(default=0.0, ge=0.0, le=1.0)
    """Min-p sampling: the tokens with at least this share of the greatest probability; 0 leaves all."""

    def sampling_by(self, sampler: str) -> Sampling:
        """Return the sampling distribution with a sampler; empty for none."""
        numbers = {name: getattr(self, name) for name in DistributionSettings.model_fields}
        return Sampling(**numbers, sampler=sampler)


class SamplingSettings(DistributionSettings):
    """Sampling settings of recipes."""

    sampler: NamedSampler | None = None
    """Sampler by name with its parameters, such as `epsilon_uniform`; without one the policy itself is drawn from."""

    @property
    def sampling(self) -> Sampling:
        """Sampling distribution."""
        return self.sampling_by("" if self.sampler is None else str(self.sampler))


class DecodingSettings(DistributionSettings):
    """Decoding mode, prompt style and sampling settings of a run's models: options of the players made from them."""

    temperature: float = 1.0
    mode: str = "direct"
    style: str = "plain"
    max_new_tokens: int = 256
    sampler: str = ""
    """Text that names a sampler: to read a run of a stranger must not load a file that it names."""

    @property
    def sampling(self) -> Sampling:
        """Sampling distribution."""
        return self.sampling_by(self.sampler)

    @classmethod
    def of(cls, sampling: Sampling, mode: str, style: str, max_new_tokens: int) -> Self:
        """Make the settings of a sampling distribution."""
        return cls(**asdict(sampling), mode=mode, style=style, max_new_tokens=max_new_tokens)
