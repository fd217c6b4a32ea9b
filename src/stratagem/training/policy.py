"""Trainable policy: an adapter or all weights of a model, with its player, its learner and its monitor.

Several policies may share one model and its engine, each as a named adapter.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.language.engines.base import Engine, HoldsCopy, TrainableEngine
from stratagem.language.models.adapters import adapter_names
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.checks import ADVANTAGES, ADVANTAGES_CLIPPED
from stratagem.learn.example import Example
from stratagem.learn.gradient_signal import measure_signals
from stratagem.learn.learner import Learner, StepReport
from stratagem.learn.losses.base import Loss
from stratagem.learn.monitor import TrainingMonitor
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.learn.reference import MovingReference
from stratagem.learn.sharded import ShardedOptimizer, ShardedPolicy
from stratagem.learn.steps import take_steps
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.playing.workers.ranks import ranks_of_plan
from stratagem.training.runs.weights import restore_heads, restore_weights, writes_adapters, writes_heads, writes_model
from stratagem.training.sft import START, AdapterSettings
from stratagem.training.stage import Metrics, TrainingSubject

if TYPE_CHECKING:
    import torch

    from stratagem.training.recipe_file import AnyRecipe

POLICY = "policy"
"""Name of the adapter in runs that train one policy."""


@dataclass(frozen=True)
class TrainingData:
    """Examples of one batch, with the counts and inactive terms that the monitor needs."""

    examples: Sequence[Example]
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of groups and advantages, from the advantage estimators."""
    inactive: Collection[str] = ()
    """Penalty terms that are inactive in this batch."""


def speaker(decoding: DecodingSettings, engine: Engine, adapter: str = "") -> Speaker:
    """Make the speaker of a model: its engine, prompt style and sampling."""
    return Speaker(
        engine=engine,
        adapter=adapter,
        style=make_style(decoding.style),
        sampling=decoding.sampling,
        max_new_tokens=decoding.max_new_tokens,
    )


def model_player(
    decoding: DecodingSettings, engine: Engine, adapter: str = "", name: str = POLICY, games: Iterable[Game[Any]] = ()
) -> ModelPlayer:
    """Make the player of a model; refused if it cannot output the actions of one of the games in its mode."""
    player = ModelPlayer(name=name, speaker=speaker(decoding, engine, adapter), mode=decoding.mode)
    for game in games:
        player.check(game)
    return player


def learner_policy(lm: LanguageModel, recipe: AnyRecipe) -> Policy:
    """Make the policy of a model under training with the sizes of a recipe."""
    return Policy(
        lm,
        max_tokens_per_microbatch=recipe.max_tokens_per_microbatch,
        logits_chunk_mib=recipe.logits_chunk_mib,
        gradient_checkpointing=getattr(recipe, "gradient_checkpointing", False) is True,  # KL-SFT has no such setting
    )


