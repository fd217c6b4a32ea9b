"""M-FOS: model-free opponent shaping (Lu et al. 2022), between memory-one policies with exact values.

A meta-policy acts once in each step of the opponent's learning. Its state is both policies, as probabilities, and its
action is the learner's next policy, as log-odds. The reward is the exact value of an episode, and a meta-episode is
`meta_steps` updates of a naive learner that begins at random. So the return includes all effects on the opponent's
learning, and no derivative of the opponent's rule is used.

Before the trials the meta-policy is trained in simulated meta-episodes, by an evolution strategy with antithetic noise
and ranks (Salimans et al. 2017):

    w <- w + rate * Adam(1 / (n sigma) sum over i of (rank(w + sigma e_i) - rank(w - sigma e_i)) e_i)

In the trials it only acts. Simplifications: the paper trains by PPO or a genetic algorithm, on a GPU, with 256 hidden
units and 4096 or more meta-episodes a step. Here a network has 16, one direction is tried in 8 meta-episodes, and all
candidates face the same opponents. Two M-FOS seats are each trained against naive learners; meta-self-play is not made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from stratagem.algorithms.shapellm.shapers.memory_one import (
    STATES,
    MemoryOneGame,
    MemoryOneSeat,
    MemoryOneSettings,
    slope,
)
from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small, reason, write_file
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.training.runs.folder import RunFolder
from stratagem.training.stage import Metrics, Stage, State, TrainingBatch

_INITIAL_STD, _INITIAL_SCALE = 1.0, 0.3
"""Standard deviations of the policies at the start of a meta-episode, and of the network's first weights."""
_DECAY, _SQUARED_DECAY = 0.9, 0.99
"""Decay rates of Adam; squares are averaged over 100 generations, not over 1,000 as usual: there are 60 by default."""


class MFOSSettings(MemoryOneSettings):
    """M-FOS: a meta-policy that chooses the next policy, trained before the trials against simulated naive learners."""

    learner: Literal["mfos"] = "mfos"
    """Kind of learner."""
    opponent_learning_rate: float = Field(default=1.0, ge=0.0)
    """Learning rate of the opponent, as the shaper assumes it; that of the simulated naive learners."""
    meta_steps: int = Field(default=100, ge=1)
    """Number of the opponent's updates in a meta-episode."""
    meta_episodes: int = Field(default=8, ge=1)
    """Number of meta-episodes by which a candidate is judged."""
    generations: int = Field(default=60, ge=1)
    """Number of steps of the evolution strategy."""
    population: int = Field(default=16, ge=2)
    """Number of noise vectors in a generation; each is added and subtracted."""
    noise_std: float = Field(default=0.1, gt=0.0)
    """Standard deviation sigma of the noise on weights."""
    meta_learning_rate: float = Field(default=0.1, gt=0.0)
    """Step size of Adam on the weights."""
    hidden_units: int = Field(default=16, ge=1)
    """Number of hidden units of the meta-policy."""


class MetaPolicy(NamedTuple):
    """Network with one hidden layer, from both policies to the next one; one weight vector is one policy."""

    hidden: int

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(math.prod(shape) for shape in self._shapes)

    @property
    def _shapes(self) -> tuple[tuple[int, int], ...]:
        return (2 * STATES, self.hidden), (1, self.hidden), (self.hidden, STATES), (1, STATES)

    def act(self, weights: Tensor, own: Tensor, other: Tensor) -> Tensor:
        """Return the next log-odds; weights are (policies, size), log-odds (policies, episodes, states)."""
        parts = torch.split(weights, [math.prod(shape) for shape in self._shapes], dim=-1)
        into, bias, out, last = (
            part.reshape(*part.shape[:-1], *shape) for part, shape in zip(parts, self._shapes, strict=True)
        )
        seen = 2.0 * torch.sigmoid(torch.cat([own, other], dim=-1)) - 1.0
        hidden = torch.tanh(seen @ into + bias)
        return torch.add(hidden @ out, last)


def meta_returns(game: MemoryOneGame, policy: MetaPolicy, weights: Tensor, settings: MFOSSettings, key: Key) -> Tensor:
    """Return the payoffs per round of each weight vector and of its naive opponents, over the same meta-episodes."""
    starts = draw_normal(key, 2, settings.meta_episodes, STATES).expand(len(weights), -1, -1, -1)
    own, other = (_INITIAL_STD * starts).unbind(dim=1)
    total = torch.zeros(2, len(weights), dtype=weights.dtype)
    for _ in range(settings.meta_steps):
        own = policy.act(weights, own, other)
        other = other.detach().requires_grad_()
        mine, theirs = game.values(own, other)
        step = slope(theirs.sum(), other)
        total += torch.stack([mine, theirs]).detach().mean(-1)
        other = other.detach() + settings.opponent_learning_rate * step
    return total / settings.meta_steps / game.length


