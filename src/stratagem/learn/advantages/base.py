"""Interface of an advantage estimator: columns about decisions in, an advantage for each of them out; numpy only.

Texts come as codes (`encode_values`), so that a million rows are sorted and counted as integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.learn.advantages.estimate import AdvantageEstimate, Floats, State, check_estimate

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
FRESH: State = MappingProxyType({})
_CODES = ("episode", "group", "round", "state", "action", "role")
_FIGURES = ("outcome", "value", "weight")
_FLAGS = ("keep", "message")
_TABLES = ("terms", "silenced", "redrawn", "others")
"""Columns by reward term."""


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """Columns about N decisions; those of an episode stand in the order of play, whatever stands between them.

    A row may also be a piece of a decision (a token, an order), with its part of the decision's reward.
    """

    episode: Ints
    """Trajectory of one seat through one episode."""
    terms: Mapping[str, Floats] = field(default_factory=dict)
    """Reward terms of each decision, until the seat's next one, by name: payoff, exploit, ..."""
    group: Ints | None = None
    """Group of comparable episodes, from one start against one opponent."""
    round: Ints | None = None
    """Round of the episode; a round may hold several decisions."""
    state: Ints | None = None
    """Information state of the seat."""
    action: Ints | None = None
    """Action of the seat."""
    role: Ints | None = None
    """Game and seat; `roles` has the names."""
    roles: tuple[str, ...] = ()
    keep: Bools | None = None
    """False where a decision is to be as if it had not been (ShapeLLM's discarded transitions); None keeps all."""
    outcome: Floats | None = None
    """Outcome of the episode for the seat: 1 won, 0.5 tied, 0 lost."""
    value: Floats | None = None
    """Estimate of the value head before the decision."""
    weight: Floats | None = None
    """Weight of the row itself, as of an order."""
    message: Bools | None = None
    """True where the decision is a message."""
    silenced: Mapping[str, Floats] | None = None
    """Return of each reward term from the round of a message on, with silence in its place; 0 for other decisions."""
    redrawn: Mapping[str, Floats] | None = None
    """The same with other messages that the policy draws in its place, the mean over them."""
    others: Mapping[str, Floats] | None = None
    """Reward terms of the other seats, summed over them, from the round of the decision until the seat's next one."""

    def __post_init__(self) -> None:
        for table in _TABLES:
            if (columns := getattr(self, table)) is not None:
                self._set(table, {name: _figures(name, column) for name, column in columns.items()})
        for name in (*_CODES, *_FIGURES, *_FLAGS):
            if (column := getattr(self, name)) is not None:
                kind = np.int64 if name in _CODES else np.bool_
                self._set(name, _figures(name, column) if name in _FIGURES else np.asarray(column, dtype=kind))
        for name, column in (*self._columns().items(), *self._by_term()):
            if column.shape != (len(self),):
                raise BadParameter(f"The column `{name}` has shape {column.shape}, and `episode` has {len(self)} rows.")
        if self.outcome is not None and len(self) and not 0.0 <= self.outcome.min() <= self.outcome.max() <= 1.0:
            raise BadParameter("An outcome is 1 for a win, 0.5 for a tie and 0 for a loss, or something between.")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.episode)

    def _columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns with a row for each decision, without those by reward term."""
        named = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in (*_TABLES, "roles")}
        return {name: column for name, column in named.items() if column is not None}

    def _by_term(self) -> Iterator[tuple[str, Floats]]:
        """Yield the columns by reward term."""
        for table in _TABLES:
            yield from (getattr(self, table) or {}).items()

    def _each_table(self, change: Callable[[Mapping[str, Floats]], Mapping[str, Floats]]) -> dict[str, Any]:
        """Return the tables of columns by reward term, each changed."""
        tables = {name: getattr(self, name) for name in _TABLES}
        return {name: change(columns) for name, columns in tables.items() if columns is not None}

    def only(self, rows: Bools) -> Decisions:
        """Select rows; all selected rows are kept."""
        tables = self._each_table(lambda columns: {name: column[rows] for name, column in columns.items()})
        columns: dict[str, Any] = {name: column[rows] for name, column in self._columns().items()}
        return replace(self, **{**columns, **tables, "keep": None})

    def codes(self, name: str) -> Ints:
        """Return a column of codes; an error names a missing one."""
        column: Ints = self._require_column(name)
        return column

    def figures(self, name: str) -> Floats:
        """Return a column of numbers; an error names a missing one."""
        column: Floats = self._require_column(name)
        return column

    def flags(self, name: str) -> Bools:
        """Return a column of flags; an error names a missing one."""
        column: Bools = self._require_column(name)
        return column

    def counterfactual(self, name: str) -> Mapping[str, Floats]:
        """Return the columns `silenced` or `redrawn`, by reward term; an error names a missing one."""
        columns: Mapping[str, Floats] = self._require_column(name)
        return columns

    def _require_column(self, name: str) -> Any:
        column = getattr(self, name)
        if column is None:
            raise BadParameter(f"This advantage estimator needs the column `{name}`, which these decisions lack.")
        return column

    def seen_by_others(self) -> Decisions:
        """Put the others' reward terms in the place of the seat's; what is known of the seat alone is left out."""
        terms: Mapping[str, Floats] = self._require_column("others")
        unknown: dict[str, Any] = dict.fromkeys(
            ("value", "weight", "outcome", "message", "silenced", "redrawn", "others")
        )
        return replace(self, terms=terms, **unknown)

    def weighted_terms(self, weights: Mapping[str, float] | None) -> dict[str, Floats]:
        """Return the weighted reward terms; without weights all terms count once."""
        return _weigh_terms(self.terms, weights)

    def weigh_terms(self, weights: Mapping[str, float]) -> Decisions:
        """Replace the reward terms by their weighted terms."""
        return replace(self, **self._each_table(lambda columns: _weigh_terms(columns, weights)))

    def divide_term(self, term: str, divisor: float) -> Decisions:
        """Divide one reward term by a number, and its counterfactual returns with it."""

        def one(columns: Mapping[str, Floats]) -> Mapping[str, Floats]:
            return {name: column / divisor if name == term else column for name, column in columns.items()}

        return replace(self, **self._each_table(one))

    def reward(self, weights: Mapping[str, float] | None) -> Floats:
        """Sum the weighted reward terms."""
        return sum(self.weighted_terms(weights).values(), start=np.zeros(len(self)))


class AdvantageEstimator(ABC):
    """Advantage estimator: columns about decisions in, one advantage each out; settings are dataclass fields."""

    @property
    def columns(self) -> frozenset[str]:
        """Columns of `Decisions` that it reads beside `episode` and the terms."""
        return frozenset()

    @property
    def terms(self) -> frozenset[str]:
        """Terms of the reward that it reads by name."""
        return frozenset()

    def weigh_terms(self, decisions: Decisions, state: State = FRESH) -> Decisions:
        """Weigh the reward terms as this estimator does: by its `weights`, then as the one in its `of` does.

        An estimator that nests another and reads the terms itself reads them so: all rows then have one objective.
        One that changes the terms in another way, as by a scale, overrides this.
        """
        # By the fields' names, so that an estimator of another package cannot forget it: it would drop the signs.
        weights: Mapping[str, float] | None = getattr(self, "weights", None)
        inner: object = getattr(self, "of", None)
        weighted = decisions if weights is None else decisions.weigh_terms(weights)
        return inner.weigh_terms(weighted, state) if isinstance(inner, AdvantageEstimator) else weighted

    def __call__(self, decisions: Decisions, state: State = FRESH) -> AdvantageEstimate:
        """Estimate the advantages of all decisions; decisions that are not kept get 0."""
        keep = decisions.keep
        if keep is None or keep.all():
            estimate = check_estimate(type(self).__name__, self.estimate(decisions, state), len(decisions))
            return replace(estimate, counts={**estimate.counts, "rows": len(decisions), "discarded": 0})
        estimate = check_estimate(type(self).__name__, self.estimate(decisions.only(keep), state), int(keep.sum()))
        return replace(
            estimate,
            advantage=_spread(estimate.advantage, keep),
            returns=None if estimate.returns is None else _spread(estimate.returns, keep),
            term_advantages={name: _spread(share, keep) for name, share in estimate.term_advantages.items()},
            centred_terms={name: _spread(values, keep) for name, values in estimate.centred_terms.items()},
            counts={**estimate.counts, "rows": len(decisions), "discarded": int((~keep).sum())},
        )

    @abstractmethod
    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        """Estimate the advantages of decisions all of which are kept."""


def encode_values(values: Iterable[Hashable]) -> tuple[Ints, tuple[Any, ...]]:
    """Encode each value as an integer, in order of first appearance; return the codes and the values by code."""
    table: dict[Hashable, int] = {}
    codes = np.fromiter((table.setdefault(value, len(table)) for value in values), dtype=np.int64)
    return codes, tuple(table)


def _weigh_terms(terms: Mapping[str, Floats], weights: Mapping[str, float] | None) -> dict[str, Floats]:
    weights = dict.fromkeys(terms, 1.0) if weights is None else weights
    for name in weights:
        if name not in terms:
            raise UnknownName("term of the reward", name, terms)
    return {name: weight * terms[name] for name, weight in weights.items()}


def _figures(name: str, column: object) -> Floats:
    figures = np.asarray(column, dtype=np.float64)
    if not np.isfinite(figures).all():
        raise BadParameter(f"The column `{name}` has numbers that are not finite.")
    return figures


def _spread(values: Floats, keep: Bools) -> Floats:
    spread = np.zeros(len(keep))
    spread[keep] = values
    return spread


__all__ = ["FRESH", "AdvantageEstimate", "AdvantageEstimator", "Bools", "Decisions", "Floats", "Ints", "State"]