class TrainablePolicy:
    """Policy under training; `assign` gives it an objective and an optimizer."""

    def __init__(
        self,
        lm: LanguageModel,
        engine: TrainableEngine,
        decoding: DecodingSettings,
        *,
        name: str = POLICY,
        adapter: AdapterSettings | None,
        seed: int,
        policy: Policy,
        strict: bool = False,
    ) -> None:
        """Without `adapter` all weights are trained; `strict` stops at the first fault that the monitor finds."""
        self.lm = lm
        self.engine = engine
        self.name = name
        self.adapter = name if adapter is not None else None
        self.weights = _all_weights(lm) if adapter is None else adapter.add(lm, name, seed)
        self.player = model_player(decoding, engine, self.adapter or "", name)
        self.policy = policy
        self.monitor = TrainingMonitor(strict=strict)
        self.skipped_checks: Collection[str] = ()
        """Checks that do not apply to the objective."""
        self.optimizer_steps = 1
        """Optimizer steps per batch, over which its examples are split."""
        self.signal_every = 0
        """Batches between two measurements of the gradient signal-to-noise ratio of each reward term; 0 is never."""
        self.followers: tuple[str, ...] = ()
        """Further adapters that are saved with its own, such as that of a sampler which lags behind."""
        self.learner: Learner

    def assign(
        self,
        loss: Loss,
        optimizer: OptimizerSettings,
        num_steps: int,
        *,
        key: Key,
        reference: str | MovingReference | Policy | None = None,
        value_head: torch.nn.Module | None = None,
    ) -> None:
        """Set the loss, a new optimizer for `num_steps` steps, and the reference; `key` seeds dropout.

        Without a `reference` it is the base, with the adapter of SFT where that could not be merged.
        The optimizer trains a value head, too, without `learning_rate_scale`.
        """
        if reference is None and self.adapter is not None and START in adapter_names(self.lm):
            reference = START
        stepped = self._share_weights(optimizer, num_steps) if self.adapter is None else None
        if stepped is not None and isinstance(reference, Policy):
            reference = ShardedPolicy(reference, stepped.policy.ranks, is_trained=False)
        unscaled = () if value_head is None else value_head.parameters()
        self.learner = Learner(
            self.policy,
            loss,
            stepped or Optimizer(self.weights, optimizer, num_steps, unscaled=unscaled),
            adapter=self.adapter,
            reference=reference,
            value_head=value_head,
            key=key,
        )

    def _share_weights(self, optimizer: OptimizerSettings, num_steps: int) -> ShardedOptimizer | None:
        """Shard the weights, once, over the ranks that share the work, and make their optimizer; None without ranks."""
        if (ranks := ranks_of_plan()) is None:
            return None
        if not isinstance(self.policy, ShardedPolicy):
            self.policy = ShardedPolicy(self.policy, ranks)
        return ShardedOptimizer(self.policy, optimizer, num_steps)

    @property
    def num_updates(self) -> int:
        """Number of batches that the policy was updated on."""
        return self.learner.optimizer.steps_taken // self.optimizer_steps

    def update(self, data: TrainingData) -> Metrics:
        """Take the optimizer steps of a batch under the monitor."""
        if not data.examples:
            return self._skip(data)
        metrics = self._signal(data)
        reports = self.update_weights(data.examples)
        failed = self.monitor.check_steps(self.learner, reports, counts=data.counts, skip=self.skipped_checks)
        found = {f"checks/{check}": 1.0 for check in failed}
        return metrics | step_metrics(reports) | advantage_metrics(data.counts) | found

    def update_weights(self, examples: Sequence[Example]) -> list[StepReport]:
        """Take the optimizer steps of a batch, and publish the new weights to the engine.

        The old log-probabilities of all steps are those before the first step.
        """
        self.release_copy()
        if self.optimizer_steps == 1:
            reports = [self.learner.update_once(examples)]
        else:
            taken = take_steps(self.learner, examples, self.optimizer_steps)
            reports = [report or self._empty_step() for report in taken]
        self.publish()
        return reports

    def release_copy(self) -> None:
        """Free the engine's copy of the weights: an update needs its memory, and a new one takes .6 s for SmolLM2."""
        if isinstance(self.engine, HoldsCopy):
            self.engine.release_copy()

    def _skip(self, data: TrainingData) -> Metrics:
        """Take steps without a gradient for a batch without examples, so that schedules advance."""
        failed = self.monitor.check_skipped_batch(self.num_updates, counts=data.counts)
        for _ in range(self.optimizer_steps):
            self._empty_step()
        return advantage_metrics(data.counts) | {f"checks/{check}": 1.0 for check in failed}

    def _empty_step(self) -> StepReport:
        learning_rate, grad_norm = self.learner.optimizer.learning_rate, self.learner.optimizer.step()
        return StepReport(
            loss=0.0, grad_norm=grad_norm, learning_rate=learning_rate, num_examples=0, num_tokens=0, num_read=0
        )

    def _signal(self, data: TrainingData) -> Metrics:
        """Measure the gradient signal-to-noise ratio of each reward term, when it is due."""
        if not self.signal_every or self.num_updates % self.signal_every:
            return {}
        self.release_copy()
        signals = measure_signals(self.learner, data.examples)
        self.monitor.signal_to_noise.add(
            {name: signal for name, signal in signals.items() if name not in data.inactive}
        )
        metrics: Metrics = {}
        for name, signal in signals.items():
            metrics[f"signal/{name}/dot"] = signal.dot
            metrics[f"signal/{name}/noise"] = signal.noise
            metrics[f"signal/{name}/ratio"] = 2.0 * signal.dot / signal.noise if signal.noise else 0.0
        return metrics

    def publish(self) -> None:
        """Give the engine the current weights."""
        self.policy.gather_weights()
        self._publish_copy()

    def _publish_copy(self) -> None:
        """Give the engine the weights of `lm`, of which shards may be trained elsewhere."""
        self.engine.publish(self.adapter or "", self.learner.optimizer.steps_taken)

    def reset(self, weights: Iterable[torch.Tensor]) -> None:
        """Reset the policy to these weights of its adapter, with a new optimizer and average."""
        self.learner.optimizer.reset(weights)
        if self.learner.moving_reference is not None:
            self.learner.moving_reference.reset()
        self.monitor.reset(self.learner.optimizer.steps_taken)
        self.publish()

    def findings(self) -> dict[str, Any]:
        """Findings of the monitor, by check."""
        return {check: asdict(finding) for check, finding in self.monitor.findings().items()}

    def reading(self) -> Mapping[str, str]:
        """Sentence by component (rollouts, training): whether its model shares prefixes of texts, and why."""
        return self.lm.reading

    @property
    def subject(self) -> TrainingSubject:
        """Engine and model, which are compared before the policy is trained."""
        return TrainingSubject(self.engine, self.lm, self.adapter or "", self._publish_copy, self.name)

    # --- checkpoints

    def state(self) -> dict[str, Any]:
        """All that a later update depends on, except weights."""
        return {"optimizer": self.learner.optimizer.state(), "monitor": self.monitor.state()}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Continue from a state and the weights in the folder of its checkpoint."""
        restore_weights(self.lm, folder, None if self.adapter is None else self.adapters)
        restore_heads(self._heads, folder)
        self.restore_optimizer(state["optimizer"], folder)
        self.monitor.restore(state["monitor"])
        self.publish()

    def restore_optimizer(self, state: dict[str, Any], folder: Path) -> None:
        """Continue from the state of an optimizer, and from the restored weights."""
        if isinstance(self.policy, ShardedPolicy):
            self.policy.scatter_weights()
        self.learner.optimizer.restore(state, folder)

    @property
    def adapters(self) -> list[str]:
        """Names of its adapters: its own, that of an averaged reference, and its followers."""
        average = self.learner.moving_reference
        return [self.name, *([] if average is None else [average.name]), *self.followers]

    @property
    def _heads(self) -> dict[str, torch.nn.Module]:
        head = self.learner.value_head
        return {} if head is None else {self.name: head}

    def write(self, folder: Path) -> None:
        """Write the weights into the folder of a checkpoint, and the shards of the optimizer's state."""
        self.policy.gather_weights()
        self.learner.optimizer.write(folder)
        (writes_model(self.lm) if self.adapter is None else writes_adapters(self.lm, self.adapters))(folder)
        if self._heads:
            writes_heads(self._heads)(folder)