class MetaLearner:
    """Evolution strategy over the weights of a meta-policy; a step is a generation."""

    def __init__(self, settings: MFOSSettings, game: MemoryOneGame, key: Key) -> None:
        self.settings, self.game, self.key = settings, game, key
        self.policy = MetaPolicy(settings.hidden_units)
        self.weights = _INITIAL_SCALE * draw_normal(key.at("weights"), self.policy.size)
        self.mean, self.square = torch.zeros_like(self.weights), torch.zeros_like(self.weights)

    def update(self, generation: int) -> Metrics:
        """Take one step, and return the mean payoffs per round of the candidates and of their opponents."""
        settings, key = self.settings, self.key.at("generation", generation)
        noise = draw_normal(key.at("noise"), settings.population, self.policy.size)
        offsets = settings.noise_std * torch.cat([noise, -noise])
        returns = meta_returns(self.game, self.policy, self.weights + offsets, settings, key.at("starts"))
        self._ascend(_weigh_by_rank(returns[0], noise) / settings.noise_std, generation + 1)
        return {"payoff": returns[0].mean().item(), "opponent_payoff": returns[1].mean().item()}

    def _ascend(self, gradient: Tensor, number: int) -> None:
        self.mean = _DECAY * self.mean + (1.0 - _DECAY) * gradient
        self.square = _SQUARED_DECAY * self.square + (1.0 - _SQUARED_DECAY) * gradient**2
        mean, square = self.mean / (1.0 - _DECAY**number), self.square / (1.0 - _SQUARED_DECAY**number)
        self.weights = self.weights + self.settings.meta_learning_rate * mean / (square.sqrt() + 1e-8)

    def findings(self) -> Mapping[str, Any]:
        """Return nothing: no monitor watches it."""
        return {}

    def reading(self) -> Mapping[str, str]:
        """Return nothing: it reads no text."""
        return {}

    @property
    def subject(self) -> None:
        """No engine."""

    def state(self) -> dict[str, list[float]]:
        """Return all that a later generation depends on."""
        return {name: getattr(self, name).tolist() for name in ("weights", "mean", "square")}

    def restore(self, state: Mapping[str, list[float]]) -> None:
        """Continue from a state."""
        for name, values in state.items():
            setattr(self, name, torch.tensor(values, dtype=torch.float64))


class MFOSSeat(MemoryOneSeat[MFOSSettings]):
    """Seat whose next policy is chosen by a trained meta-policy."""

    def __init__(
        self, name: str, settings: MFOSSettings, game: Game[Any], slot: int, key: Key, weights: Tensor | None = None
    ) -> None:
        """`weights` are those of the meta-policy; without any it is untrained, and the seat can only be checked."""
        super().__init__(name, settings, game, slot, key)
        self.policy = MetaPolicy(settings.hidden_units)
        self.weights = torch.zeros(self.policy.size, dtype=torch.float64) if weights is None else weights

    def step(self, own: Tensor, other: Tensor) -> Tensor:
        return self.policy.act(self.weights[None], own[None, None], other[None, None])[0, 0]


def _weigh_by_rank(returns: Tensor, noise: Tensor) -> Tensor:
    """Return the mean of the noise vectors, weighted by the difference of centred ranks of their two signs."""
    ranks = returns.argsort().argsort().to(noise.dtype) / (len(returns) - 1)
    added, subtracted = ranks.chunk(2)
    return ((added - subtracted)[:, None] * noise).mean(0)


def draw_normal(key: Key, *shape: int) -> Tensor:
    """Draw a tensor of normal numbers by a key."""
    generator = torch.Generator().manual_seed(key.integer(2**62))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


META_POLICIES = "meta_policies.json"
"""File of the weights of trained meta-policies, by seat."""


class MetaStage(Stage):
    """Training of all meta-policies of a run in simulated meta-episodes."""

    saves_outcome = True

    def __init__(self, learners: Mapping[str, MetaLearner], run: RunFolder, save_every: int) -> None:
        """`save_every` is the number of generations between two checkpoints."""
        self.learners = learners
        self.policies = {f"meta/{name}": learner for name, learner in learners.items()}
        self.run = run
        self.save_every = save_every
        self.num_steps = max(learner.settings.generations for learner in learners.values())

    def batches(self, step: int) -> Iterator[TrainingBatch]:
        for name, learner in self.learners.items():
            if step < learner.settings.generations:
                yield TrainingBatch(policy=f"meta/{name}", data=step)

    def saves(self, step: int) -> bool:
        return not step % self.save_every

    def finish(self, step: int) -> None:
        weights = {name: learner.weights.tolist() for name, learner in self.learners.items()}
        write_file(self.run.path / META_POLICIES, json.dumps(weights) + "\n")

    def state(self) -> dict[str, Any]:
        return {name: learner.state() for name, learner in self.learners.items()}

    def restore(self, state: State, folder: Path) -> None:
        for name, learner in self.learners.items():
            learner.restore(state[name])


def meta_policies(run: RunFolder) -> dict[str, Tensor]:
    """Return the weights of the run's trained meta-policies by seat; none before they are trained."""
    path = run.path / META_POLICIES
    if not path.is_file():
        return {}
    try:
        weights = parse_json(read_small(path))
        return {name: torch.tensor(row, dtype=torch.float64) for name, row in weights.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadRecord(f"The meta-policies {path} cannot be read: {reason(error)}.") from error
