"""Certificate of an engine that answers by a copy of the learner's weights: before a run trains, the two are compared.

It moves the trained weights away from where they are, so that an adapter differs from the base, publishes them, and
asks the engine for the base, for each adapter alone, and for all of them in one batch. Then it restores the weights,
publishes them, and asks once more. So it finds an adapter that silently serves the base, rows of the base that are read
under an adapter, and weights that were replaced without their cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch

from stratagem.base.errors import StratagemError
from stratagem.language.models.language_model import LanguageModel
from stratagem.training.comparison import DecodingComparison, Deviation
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
        if subject.engine.capabilities.copies and ENGINE not in subject.lm.reading:
            groups.setdefault(id(subject.engine), []).append(subject)
    for group in groups.values():
        group[0].lm.reading[ENGINE] = certificate(group)


def certificate(subjects: Sequence[TrainingSubject]) -> str:
    """Compare one engine with the learner's model, and return a summary in one sentence."""
    engine, lm = subjects[0].engine, subjects[0].lm
    comparison = DecodingComparison(engine, lm)
    adapters = [subject.adapter for subject in subjects if subject.adapter]
    names = ["", *adapters]
    with _move_weights(subjects, comparison):
        _publish(subjects)
        found = [comparison.compare([name], f"{_call_name(name)} alone") for name in names]
        if adapters:
            found.append(comparison.compare([*names, ""], "a batch of the base and all adapters"))
    _publish(subjects)
    found.append(comparison.compare([*names, ""], "a batch after a change of weights"))
    for one in found:
        _check(one, comparison, lm)
    worst = max(one.nats for one in found)
    return (
        f"certified: {sum(one.num for one in found)} log-probabilities differ from the learner's model by at most "
        f"{worst:.2g} nats, limit {comparison.limit:.2g} ({'; '.join(one.case for one in found)})"
    )


def _call_name(name: str) -> str:
    return f"the adapter {name}" if name else "the base"


def _check(found: Deviation, comparison: DecodingComparison, lm: LanguageModel) -> None:
    if not found.nats <= comparison.limit:
        raise NotCertified(
            f"The engine answers otherwise than the learner's {lm.name}: in {found.case}, log-probabilities of "
            f"{_call_name(found.adapter)} differ by {found.nats:.2g} nats, and the limit is {comparison.limit:.2g}; "
            "take the engine transformers, or correct the engine."
        )


def _publish(subjects: Sequence[TrainingSubject]) -> None:
    for subject in subjects:
        subject.publish()


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