def _all_weights(lm: LanguageModel) -> list[Any]:
    lm.model.requires_grad_(True)
    return list(lm.model.parameters())


def step_metrics(reports: Sequence[StepReport]) -> Metrics:
    """Return the metrics of the optimizer steps of a batch: means over the steps; minima and maxima of ranges."""
    metrics = {
        "loss": mean(report.loss for report in reports),
        "grad_norm": mean(report.grad_norm for report in reports),
        "learning_rate": reports[-1].learning_rate,
    }
    entropies = [report.entropy for report in reports if report.entropy is not None]
    metrics |= {"entropy": mean(entropies)} if entropies else {}
    for name in dict.fromkeys(name for report in reports for name in report.metrics):
        metrics[f"loss/{name}"] = _over_steps(name, [r.metrics[name] for r in reports if name in r.metrics])
    return metrics


_SHARES = {
    "no_variance": (("groups_without_variance", "groups_of_one"), "groups"),
    "clipped": ((ADVANTAGES_CLIPPED,), ADVANTAGES),
    "double_negative": (("double_negative",), "rows"),
}
"""Metrics of an advantage estimator, each a share: the counts above and below the line."""


def advantage_metrics(counts: Mapping[str, int]) -> Metrics:
    """Return the shares whose counts an estimator gives."""
    return {
        f"advantage/{name}": sum(counts.get(part, 0) for part in parts) / counts[whole]
        for name, (parts, whole) in _SHARES.items()
        if counts.get(whole) and any(part in counts for part in parts)
    }


def _over_steps(name: str, values: Sequence[float]) -> float:
    ends = {"min": min, "max": max}
    return ends[name[-3:]](values) if name.endswith(("_min", "_max")) else mean(values)


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean; NaN of no values."""
    items = list(values)
    return math.fsum(items) / len(items) if items else math.nan
