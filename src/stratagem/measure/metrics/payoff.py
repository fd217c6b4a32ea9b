"""Metrics of payoff a round: against the training opponents, and against a pool that training does not have."""

from __future__ import annotations

from statistics import fmean

from stratagem.measure.figures.figure import OF_PAYOFFS
from stratagem.measure.matchups import mean_payoff, payoff_of
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Estimate
from stratagem.playing.records import Episode


class Payoff(Metric):
    """Mean payoff a round against the training pool, each opponent counting the same (SEPO, section 5)."""

    name = "payoff"
    better = "higher"
    unit = OF_PAYOFFS
    null_case = "the fixed sum of payoffs divided by the seats, which an equal of the opponents has"
    by_seat = True
    explanation = "mean payoff a round, each opponent counting the same"
    main = True

    def measure(self, sample: Sample) -> Estimate | None:
        return mean_pay(sample, scaled=True)

    def null(self, sample: Sample) -> float | None:
        if sample.game.spec.utility not in ("zero-sum", "constant-sum"):
            return None
        matchups = [matchup.episodes for matchup in sample.pool("train", "opponents")]
        return fmean(fmean(map(_share, episodes)) for episodes in matchups) if matchups else None


def mean_pay(sample: Sample, *, scaled: bool) -> Estimate | None:
    """Return the metric, on the common scale or in the game's own unit."""
    matchups = sample.pool("train", "opponents")
    return mean_payoff(matchups, scaled=scaled) if matchups else None


def _share(episode: Episode) -> float:
    """Return a seat's payoff a round, the mean over all seats."""
    return fmean(payoff_of(episode, seat) for seat in range(len(episode.slots)))


class Robust(Metric):
    """Mean payoff a round against the distribution-shifted pool (SEPO, section 5)."""

    name = "shifted_payoff"
    better = "higher"
    unit = OF_PAYOFFS
    explanation = "mean payoff a round against a pool of opponents that training does not have"

    def measure(self, sample: Sample) -> Estimate | None:
        matchups = sample.pool("shifted")
        return mean_payoff(matchups, scaled=True) if matchups else None
