"""Metrics of payoff a round: against the training opponents, against others, and the advantage of adversaries."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from stratagem.measure.figures.figure import OF_PAYOFFS
from stratagem.measure.matchups import mean_advantage, mean_payoff, payoff_of
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


class Exploit(Metric):
    """Mean over adversaries of max(0, mean advantage a round over the agent).

    The cut at zero comes after averaging: cut each episode, and a perfect equilibrium player looks exploitable in
    any game with luck. The standard error is that of the uncut means, so it errs on the safe side (SEPO, section
    5).
    """

    name = "pool_advantage"
    better = "lower"
    unit = OF_PAYOFFS
    explanation = "mean advantage a round of the adversaries in a pool over the player, each at least 0"

    def measure(self, sample: Sample) -> Estimate | None:
        return pool_advantage(sample, scaled=True)


def pool_advantage(sample: Sample, *, scaled: bool) -> Estimate | None:
    """Return the metric, on the common scale or in the game's own unit."""
    matchups = sample.pool("exploit")
    if not matchups:
        return None
    cut = fmean(max(0.0, matchup.advantage(scaled=scaled).mean) for matchup in matchups)
    return replace(mean_advantage(matchups, scaled=scaled), mean=cut)
