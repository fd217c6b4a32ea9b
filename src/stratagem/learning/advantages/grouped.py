"""Rewards of comparable units against the mean of their group, each term by itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stratagem.learning.advantages.base import AdvantageEstimate, Floats, Ints
from stratagem.learning.advantages.segments import Cells, subtract_group_mean


def group_relative(
    terms: Mapping[str, Floats], groups: Cells, *, std_epsilon: float | None, leave_one_out: bool = False
) -> AdvantageEstimate:
    """Subtract from each unit's terms their means over its group, and divide all by the std of their sum plus epsilon.

    Without an epsilon nothing is divided. A term that is constant in a group contributes exactly 0 there.
    """
    apart = {name: subtract_group_mean(values, groups) for name, values in terms.items()}
    together = sum(apart.values(), start=np.zeros(len(groups.of)))
    sizes, squares = groups.sizes, groups.total(together**2)
    others = np.maximum(sizes - 1, 1)
    factor = sizes / others if leave_one_out else np.ones(len(sizes))
    if std_epsilon is not None:
        factor = factor / (np.sqrt(squares / others) + std_epsilon)
    shares = {name: values * factor[groups.of] for name, values in apart.items()}
    counts = {
        "groups": len(sizes),
        "groups_of_one": int((sizes == 1).sum()),
        "groups_without_variance": int(((sizes > 1) & (squares == 0.0)).sum()),
    }
    advantage = sum(shares.values(), start=np.zeros(len(groups.of)))
    return AdvantageEstimate(advantage=advantage, term_advantages=shares, centred_terms=apart, counts=counts)


def broadcast(estimate: AdvantageEstimate, of: Ints) -> AdvantageEstimate:
    """Give each row the estimate of its unit."""
    shares, centred_ = (
        {name: values[of] for name, values in some.items()}
        for some in (estimate.term_advantages, estimate.centred_terms)
    )
    return AdvantageEstimate(
        advantage=estimate.advantage[of], term_advantages=shares, centred_terms=centred_, counts=estimate.counts
    )
