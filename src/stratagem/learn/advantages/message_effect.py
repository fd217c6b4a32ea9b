"""Effect of a message by intervention: the return after it less the return with another message in its place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from stratagem.base.errors import UnknownName
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats, State
from stratagem.learn.advantages.group_mean import GroupMean
from stratagem.learn.advantages.segments import cells, returns_to_go

Instead = Literal["silence", "alternatives"]
COLUMNS = {"silence": "silenced", "alternatives": "redrawn"}
"""Column of what stands in the place of a message."""


@dataclass(frozen=True, kw_only=True)
class MessageEffect(AdvantageEstimator):
    """`A = R(m) - R(m')` for a message m, with m' in its place at the same turn; another estimator's A for moves.

    R is the return from the round on, its terms weighed as the other estimator weighs them. m' is silence, or messages
    that the policy draws anew; R(m') is then their mean.
    The branches of m' have the keys of the episode, so whatever does not depend on the message cancels.
    What differs: Jaques et al. 2019 intervene too, and reward a change of the reader's policy. Here the baseline alone
    is counterfactual, as in COMA (Foerster et al. 2018c). m' does not depend on m, so the gradient is that of the
    return. The negation of m would depend on it, and bias the gradient.
    When not: where messages are most of what is played, each costs an episode more, and `group_mean` knows as much.
    """

    of: AdvantageEstimator = field(default_factory=lambda: GroupMean(normalize_std=False))
    """Estimator of the advantages of moves, with the weights of all reward terms, those of messages too; one that does
    not divide by a standard deviation has the same unit."""
    counterfactual: Instead = "silence"
    """Message in the place of the one that was sent: silence, or the speaker's own alternatives."""

    def __post_init__(self) -> None:
        if self.counterfactual not in get_args(Instead):
            raise UnknownName("`counterfactual` of message_effect", str(self.counterfactual), get_args(Instead))

    @property
    def columns(self) -> frozenset[str]:
        return self.of.columns | {"round", "message", COLUMNS[self.counterfactual]}

    @property
    def terms(self) -> frozenset[str]:
        return self.of.terms

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        moves, message = self.of(decisions, state), decisions.flags("message")
        effects, none = self._effects(self.of.weigh_terms(decisions, state)), np.zeros(len(decisions))
        advantage = np.where(message, sum(effects.values(), start=none), moves.advantage)
        shares, centred = (
            {name: np.where(message, effects.get(name, none), values) for name, values in some.items()}
            for some in (moves.term_advantages, moves.centred_terms)
        )
        counts = {**moves.counts, "messages": int(message.sum())}
        return replace(moves, advantage=advantage, term_advantages=shares, centred_terms=centred, counts=counts)

    def _effects(self, decisions: Decisions) -> dict[str, Floats]:
        """Return the effect on each reward term, for every row."""
        instead = decisions.counterfactual(COLUMNS[self.counterfactual])
        rounds = cells(decisions.episode, decisions.codes("round"))
        episodes = cells(decisions.episode[rounds.first])
        to_go = {name: returns_to_go(rounds.total(values), episodes) for name, values in decisions.terms.items()}
        return {name: values[rounds.of] - instead[name] for name, values in to_go.items()}
