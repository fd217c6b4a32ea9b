"""Running scaling of one reward term."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from stratagem.errors import UnknownName
from stratagem.learning.advantages.base import FRESH, AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learning.advantages.whitened import Whitened
from stratagem.learning.score_scaling import ScoreScaling


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
        return self.of.weigh_terms(self._scaled(decisions, self._scaling(decisions, state)), state)

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        scaling = self._scaling(decisions, state)
        estimate = self.of(self._scaled(decisions, scaling), state)
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

    def _scaled(self, decisions: Decisions, scaling: ScoreScaling) -> Decisions:
        """Scale the term, and its returns in branches too: a message is compared with them in one unit."""
        return decisions.divided(self.reward_term, scaling.divisor)
