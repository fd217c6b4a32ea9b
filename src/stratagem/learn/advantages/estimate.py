"""Estimate of the advantages of a batch: one number for each decision, with counts and a state of plain numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadParameter

Floats = NDArray[np.float64]
State = Mapping[str, float]
"""State of an estimator between batches; a checkpoint saves it."""


@dataclass(frozen=True, kw_only=True)
class AdvantageEstimate:
    """Advantages of a batch of decisions; 0 for those that are not kept."""

    advantage: Floats
    returns: Floats | None = None
    """Target of a value head, or the value before the threshold is subtracted."""
    term_advantages: Mapping[str, Floats] = field(default_factory=dict)
    """Part of the advantage that each reward term contributes, where the estimator is linear in the terms."""
    centred_terms: Mapping[str, Floats] = field(default_factory=dict)
    """The same before the division by the standard deviation, which depends on all terms; the gradient signal of a
    term is measured on these."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Numbers of rows, groups ..., and of those among them without any advantage."""
    state: State = field(default_factory=dict)
    """State for the next batch."""


def check_estimate(name: str, estimate: object, num_decisions: int) -> AdvantageEstimate:
    """Return the estimate with a plain state; one of another form is refused under the estimator's name."""
    if not isinstance(estimate, AdvantageEstimate):
        raise BadParameter(f"{name} returned {type(estimate).__name__} in place of an AdvantageEstimate.")
    for table in ("term_advantages", "centred_terms", "counts", "state"):
        if not isinstance(given := getattr(estimate, table), Mapping):
            raise BadParameter(f"{name} returned {type(given).__name__} as `{table}`, which must be a table by name.")
    for column, values in _columns(estimate):
        if (found := _form(values)) != (num_decisions,):
            told = f"{' x '.join(map(str, found)) or 'one'} numbers" if isinstance(found, tuple) else found
            raise BadParameter(
                f"{name} returned {told} as `{column}`: {num_decisions} decisions need a numpy array with one each."
            )
        if not np.isfinite(np.asarray(values, dtype=np.float64)).all():
            raise BadParameter(f"{name} returned numbers as `{column}` that are not finite, as after a division by 0.")
    for count, number in estimate.counts.items():
        if not isinstance(number, int | np.integer):
            raise BadParameter(f"{name} returned {number!r} as the count {count!r}, which must be a whole number.")
    return replace(estimate, state=dict(_plain(name, estimate.state)))


def _columns(estimate: AdvantageEstimate) -> Iterator[tuple[str, object]]:
    yield "advantage", estimate.advantage
    if estimate.returns is not None:
        yield "returns", estimate.returns
    for table in ("term_advantages", "centred_terms"):
        for term, values in getattr(estimate, table).items():
            yield f"{table}[{term!r}]", values


def _form(values: object) -> tuple[int, ...] | str:
    """Return the shape of an array of numbers; of anything else the name of its type."""
    if not isinstance(values, np.ndarray):
        return type(values).__name__
    return values.shape if values.dtype.kind in "fiub" else f"an array of {values.dtype}"


def _plain(name: str, state: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a state as a checkpoint saves them."""
    for key, number in state.items():
        if not isinstance(number, int | float | np.number) or isinstance(number, np.complexfloating):
            raise BadParameter(f"{name} returned {type(number).__name__} as the state {key!r}, which must be a number.")
        yield key, number.item() if isinstance(number, np.number) else number
