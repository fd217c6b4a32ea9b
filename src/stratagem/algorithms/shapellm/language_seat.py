"""Seat whose model learns by PPO: an adapter and a value head of its own, on a base that seats may share.

A base is loaded once, and has no adapter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from stratagem.algorithms.shapellm.seat import (
    ModelSettings,
    PPOLearnerSettings,
    Seat,
    Transition,
    UpdateData,
    merge_rewards,
    transitions_of,
)
from stratagem.base.errors import BadParameter
from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import TrainableEngine
from stratagem.language.engines.open import open_engine
from stratagem.language.engines.spec import TrainableEngineSpec
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.reference import parse_model
from stratagem.language.models.run_models import resolve_model
from stratagem.learn.advantages.base import encode_values
from stratagem.learn.example import Example, example_from_call
from stratagem.learn.learner import StepReport
from stratagem.learn.packing import read
from stratagem.learn.policy import Policy
from stratagem.learn.proximal import PPOBatch, PPOLearner
from stratagem.learn.schedules import Experience
from stratagem.players.speaker import Speaker
from stratagem.playing.forks import steps
from stratagem.training.artifacts import Artifacts
from stratagem.training.policy import TrainablePolicy, step_metrics
from stratagem.training.stage import Metrics, TrainingSubject


@dataclass(frozen=True)
class Base:
    """Base model with its engine and its differentiable policy."""

    lm: LanguageModel
    engine: TrainableEngine
    policy: Policy

    @classmethod
    def of(cls, artifacts: Artifacts, spec: TrainableEngineSpec, max_tokens: int, logits_chunk_mib: int = 0) -> Base:
        """Load a base of a run; it has no adapter, since each seat adds its own."""
        text = artifacts.model
        if resolve_model(parse_model(text)).adapters:
            raise BadParameter(
                f"{text} is a model with an adapter, and seats of a run are on a base without one: name such a base, "
                "as run:PATH@start, or name this model at a seat that is frozen."
            )
        lm = artifacts.load()
        policy = Policy(lm, max_tokens_per_microbatch=max_tokens, logits_chunk_mib=logits_chunk_mib, fp32_head=True)
        return cls(lm, open_engine(lm, spec), policy)


class ValueHead(torch.nn.Linear):
    """Linear value head in fp32, initialized to 0.

    It belongs to the trainer and to one seat, not to the model: each adapter of a base has its own head.
    The optimizer is given its parameters beside the adapter's.
    """

    def __init__(self, lm: LanguageModel, scale: float = 1.0) -> None:
        """`scale` multiplies the output, and so the speed at which AdamW moves the values."""
        device = lm.model.device
        self.scale = scale
        super().__init__(lm.model.config.get_text_config().hidden_size, 1, device=device, dtype=torch.float32)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return self.scale * super().forward(states)

    def reset_parameters(self) -> None:
        """Set all weights to 0."""
        torch.nn.init.zeros_(self.weight)
        torch.nn.init.zeros_(self.bias)


class LanguageSeat(Seat):
    """Seat that plays by its adapter, which is trained by PPO (Schulman et al. 2017)."""

    def __init__(
        self, name: str, settings: PPOLearnerSettings, base: Base, every: int, key: Key, *, strict: bool = False
    ) -> None:
        """`every` is the number of episodes between updates; `key` draws the adapter, the minibatches and dropout."""
        self.settings = settings
        self.policy = TrainablePolicy(
            base.lm,
            base.engine,
            decoding_settings(settings),
            name=name,
            adapter=settings.adapter,
            seed=key.value & 0x7FFFFFFF,
            policy=base.policy,
            strict=strict,
        )
        head = ValueHead(base.lm, settings.value_scale)
        self.policy.assign(settings.ppo.loss(), settings.optimizer, 1, key=key.at("dropout"), value_head=head)
        self.proximal = PPOLearner(self.policy.learner, settings.ppo)
        super().__init__(self.policy.player, settings.memory, every)

    def update(self, data: UpdateData) -> Metrics:
        shared = self.settings.reward == "sum"
        transitions = merge_rewards(transitions_of(data.episodes, data.slot, shared=shared), _is_sampled)
        if not transitions:
            return {}
        experience = Experience(self.proximal.num_updates, data.episodes_before, data.trials_before)
        played = PPOBatch(
            examples=self._examples(transitions, experience),
            episodes=[transition.trajectory for transition in transitions],
            scores=[transition.reward for transition in transitions],
            others_scores=[transition.others_reward for transition in transitions],
            turns=encode_values(transition.turn for transition in transitions)[0].tolist(),
        )
        optimizer = self.policy.learner.optimizer
        optimizer.learning_rate_scale = self.settings.learning_rate_scale.after(experience)
        self.policy.release_copy()
        reports = list(self.proximal.update(played, data.key, experience))
        self.policy.publish()
        metrics = step_metrics(reports) | self._metrics(played.examples, reports)
        frozen = not optimizer.learning_rate_scale or self.proximal.last_metrics.get("undone")
        if not frozen:  # a frozen policy does not move on purpose
            failed = self.policy.monitor.check_steps(self.policy.learner, reports)
            metrics |= {f"checks/{check}": 1.0 for check in failed}
        return metrics

    def _examples(self, transitions: Sequence[Transition], experience: Experience) -> list[Example]:
        """Return the examples of the replies; in `single`, the entropy is that of the legal actions."""
        examples = [example_from_call(transition.decision.calls[0]) for transition in transitions]
        if self.settings.mode != "single" or not self.settings.ppo.entropy_coef.after(experience):
            return examples
        legal = legal_tokens(self.policy.player.speaker, transitions)
        return [replace(example, entropy_over=(tokens,)) for example, tokens in zip(examples, legal, strict=True)]

    def _metrics(self, examples: Sequence[Example], reports: Sequence[StepReport]) -> Metrics:
        """Return the metrics of the whole update, beside those of its steps."""
        last = self.proximal.last_metrics
        metrics = {name: last[name] for name in ("kl", "kl_coef", "score", "undone") if name in last}
        asked = sum(len(read(example)) for example in examples)
        num_read = sum(report.num_read for report in reports)
        counts = {"num_examples": len(examples), "num_asked": asked, "num_read": num_read}
        return metrics | {name: float(count) for name, count in counts.items()}

    def findings(self) -> Mapping[str, Any]:
        return self.policy.findings()

    def reading(self) -> Mapping[str, str]:
        return self.policy.reading()

    @property
    def subject(self) -> TrainingSubject:
        return self.policy.subject

    def state(self) -> dict[str, Any]:
        return {"policy": self.policy.state(), "proximal": self.proximal.state()}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        self.policy.restore(state["policy"], folder)
        self.proximal.restore(state["proximal"])

    def write(self, folder: Path) -> None:
        self.policy.write(folder)


def decoding_settings(settings: ModelSettings) -> DecodingSettings:
    """Return a seat's decoding mode, prompt style and sampling settings."""
    return DecodingSettings.of(settings.sampling, settings.mode, settings.style, settings.max_new_tokens)


def _is_sampled(transition: Transition) -> bool:
    """True for an action that the policy sampled, and not one that had to be recovered."""
    calls = transition.decision.calls
    own = bool(calls) and transition.decision.how != "recovered" and not calls[0].failed
    return own and any(span.kind == "sampled" and span.end > span.start for span in calls[0].spans)


def legal_tokens(speaker: Speaker, transitions: Sequence[Transition]) -> list[Ids]:
    """Return the ascending tokens of the legal actions at each decision, by a replay of the games."""
    episodes = {transition.episode.id: transition.episode for transition in transitions}
    choices = {
        (name, row.turn, row.seat): state.view(row.seat).choices
        for name, episode in episodes.items()
        for state, rows in steps(episode)
        for row in rows
    }
    token_sets = []
    for transition in transitions:
        row = transition.decision
        legal = choices[transition.episode.id, row.turn, row.seat]
        token_sets.append(tuple(sorted(speaker.compiler.labels(legal, row.calls[0].prompt))))
    return token_sets
