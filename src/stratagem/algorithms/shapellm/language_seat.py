"""A seat whose model learns: an adapter and a value head of its own on a base that others may share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stratagem.algorithms.shapellm.bases import Base
from stratagem.algorithms.shapellm.seat import Lesson, Play, Seat, lessons, taught_by
from stratagem.algorithms.shapellm.seat_settings import Learns, Speaks
from stratagem.decoding.vocabulary import Ids
from stratagem.games.key import Key
from stratagem.learning.advantages.base import coded
from stratagem.learning.example import Example, of_call
from stratagem.learning.learner import Report
from stratagem.learning.packing import read
from stratagem.learning.proximal import PPOBatch, PPOLearner
from stratagem.learning.value_head import ValueHead
from stratagem.models.run_models import Speaks as ModelSpeaks
from stratagem.play.forks import steps
from stratagem.players.speaker import Speaker
from stratagem.training.policy import TrainablePolicy, step_metrics
from stratagem.training.stage import Metrics


class LanguageSeat(Seat):
    """Plays by its adapter, which is trained by proximal policy optimization."""

    def __init__(self, name: str, settings: Learns, base: Base, every: int, key: Key, *, strict: bool = False) -> None:
        """It is updated every so many episodes; `key` draws the adapter, the order of examples and dropout."""
        self.settings = settings
        self.policy = TrainablePolicy(
            base.lm,
            base.engine,
            speaks_of(settings),
            name=name,
            adapter=settings.adapter,
            seed=key.value & 0x7FFFFFFF,
            policy=base.policy,
            strict=strict,
        )
        head = ValueHead(base.lm, settings.value_scale)
        self.policy.assign(settings.ppo.loss(0), settings.optimizer, 1, key=key.at("dropout"), value_head=head)
        self.proximal = PPOLearner(self.policy.learner, settings.ppo)
        super().__init__(self.policy.player, settings.memory, every)

    def update(self, data: Play) -> Metrics:
        shared = self.settings.reward == "sum"
        told = taught_by(lessons(data.stages, data.slot, shared=shared), _sampled)
        found = [(one, of_call(one.decision.calls[0])) for one in told]
        if not found:
            return {}
        played = PPOBatch(
            examples=self._examples(found),
            episodes=[lesson.episode for lesson, _ in found],
            scores=[lesson.reward for lesson, _ in found],
            turns=coded(lesson.turn for lesson, _ in found)[0].tolist(),
        )
        optimizer = self.policy.learner.optimizer
        optimizer.learning_rate_scale = self.settings.learning_rate_scale.at(self.proximal.num_updates)
        reports = list(self.proximal.learn(played, data.key))
        self.policy.publish()
        metrics = step_metrics(reports) | self._metrics(played.examples, reports)
        frozen = not optimizer.learning_rate_scale or self.proximal.last_metrics.get("undone")
        if not frozen:  # a frozen policy stands still on purpose
            found_by = self.policy.monitor.check_steps(self.policy.learner, reports)
            metrics |= {f"checks/{check}": 1.0 for check in found_by}
        return metrics

    def _examples(self, found: Sequence[tuple[Lesson, Example]]) -> list[Example]:
        """What the replies teach; where anything may be said, entropy is that of the legal actions."""
        if self.settings.mode != "single" or not self.settings.ppo.entropy_coef.at(self.proximal.num_updates):
            return [example for _, example in found]
        sets = _legal(self.policy.player.speaker, [lesson for lesson, _ in found])
        return [replace(example, entropy_over=(some,)) for (_, example), some in zip(found, sets, strict=True)]

    def _metrics(self, examples: Sequence[Example], reports: Sequence[Report]) -> Metrics:
        """Metrics of the whole update, beside those of its steps."""
        last = self.proximal.last_metrics
        metrics = {name: last[name] for name in ("kl", "kl_coef", "score", "undone") if name in last}
        asked = sum(len(read(example)) for example in examples)
        counted = {"num_examples": len(examples), "num_asked": asked, "num_read": sum(one.num_read for one in reports)}
        return metrics | {name: float(count) for name, count in counted.items()}

    def findings(self) -> Mapping[str, Any]:
        return self.policy.findings()

    def state(self) -> dict[str, Any]:
        return {"policy": self.policy.state(), "proximal": self.proximal.state()}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        self.policy.restore(state["policy"], folder)
        self.proximal.restore(state["proximal"])

    def write(self, folder: Path) -> None:
        self.policy.write(folder)


def speaks_of(settings: Speaks) -> ModelSpeaks:
    """The way in which a seat's model is asked for its actions."""
    return ModelSpeaks(
        mode=settings.mode,
        style=settings.style,
        temperature=settings.temperature,
        max_new_tokens=settings.max_new_tokens,
    )


def _sampled(lesson: Lesson) -> bool:
    """Whether the decision was drawn by the policy; one that had to be recovered was not."""
    calls = lesson.decision.calls
    drawn = bool(calls) and lesson.decision.how != "recovered" and calls[0].finish != "error"
    return drawn and any(span.kind == "sampled" and span.end > span.start for span in calls[0].spans)


def _legal(speaker: Speaker, found: Sequence[Lesson]) -> list[Ids]:
    """The tokens of the legal actions at each decision, ascending; the games are played again up to there."""
    episodes = {lesson.played.id: lesson.played for lesson in found}
    choices = {
        (name, row.turn, row.seat): state.view(row.seat).choices
        for name, episode in episodes.items()
        for state, rows in steps(episode)
        for row in rows
    }
    found_sets = []
    for lesson in found:
        row = lesson.decision
        legal = choices[lesson.played.id, row.turn, row.seat]
        found_sets.append(tuple(sorted(speaker.compiler.labels(legal, row.calls[0].prompt))))
    return found_sets
