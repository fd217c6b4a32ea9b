"""SPAG's reward of a reply: the outcome of the game, discounted from its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learn.advantages.segments import cells, remaining_steps


@dataclass(frozen=True, kw_only=True)
class SPAGReward(AdvantageEstimator):
    """`(1 - gamma) gamma^(T - t) / (1 - gamma^(T + 1))` for the winner's t-th reply of T, the negative for the loser's.

    A tie gives 0. What comes between a tie and a win gives that part of it.
    Reference: SPAG (Cheng et al. 2024), as in SCO-PAL's appendix B.2, with its gamma; it goes with the loss `spag`.
    What differs: T counts the seat's own replies; in the game of the paper both players have as many.
    When not: all replies of a won game are called good; `step_win_rate` compares games.
    """

    discount: float = 0.8
    """Discount factor gamma."""

    def __post_init__(self) -> None:
        within(None, "discount", self.discount, 0.0, 0.999)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"outcome"})

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        episodes = cells(decisions.episode)
        whole = (1.0 - self.discount) / (1.0 - self.discount ** (episodes.sizes + 1.0))
        sign = 2.0 * decisions.figures("outcome") - 1.0
        return AdvantageEstimate(
            advantage=sign * whole[episodes.of] * np.power(self.discount, remaining_steps(episodes))
        )
