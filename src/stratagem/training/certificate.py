"""Certificate of an engine that answers by a copy of the learner's weights: before a run trains, the two are compared.

It moves the trained weights away from where they are, so that an adapter differs from the base, publishes them, and
asks the engine for the base, for each adapter alone, and for all of them in one batch. Then it restores the weights,
publishes them, and asks once more. So it finds an adapter that silently serves the base, rows of the base that are read
under an adapter, and weights that were replaced without their cache.

Workers answer by copies, whatever the engine is. So each worker's engine is asked the same, and the learner's figures
of a text are computed once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import torch

from stratagem.base.errors import StratagemError
from stratagem.language.engines.open import is_opened
from stratagem.playing.workers.copies import run_on_copies
from stratagem.playing.workers.plan import current
from stratagem.playing.workers.ranks import ranks_of_plan
from stratagem.training.comparison import DecodingComparison, Deviation, EngineAnswer
from stratagem.training.stage import TrainingSubject

ENGINE = "engine"
"""Name of the component in `LanguageModel.reading`."""
_VISIBLE = 4.0
"""Difference between moved and unmoved weights that the comparison needs, in units of the limit."""
_WEAKEST, _DOUBLINGS = 0.02, 8
"""Smallest standard deviation of the noise on an adapter, and number of times that it is doubled at most."""


class NotCertified(StratagemError):
    """Engine that answers otherwise than the learner's model."""


def certify(subjects: Iterable[TrainingSubject]) -> None:
    """Compare each engine that needs it with the learner's model, once; an engine that differs is refused."""
    groups: dict[int, list[TrainingSubject]] = {}
    for subject in subjects:
        if _needs_certificate(subject) and ENGINE not in subject.lm.reading:
            groups.setdefault(id(subject.engine), []).append(subject)
    for group in groups.values():
        group[0].lm.reading[ENGINE] = certificate(group)


def _needs_certificate(subject: TrainingSubject) -> bool:
    """Test whether an engine, or one that workers open in its place, answers by a copy of the learner's weights."""
    return subject.engine.capabilities.copies or _is_copied_to_workers(subject)


def _is_copied_to_workers(subject: TrainingSubject) -> bool:
    return current().workers.separate and bool(subject.lm.source) and is_opened(subject.engine)


def certificate(subjects: Sequence[TrainingSubject]) -> str:
    """Compare one engine, and its copies in workers, with the learner's model; return a summary in one sentence."""
    return _Certification(subjects).summarize()


class _Case(NamedTuple):
    """Texts under one or several adapters in one batch."""

    adapters: list[str]
    name: str


class _Certification:
    """Comparison of one engine, and of its copies in workers, with the learner's model."""

    def __init__(self, subjects: Sequence[TrainingSubject]) -> None:
        self.subjects = subjects
        self.engine, self.lm = subjects[0].engine, subjects[0].lm
        self.comparison = DecodingComparison(self.lm)
        self.adapters = [subject.adapter for subject in subjects if subject.adapter]
        self.names = ["", *self.adapters]

    def summarize(self) -> str:
        """Compare all cases, and return a summary in one sentence."""
        alone = [_Case([name], f"{_call_name(name)} alone") for name in self.names]
        mixed = [_Case([*self.names, ""], "a batch of the base and all adapters")] if self.adapters else []
        with _move_weights(self.subjects, self.comparison):
            found = self._compare([*alone, *mixed])
        found += self._compare([_Case([*self.names, ""], "a batch after a change of weights")])
        copied = f", on each of {current().workers.num_workers} workers" if self._is_copied else ""
        return (
            f"certified{copied}: {sum(one.num for one in found)} log-probabilities differ from the learner's model by "
            f"at most {max(one.nats for one in found):.2g} nats, limit {self.comparison.limit:.2g} "
            f"({'; '.join(dict.fromkeys(one.case for one in found))})"
        )

    @property
    def _is_copied(self) -> bool:
        return _is_copied_to_workers(self.subjects[0])

    def _compare(self, cases: Sequence[_Case]) -> list[Deviation]:
        """Publish the present weights, and compare every engine's answers to the cases."""
        for subject in self.subjects:
            subject.publish()
        self.comparison.forget()
        ask = partial(self.comparison.texts.ask_batches, [case.adapters for case in cases])
        found = list[Deviation]()
        if self.engine.capabilities.copies and not (self._is_copied and ranks_of_plan()):  # which ask it, too
            found += self._judge(ask(self.engine), cases, "The engine")
        if self._is_copied:
            is_base_trained = len(self.adapters) < len(self.subjects)
            outcomes = run_on_copies(self.engine, self.adapters, ask, is_base_trained=is_base_trained)
            for number, outcome in enumerate(outcomes):
                worker = f"{current().workers.worker_name(number)} ({outcome.process})"
                if outcome.error is not None:
                    raise NotCertified(f"On {worker}: {outcome.error}") from outcome.error
                found += self._judge(outcome.value, cases, f"The engine of {worker}")
        return found

    def _judge(self, answers: Sequence[list[EngineAnswer]], cases: Sequence[_Case], engine: str) -> list[Deviation]:
        """Compare the answers of one engine to all cases, and refuse it if one differs."""
        found = list[Deviation]()
        for case, answer in zip(cases, answers, strict=True):
            one = self.comparison.judge(answer, case.adapters, case.name)
            if not one.nats <= self.comparison.limit:
                raise NotCertified(
                    f"{engine} answers otherwise than the learner's {self.lm.name}{self._policies}: in {one.case}, "
                    f"log-probabilities of {_call_name(one.adapter)} differ by {one.nats:.2g} nats, and the limit is "
                    f"{self.comparison.limit:.2g}; take the engine transformers, or correct the engine."
                )
            found.append(one)
        return found

    @property
    def _policies(self) -> str:
        """Names of the policies, by which engines of the same base are told apart."""
        names = [subject.policy for subject in self.subjects if subject.policy]
        return f" for {', '.join(names)}" if names else ""


def _call_name(name: str) -> str:
    return f"the adapter {name}" if name else "the base"


@contextmanager
def _move_weights(subjects: Sequence[TrainingSubject], comparison: DecodingComparison) -> Iterator[None]:
    """Move all trained weights within, each subject's by noise of its own, as far as the comparison needs to see it."""
    saved = [[weight.detach().cpu().clone() for weight in subject.weights] for subject in subjects]
    before = comparison.learner("")
    try:
        for number, subject in enumerate(subjects):
            _move(subject, number, comparison, before)
        yield
    finally:
        with torch.no_grad():
            for subject, copies in zip(subjects, saved, strict=True):
                for weight, copy in zip(subject.weights, copies, strict=True):
                    weight.copy_(copy)


def _move(subject: TrainingSubject, seed: int, comparison: DecodingComparison, before: torch.Tensor) -> None:
    """Add noise to a subject's weights, and double it until their scores differ visibly from those before."""
    generator = torch.Generator().manual_seed(seed)
    for doubling in range(_DOUBLINGS):
        strength = _WEAKEST * 2**doubling
        with torch.no_grad():
            for weight in subject.weights:
                scale = strength if subject.adapter else strength * _spread(weight)
                weight.add_(torch.randn(weight.shape, generator=generator).mul_(scale).to(weight))
        if comparison.differs(subject.adapter, before) >= _VISIBLE * comparison.limit:
            return
    raise NotCertified(f"The weights of {_call_name(subject.adapter)} change no reply, so nothing can be trained.")


def _spread(weight: torch.Tensor) -> float:
    """Return the root-mean-square of a weight's entries."""
    return float(weight.float().pow(2).mean().sqrt())
