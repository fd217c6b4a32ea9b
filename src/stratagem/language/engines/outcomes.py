"""Outcomes of requests behind figures: how many had no reply, were refused, or were withheld by a filter.

Calls are counted where they arrive, whoever asked: play, probes, questions about a policy. So evaluations, audits,
tournaments, talk, collusion and training read one count. A refusal is data; a request without a reply is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any

from stratagem.base.errors import StratagemError
from stratagem.language.engines.base import Call


class TooManyFailed(StratagemError):
    """Figures whose requests failed more often than is allowed; they have been printed and written."""

    exit_code = 1


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """Requests to one model by their outcome."""

    requests: int = 0
    failed: int = 0
    """Requests without a reply."""
    refused: int = 0
    """Requests that the model declined."""
    filtered: int = 0
    """Requests whose reply a filter of the server withheld."""

    def plus(self, call: Call) -> Outcomes:
        """Add a request."""
        return Outcomes(
            requests=self.requests + 1,
            failed=self.failed + call.failed,
            refused=self.refused + (call.finish == "refusal"),
            filtered=self.filtered + (call.finish == "filter"),
        )

    def exceeds(self, max_failed: float) -> bool:
        """Return whether more requests failed than this share; a single one is allowed, unless the share is 0."""
        return self.failed > max(max_failed * self.requests, 1.0 if max_failed else 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the counts, and their shares of the requests."""
        counts = asdict(self)
        parts = ("failed", "refused", "filtered")
        return counts | {f"{name}_share": counts[name] / self.requests if self.requests else 0.0 for name in parts}

    def __str__(self) -> str:
        parts = (("without a reply", self.failed), ("refused", self.refused), ("filtered", self.filtered))
        told = ", ".join(f"{number} {name} ({number / max(1, self.requests):.1%})" for name, number in parts)
        return f"{self.requests} requests, {told}"


@dataclass
class OutcomesByModel:
    """Outcomes of all requests behind some figures, by model."""

    models: dict[str, Outcomes] = field(default_factory=dict)

    def add(self, call: Call) -> None:
        """Count a call."""
        model = call.policy.base
        self.models[model] = self.models.get(model, Outcomes()).plus(call)

    def to_json(self) -> dict[str, Any]:
        """Return the counts and shares of each model."""
        return {model: found.to_json() for model, found in sorted(self.models.items())}

    def remarks(self) -> list[str]:
        """Return a sentence for each model that did not reply to every request."""
        return [
            f"{model}: {found}."
            for model, found in sorted(self.models.items())
            if found.failed or found.refused or found.filtered
        ]

    def too_many(self, max_failed: float) -> str:
        """Return the sentence about the models that failed more often than this share; empty where none did."""
        told = "; ".join(
            f"{model} gave no reply to {found.failed} of {found.requests} requests"
            for model, found in sorted(self.models.items())
            if found.exceeds(max_failed)
        )
        return told and f"{told}: `max_failed={max_failed:g}` allows a smaller share, so these figures do not count."


_counting: ContextVar[tuple[OutcomesByModel, ...]] = ContextVar("_counting", default=())
"""Counts that this thread is making, the outer ones first."""


@contextmanager
def counting_outcomes() -> Iterator[OutcomesByModel]:
    """Count all calls that arrive within."""
    found = OutcomesByModel()
    token = _counting.set((*_counting.get(), found))
    try:
        yield found
    finally:
        _counting.reset(token)


def count_outcomes(calls: Iterable[Call]) -> None:
    """Count calls: new ones, and those of an earlier session that figures are made of."""
    if counts := _counting.get():
        for call in calls:
            for found in counts:
                found.add(call)


@contextmanager
def failing_above(max_failed: float, exit_code: int = 1) -> Iterator[None]:
    """Count within; raise at the end where a model failed more often than this share, with this status."""
    with counting_outcomes() as found:
        yield
    if said := found.too_many(max_failed):
        error = TooManyFailed(said)
        error.exit_code = exit_code
        raise error


def outcomes_of(data: Mapping[str, Any]) -> OutcomesByModel:
    """Read counts from `to_json`."""
    names = ("requests", "failed", "refused", "filtered")
    return OutcomesByModel({model: Outcomes(**{name: row[name] for name in names}) for model, row in data.items()})
