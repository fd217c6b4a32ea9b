"""Running scaling of one reward term: division by the standard deviation of all its values so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from stratagem.base.errors import UnknownName
from stratagem.learn.advantages.base import FRESH, AdvantageEstimate, AdvantageEstimator, Decisions, Floats, State
from stratagem.learn.advantages.whitened import Whitened

_EPSILON = float(np.finfo(np.float32).eps)
"""Constant that trl adds to the standard deviation."""


@dataclass
class ScoreScaling:
    """Running moments of all scores so far: count, mean and sum of squared deviations (Chan et al. 1979).

    Reference: RunningMoments of trl 0.11, by which its PPOTrainer scales scores where it does not normalise them.
    What differs: while all scores have been alike they are left as they are, where trl divides by about nothing.
    """

    count: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @property
    def std(self) -> float:
        """Unbiased standard deviation; 0 for fewer than two scores."""
        return math.sqrt(self.squares / (self.count - 1.0)) if self.count > 1.0 else 0.0

    @property
    def divisor(self) -> float:
        """Number by which scores are divided."""
        return self.std + _EPSILON if self.std else 1.0

    def update(self, scores: Floats) -> None:
        """Update the moments with these scores."""
        if len(scores):
            total, delta = self.count + len(scores), float(scores.mean()) - self.mean
            self.squares += float(scores.var()) * len(scores) + delta**2 * self.count * len(scores) / total
            self.mean += delta * len(scores) / total
            self.count = total

    def scale_scores(self, scores: Floats) -> Floats:
        """Update the moments with these scores, and return the scaled scores."""
        self.update(scores)
        return scores / self.divisor

    def state(self) -> dict[str, float]:
        """Return the moments for a checkpoint."""
        return asdict(self)

    def restore(self, state: Mapping[str, float]) -> None:
        """Continue from a state."""
        self.count, self.mean, self.squares = (state[name] for name in ("count", "mean", "squares"))


@dataclass(frozen=True, kw_only=True)
class Scaled(AdvantageEstimator):
    """Another estimator's advantages, with one reward term divided by its standard deviation over all rows so far.

    The rows of this batch count too.

    Reference: score scaling of trl 0.11's PPOTrainer (without score normalisation), which ShapeLLM trains with. Only
    the score is scaled; the KL penalty is another term.
    What differs: while all scores have been alike they are left as they are, where trl divides by about nothing.
    Every row is a score: where rows are tokens, scale the scores before, as `proximal` does.
    When not: in a comparison of penalties, whose weights mean something else in every batch then.
    """

    of: AdvantageEstimator = field(default_factory=Whitened)
    """Estimator of the advantages."""
    reward_term: str = "payoff"
    """Reward term that is scaled."""

    @property
    def columns(self) -> frozenset[str]:
        return self.of.columns

    @property
    def terms(self) -> frozenset[str]:
        return self.of.terms | {self.reward_term}

    def weigh_terms(self, decisions: Decisions, state: State = FRESH) -> Decisions:
        return self.of.weigh_terms(self._scale_term(decisions, self._scaling(decisions, state)), state)

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        scaling = self._scaling(decisions, state)
        estimate = self.of(self._scale_term(decisions, scaling), state)
        moments = {self._key(name): figure for name, figure in scaling.state().items()}
        return replace(estimate, state={**estimate.state, **moments})

    def _key(self, moment: str) -> str:
        """Return the name of a moment in the state; two terms may be scaled, one within the other."""
        return f"scaled/{self.reward_term}/{moment}"

    def _scaling(self, decisions: Decisions, state: State) -> ScoreScaling:
        """Return the moments with the rows of this batch."""
        if self.reward_term not in decisions.terms:
            raise UnknownName("term of the reward", self.reward_term, decisions.terms)
        scaling = ScoreScaling(*(state.get(self._key(name), 0.0) for name in ("count", "mean", "squares")))
        scaling.update(decisions.terms[self.reward_term])
        return scaling

    def _scale_term(self, decisions: Decisions, scaling: ScoreScaling) -> Decisions:
        """Scale the term, and its returns in branches too: a message is compared with them in one unit."""
        return decisions.divide_term(self.reward_term, scaling.divisor)
