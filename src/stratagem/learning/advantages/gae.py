"""A decision is worth what came after it beyond what was expected, the nearer the more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stratagem.learning.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learning.advantages.segments import cells, from_the_end
from stratagem.options import within


@dataclass(frozen=True, kw_only=True)
class GAE(AdvantageEstimator):
    """Generalised advantages: `A_t = d_t + gamma lam A_{t+1}` with `d_t = r_t + gamma V_{t+1} - V_t`.

    Returns, which the value head is to learn, are A + V.
    After an episode's last row everything is 0. Rows that are not kept are skipped: the next kept one follows.
    Reference: Schulman 2016; ShapeLLM over a trial of several episodes, which the caller numbers as one.
    When not: with `lam` below 1 it believes the value head, which knows nothing at first; `group_mean` needs none.
    """

    gamma: float = 1.0
    """What the next step's worth counts in this one's."""
    lam: float = 0.95
    """How far ahead rewards are trusted rather than the value head; 1 trusts rewards alone."""
    weights: Mapping[str, float] | None = None
    """What each term of the reward counts; without them all count once, with them those that have one."""

    def __post_init__(self) -> None:
        within(self, "gamma", self.gamma, 0.0, 1.0)
        within(self, "lam", self.lam, 0.0, 1.0)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"value"})

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.weights or ())

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        reward, value = decisions.reward(self.weights), decisions.figures("value")
        episodes = cells(decisions.episode)
        advantage = np.zeros(len(decisions))
        next_value, next_advantage = np.zeros(len(episodes.first)), np.zeros(len(episodes.first))
        for rows in from_the_end(episodes):
            episode = episodes.of[rows]
            surprise = reward[rows] + self.gamma * next_value[episode] - value[rows]
            advantage[rows] = surprise + self.gamma * self.lam * next_advantage[episode]
            next_value[episode], next_advantage[episode] = value[rows], advantage[rows]
        return AdvantageEstimate(advantage=advantage, returns=advantage + value)
