"""Generalised advantage estimation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learn.advantages.segments import backwards, cells


@dataclass(frozen=True, kw_only=True)
class GAE(AdvantageEstimator):
    """Generalised advantage estimation: `A_t = d_t + gamma lambda A_{t+1}` with `d_t = r_t + gamma V_{t+1} - V_t`.

    The returns, the targets of the value head, are A + V.
    After an episode's last row everything is 0. Rows that are not kept are skipped: the next kept one follows.
    Reference: Schulman et al. 2016, eq. 16; ShapeLLM over a trial of several episodes, which the caller numbers as one.
    When not: with `gae_lambda` below 1 it relies on the value head, untrained at first; `group_mean` needs none.
    """

    discount: float = 1.0
    """Discount factor gamma."""
    gae_lambda: float = 0.95
    """GAE parameter lambda: 1 uses rewards alone, 0 the value head one step ahead."""
    weights: Mapping[str, float] | None = None
    """Weight of each reward term; without weights all terms count once, with weights only the named ones."""

    def __post_init__(self) -> None:
        within(None, "discount", self.discount, 0.0, 1.0)
        within(None, "gae_lambda", self.gae_lambda, 0.0, 1.0)

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
        for rows in backwards(episodes):
            episode = episodes.of[rows]
            surprise = reward[rows] + self.discount * next_value[episode] - value[rows]
            advantage[rows] = surprise + self.discount * self.gae_lambda * next_advantage[episode]
            next_value[episode], next_advantage[episode] = value[rows], advantage[rows]
        return AdvantageEstimate(advantage=advantage, returns=advantage + value)
