"""Advantages of one spread, whatever the rewards are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from stratagem.learning.credit.base import Credit, Decisions, Estimator, State
from stratagem.learning.credit.gae import GAE


@dataclass(frozen=True, kw_only=True)
class Whitened(Estimator):
    """Another estimator's advantages less their mean, divided by their spread, over all rows of the batch.

    Reference: `masked_whiten` of trl 0.11, by which its PPO and ShapeLLM's train; returns stay as they are.
    When not: where all advantages of a batch may truly be of one sign, as in probes, the shift turns some round.
    """

    of: Estimator = field(default_factory=GAE)
    """Whose advantages."""

    def estimate(self, decisions: Decisions, state: State) -> Credit:
        credit = self.of(decisions, state)
        if len(decisions) < 2:
            return credit
        factor = 1.0 / np.sqrt(credit.advantage.var(ddof=1) + 1e-8)
        shares = {name: (share - share.mean()) * factor for name, share in credit.shares.items()}
        centred = {name: share - share.mean() for name, share in credit.shares.items()}
        advantage = (credit.advantage - credit.advantage.mean()) * factor
        return replace(credit, advantage=advantage, shares=shares, centred=centred)
