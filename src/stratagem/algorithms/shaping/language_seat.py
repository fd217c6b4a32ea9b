"""A seat whose model learns: an adapter and a value head of its own on a base that others may share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stratagem.algorithms.shaping.bases import Base
from stratagem.algorithms.shaping.seat import Figures, Lesson, Seat, Stages, lessons, taught_by
from stratagem.algorithms.shaping.seat_settings import Learns, Speaks
from stratagem.decoding.vocabulary import Ids
from stratagem.engines.base import Engine, Sampling
from stratagem.games.key import Key
from stratagem.learning.advantages.base import coded
from stratagem.learning.example import Example, of_call
from stratagem.learning.learner import Learner, Report
from stratagem.learning.monitor import TrainingMonitor
from stratagem.learning.optimizer import Optimizer
from stratagem.learning.packing import read
from stratagem.learning.proximal import Played, Proximal
from stratagem.learning.value_head import ValueHead
from stratagem.play.forks import steps
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.prompting.catalogue import make_style

_OF_A_STEP = ("value/explained_variance", "policy/clip_fraction")
"""What is told of the steps' own metrics."""


class LanguageSeat(Seat):
    """Plays by its adapter, and learns it by proximal policy optimization."""

    def __init__(self, name: str, settings: Learns, base: Base, every: int, key: Key, *, strict: bool = False) -> None:
        """`every` so many episodes it learns; `key` draws the adapter, the order of learning and what dropout drops."""
        self.name = name
        self.settings = settings
        self.base = base
        weights = settings.adapter.add(base.lm, name, key.value & 0x7FFFFFFF)
        self.head = ValueHead(base.lm, settings.value_scale)
        self.optimizer = Optimizer(weights, settings.optimizer, steps=1, unpaced=self.head.parameters())
        self.learner = Learner(
            base.policy,
            settings.ppo.loss(0),
            self.optimizer,
            adapter=name,
            value_head=self.head,
            key=key.at("dropout"),
        )
        self.proximal = Proximal(self.learner, settings.ppo)
        self.monitor = TrainingMonitor(strict=strict)
        self.speaker = speaker(settings, base.engine, name)
        super().__init__(ModelPlayer(name=name, speaker=self.speaker, mode=settings.mode), settings.memory, every)

    def learn(self, stages: Stages, slot: int, key: Key) -> Figures:
        shared = self.settings.reward == "sum"
        told = taught_by(lessons(stages, slot, shared=shared), _sampled)
        found = [(one, of_call(one.decision.calls[0])) for one in told]
        if not found:
            return {}
        played = Played(
            examples=self._examples(found),
            episodes=[lesson.episode for lesson, _ in found],
            scores=[lesson.reward for lesson, _ in found],
            turns=coded(lesson.turn for lesson, _ in found)[0].tolist(),
        )
        self.optimizer.pace = self.settings.pace.at(self.proximal.learnt)
        reports = list(self.proximal.learn(played, key))
        self.base.engine.publish(self.name, self.optimizer.taken)
        if self.optimizer.pace and not self.proximal.last.get("undone"):  # standing still is then what was asked for
            self.monitor.check_steps(self.learner, reports)
        return self._figures(played.examples, reports)

    def _examples(self, found: Sequence[tuple[Lesson, Example]]) -> list[Example]:
        """What the replies teach; where anything may be said, entropy is that of the legal actions."""
        if self.settings.mode != "single" or not self.settings.ppo.entropy.at(self.proximal.learnt):
            return [example for _, example in found]
        sets = _legal(self.speaker, [lesson for lesson, _ in found])
        return [replace(example, entropy_over=(some,)) for (_, example), some in zip(found, sets, strict=True)]

    def _figures(self, examples: Sequence[Example], reports: Sequence[Report]) -> Figures:
        last = self.proximal.last
        figures = {name: last[name] for name in ("kl", "kl_coefficient", "score")}
        figures |= {"undone": last["undone"]} if "undone" in last else {}
        figures |= {"grad_norm": _mean(report.grad_norm for report in reports)}
        figures |= {"entropy": _mean(report.entropy for report in reports if report.entropy is not None)}
        for name in _OF_A_STEP:
            seen = [report.metrics[name] for report in reports if name in report.metrics]
            figures |= {name.replace("/", "_"): _mean(seen)} if seen else {}
        asked = sum(len(read(example)) for example in examples)
        counted = {"num_examples": len(examples), "num_asked": asked, "num_read": sum(one.num_read for one in reports)}
        return figures | {name: float(count) for name, count in counted.items()}

    def state(self) -> dict[str, Any]:
        return {
            "optimizer": self.optimizer.state(),
            "proximal": self.proximal.state(),
            "monitor": self.monitor.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.optimizer.restore(state["optimizer"])
        self.proximal.restore(state["proximal"])
        self.monitor.restore(state["monitor"])
        self.base.engine.publish(self.name, self.optimizer.taken)


def speaker(settings: Speaks, engine: Engine, adapter: str) -> Speaker:
    """How a seat's model speaks."""
    return Speaker(
        engine=engine,
        adapter=adapter,
        style=make_style(settings.style),
        sampling=Sampling(settings.temperature),
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


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan
