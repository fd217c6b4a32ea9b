"""Advantage alignment: actions that are good for the others, after rounds that were good for the seat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stratagem.base.errors import BadParameter
from stratagem.base.options import within
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator, Decisions, Floats, State
from stratagem.learn.advantages.per_round import PerRound
from stratagem.learn.advantages.segments import cells, discounted_past

_SHARED = frozenset({"group", "round", "role", "others"})
"""Columns that are as true of the others as of the seat."""
_OTHERS = "others/"
"""First part of the names in the state of what is known of the others."""


def _group_baseline() -> PerRound:
    return PerRound(normalize_std=False, leave_one_out=True, discount=0.9)


@dataclass(frozen=True, kw_only=True)
class AdvantageAlignment(AdvantageEstimator):
    """`A*_t = A1_t + beta gamma (sum over rounds k < t of gamma^(t - k) A1_k) A2_t`, with A1 and A2 by group baselines.

    A1 is another estimator's advantage of the seat, and A2 that of the others, whose rewards are summed. By default,
    `A_t = G_t - mean G_t` with the discounted return `G_t = sum over l >= t of gamma^(l - t) r_l` and the mean over the
    same round of the other rollouts i of the group. So an action that is good for the others becomes likelier after
    rounds that were better than usual for the seat, and less likely after worse ones: others who learn gain by being
    good to it. beta has the unit of 1 / reward: rewards c times as large need a beta of 1 / c.
    Reference: Duque et al. 2024 (arXiv 2406.14662), the learner `advantage-alignment` with exact advantages; for
    language models Piche et al. 2025 (AdAlign, arXiv 2511.19405), which put the mean over rollouts in the place of a
    critic. The default gamma is theirs in the prisoner's dilemma, and beta .5 theirs for rewards divided by 5.
    What differs: rollouts of a group share their start, and no random numbers after it. The other learner is not a
    buffer of earlier adapters, but what the recipe seats there. A1 and A2 are both seen at the seat.
    Where a round has several decisions, its A1_k is that of the first. With returns in place of a critic, A1_k has
    rewards of round t and later in it, so the expected step is not exactly that of the learner with exact advantages,
    which also weighs round t by gamma^t; AdAlign differs from it in the same two ways.
    When not: in a zero-sum game A2 is -A1, and the second term only adds variance. It is 0 in a game of one round. The
    sum grows with the length of an episode: lower `discount` where it drowns A1.
    """

    of: AdvantageEstimator = field(default_factory=_group_baseline)
    """Estimator of A1 and of A2; one that reads what is known of the seat alone, such as a value head, cannot be
    asked for A2."""
    alignment_weight: float = 0.5
    """Weight beta of the aligned advantages; 0 leaves the other estimator as it is."""
    discount: float = 0.9
    """Discount factor gamma of earlier rounds; that of later rewards is a parameter of `of`."""

    def __post_init__(self) -> None:
        within(None, "alignment_weight", self.alignment_weight, 0.0)
        within(None, "discount", self.discount, 0.0, 1.0)
        if own := sorted(self.of.columns - _SHARED):
            raise BadParameter(
                f"`of` of advantage_alignment estimates the advantages of the others, too, and the column `{own[0]}` "
                "is known of the seat alone: take per_round, group_mean or role_baseline."
            )

    @property
    def columns(self) -> frozenset[str]:
        return self.of.columns | {"round", "others"}

    @property
    def terms(self) -> frozenset[str]:
        return self.of.terms

    def estimate(self, decisions: Decisions, state: State) -> AdvantageEstimate:
        own = self.of(decisions, {name: value for name, value in state.items() if not name.startswith(_OTHERS)})
        others = self.of(decisions.seen_by_others(), _state_of_others(state))
        shaping = self.alignment_weight * self.discount * self._past(decisions, own.advantage) * others.advantage
        advantage = own.advantage + shaping
        return AdvantageEstimate(
            advantage=advantage,
            returns=own.returns,
            counts={**own.counts, "realigned": int((advantage * own.advantage < 0.0).sum())},
            state={**own.state, **{_OTHERS + name: value for name, value in others.state.items()}},
        )

    def _past(self, decisions: Decisions, advantage: Floats) -> Floats:
        """Return for each row the discounted sum of the seat's advantages in the rounds before."""
        rounds = cells(decisions.episode, decisions.codes("round"))
        episodes = cells(decisions.episode[rounds.first])
        return discounted_past(advantage[rounds.first], episodes, self.discount)[rounds.of]


def _state_of_others(state: State) -> Mapping[str, float]:
    """Return what the estimator keeps of the others, under its own names."""
    return {name.removeprefix(_OTHERS): value for name, value in state.items() if name.startswith(_OTHERS)}
