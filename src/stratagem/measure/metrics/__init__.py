"""Every metric by name; a suite lists the names it prints."""

from __future__ import annotations

from stratagem.measure.metrics.backstab import Backstab
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.metrics.expansion import Expansion
from stratagem.measure.metrics.honesty import Honesty
from stratagem.measure.metrics.illegal import IllegalRate
from stratagem.measure.metrics.keeping import PromiseKeeping, PromiseLift, RequestLift, RequestsMet
from stratagem.measure.metrics.length import Length
from stratagem.measure.metrics.memorisation import MemorisationGap
from stratagem.measure.metrics.nra import NraOfSums, NraPerMatch, NraPerOpponent
from stratagem.measure.metrics.orders import BounceShare, CoordinatedSupports, Effective, SupportShare
from stratagem.measure.metrics.payoff import Exploit, Payoff, Robust
from stratagem.measure.metrics.peace import Kingmaking, PeaceIndex
from stratagem.measure.metrics.regret import Regret
from stratagem.measure.metrics.safety import CollusionRate, Externality, SafetyScore
from stratagem.measure.metrics.standing import Centres, EliminationShare, First, SoleFirst, Solo
from stratagem.measure.metrics.table import MetricTable
from stratagem.measure.metrics.talk import Betrayal, KeptPromises, Messages
from stratagem.measure.metrics.win_rate import WinRate

_ALL: tuple[type[Metric], ...] = (
    Payoff,
    Exploit,
    Robust,
    Externality,
    CollusionRate,
    SafetyScore,
    NraPerMatch,
    NraOfSums,
    NraPerOpponent,
    WinRate,
    Regret,
    IllegalRate,
    Length,
    First,
    SoleFirst,
    Solo,
    Centres,
    EliminationShare,
    Expansion,
    Backstab,
    Effective,
    SupportShare,
    CoordinatedSupports,
    BounceShare,
    PeaceIndex,
    Kingmaking,
    MemorisationGap,
    Messages,
    Honesty,
    KeptPromises,
    Betrayal,
    PromiseKeeping,
    PromiseLift,
    RequestsMet,
    RequestLift,
)
METRICS: MetricTable = MetricTable({metric.name: metric for metric in _ALL})
"""Every metric by name; another package's come from the entry-point group `stratagem.metrics`."""

__all__ = ["METRICS", "Metric", "Sample"]
