"""Seat whose model learns by PPO: an adapter and a value head of its own, on a base that seats may share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stratagem.algorithms.shapellm.bases import Base
from stratagem.algorithms.shapellm.seat import Seat, Transition, UpdateData, merge_rewards, transitions_of
from stratagem.algorithms.shapellm.seat_settings import ModelSettings, PPOLearnerSettings
from stratagem.decoding.vocabulary import Ids
from stratagem.games.key import Key
from stratagem.learning.advantages.base import coded
from stratagem.learning.example import Example, example_from_call
from stratagem.learning.learner import Report
from stratagem.learning.packing import read
from stratagem.learning.proximal import PPOBatch, PPOLearner
from stratagem.learning.schedules import Experience
from stratagem.learning.value_head import ValueHead
from stratagem.models.run_models import DecodingSettings
from stratagem.play.forks import steps
from stratagem.players.speaker import Speaker
from stratagem.training.policy import TrainablePolicy, step_metrics
from stratagem.training.stage import Metrics
from stratagem.training.subject import Subject


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
            turns=coded(transition.turn for transition in transitions)[0].tolist(),
        )
        optimizer = self.policy.learner.optimizer
        optimizer.learning_rate_scale = self.settings.learning_rate_scale.after(experience)
        reports = list(self.proximal.learn(played, data.key, experience))
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
        legal = _legal_tokens(self.policy.player.speaker, transitions)
        return [replace(example, entropy_over=(tokens,)) for example, tokens in zip(examples, legal, strict=True)]

    def _metrics(self, examples: Sequence[Example], reports: Sequence[Report]) -> Metrics:
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
    def subject(self) -> Subject:
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
    return DecodingSettings(
        mode=settings.mode,
        style=settings.style,
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        max_new_tokens=settings.max_new_tokens,
    )


def _is_sampled(transition: Transition) -> bool:
    """True for an action that the policy sampled, and not one that had to be recovered."""
    calls = transition.decision.calls
    own = bool(calls) and transition.decision.how != "recovered" and not calls[0].failed
    return own and any(span.kind == "sampled" and span.end > span.start for span in calls[0].spans)


def _legal_tokens(speaker: Speaker, transitions: Sequence[Transition]) -> list[Ids]:
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
