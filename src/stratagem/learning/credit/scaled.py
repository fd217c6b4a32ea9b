"""Rewards of one size from the first batch to the last."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from stratagem.errors import UnknownName
from stratagem.learning.credit.base import Credit, Decisions, Estimator, State
from stratagem.learning.credit.whitened import Whitened

_EPSILON = 1.1920929e-07
"""What trl adds to the spread: the least step of a 32-bit number at 1."""


@dataclass(frozen=True, kw_only=True)
class Scaled(Estimator):
    """Another estimator's credit for a term divided by its spread over all rows so far, this batch included.

    Reference: score scaling of trl 0.11's PPOTrainer (without score normalisation), which ShapeLLM trains with. Only
    the score is scaled; a charge for leaving the reference is another term.
    What differs: while all scores have been alike they are left as they are, where trl divides by about nothing.
    When not: in a comparison of penalties, whose weights mean something else in every batch then.
    """

    of: Estimator = field(default_factory=Whitened)
    """Whose credit."""
    term: str = "payoff"
    """Which term of the reward."""

    def estimate(self, decisions: Decisions, state: State) -> Credit:
        if self.term not in decisions.terms:
            raise UnknownName("term of the reward", self.term, decisions.terms)
        moments = self._moved(decisions, state)
        count, spread = moments["scaled/count"], math.sqrt(moments["scaled/squares"])
        std = spread / math.sqrt(count - 1.0) if count > 1.0 else 0.0
        scaled = decisions.terms[self.term] / (std + _EPSILON if std else 1.0)
        credit = self.of(replace(decisions, terms={**decisions.terms, self.term: scaled}), state)
        return replace(credit, state={**credit.state, **moments})

    def _moved(self, decisions: Decisions, state: State) -> dict[str, float]:
        """The count, the mean and the summed squares around it, with this batch in them (Chan 1979)."""
        scores = decisions.terms[self.term]
        count, mean, squares = (state.get(f"scaled/{name}", 0.0) for name in ("count", "mean", "squares"))
        if not len(scores):
            return {"scaled/count": count, "scaled/mean": mean, "scaled/squares": squares}
        total = count + len(scores)
        far = float(scores.mean()) - mean
        squares += float(scores.var()) * len(scores) + far**2 * count * len(scores) / total
        return {"scaled/count": total, "scaled/mean": mean + far * len(scores) / total, "scaled/squares": squares}
