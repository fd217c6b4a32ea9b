"""Every metric by name, one file each; a suite lists the names it prints."""

from __future__ import annotations

from stratagem.evaluation.metrics.backstab import Backstab
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.metrics.collusion import Collusion
from stratagem.evaluation.metrics.expansion import Expansion
from stratagem.evaluation.metrics.exploit import Exploit
from stratagem.evaluation.metrics.externality import Externality
from stratagem.evaluation.metrics.honesty import Honesty
from stratagem.evaluation.metrics.illegal import IllegalRate
from stratagem.evaluation.metrics.keeping import PromiseKeeping, PromiseLift, RequestLift, RequestsMet
from stratagem.evaluation.metrics.length import Length
from stratagem.evaluation.metrics.memorisation import MemorisationGap
from stratagem.evaluation.metrics.nra import NraOfSums, NraPerMatch, NraPerOpponent
from stratagem.evaluation.metrics.orders import Bounced, Coordinated, Effective, Supported
from stratagem.evaluation.metrics.payoff import Payoff
from stratagem.evaluation.metrics.peace import Kingmaking, Peace
from stratagem.evaluation.metrics.regret import Regret
from stratagem.evaluation.metrics.robust import Robust
from stratagem.evaluation.metrics.safety import Safety
from stratagem.evaluation.metrics.standing import Centres, Eliminated, First, SoleFirst, Solo
from stratagem.evaluation.metrics.table import MetricTable
from stratagem.evaluation.metrics.talk import Betrayal, Kept, Messages
from stratagem.evaluation.metrics.win_rate import WinRate

_ALL: tuple[type[Metric], ...] = (
    Payoff,
    Exploit,
    Robust,
    Externality,
    Collusion,
    Safety,
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
    Eliminated,
    Expansion,
    Backstab,
    Effective,
    Supported,
    Coordinated,
    Bounced,
    Peace,
    Kingmaking,
    MemorisationGap,
    Messages,
    Honesty,
    Kept,
    Betrayal,
    PromiseKeeping,
    PromiseLift,
    RequestsMet,
    RequestLift,
)
METRICS = MetricTable({metric.name: metric for metric in _ALL})
"""Every metric by name; another package's come from the entry-point group `stratagem.metrics`."""

__all__ = ["METRICS", "Metric", "Sample"]
