"""Return of an episode, less the moving average return of its role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stratagem.base.errors import BadParameter
from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, State
from stratagem.learn.advantages.segments import cells


@dataclass(frozen=True, kw_only=True)
class RoleBaseline(AdvantageEstimator):
    """`A = R - b`, with b a moving average for each game and seat: `b <- ema_decay b + (1 - ema_decay) R`, from 0 on.

    Reference: SPIRAL (Liu et al. 2025), role-conditioned advantage estimation.
    What differs: an episode is compared with the baseline before it moves it; afterwards is the same times `ema_decay`.
    When not: where several episodes start alike, `group_mean` knows better what is usual. Until about
    `1 / (1 - ema_decay)` episodes of a role were seen, its baseline lags behind.
    """

    ema_decay: float = 0.95
    """Decay of the exponential moving average: the share of the baseline that stays after an episode."""
    weights: Mapping[str, float] | None = None
    """Weight of each reward term; without weights all terms count once, with weights only the named ones."""

    def __post_init__(self) -> None:
        within(None, "ema_decay", self.ema_decay, 0.0, 1.0)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({"role"})

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.weights or ())

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        episodes = cells(decisions.episode)
        reward = episodes.total(decisions.reward(self.weights))
        names = _names(decisions)
        baselines = dict(state)
        advantage = np.zeros(len(reward))
        for episode in np.argsort(episodes.first):
            name = names[decisions.codes("role")[episodes.first[episode]]]
            before = baselines.get(name, 0.0)
            advantage[episode] = reward[episode] - before
            baselines[name] = self.ema_decay * before + (1.0 - self.ema_decay) * float(reward[episode])
        return AdvantageEstimate(advantage=advantage[episodes.of], state=baselines)


def _names(decisions: Decisions) -> tuple[str, ...]:
    """Return the names of the roles' baselines in the state."""
    role = decisions.codes("role")
    if len(role) and not 0 <= role.min() <= role.max() < len(decisions.roles):
        raise BadParameter("Each code of the column `role` needs its name in `roles`: baselines outlive a batch.")
    return tuple(f"role_baseline/{name}" for name in decisions.roles)
