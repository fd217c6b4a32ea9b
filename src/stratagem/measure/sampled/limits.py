"""Limits of an exploitability from replies: a pilot finds an exploiter, fresh replies say what it gains.

1. A quarter of the replies is spread evenly over the questions. The best response to their frequencies is exploiter j.
2. The rest goes to each question by the square root of the mean of reach squared times the variance of a reply's
   value, averaged over best responses to draws of the policy by Dirichlet(1/2); a tenth of it is spread evenly, and
   each question gets one at least.
3. The lower limit is the gain of j on the second stage's replies alone, less 1.645 standard errors, and 0 at least. j
   was chosen on other replies, so this gain is unbiased, and no strategy gains more than a best response. Where a
   server gives long replies of the pilot again, word for word, the second stage is not fresh, and the limit is 0.
4. The upper limit is the gain of the best response to the frequencies of all replies, plus 1.645 of its standard
   errors: a maximum over responses is biased upwards.
5. The point is the mean of that gain and of a two-fold cross-fit, in which each half judges the best response to the
   other; the one is biased upwards and the other downwards.

The limits are of the exploitability of what the player played while it was asked: of the mean, over its replies, of the
policy by which each was drawn. The upper limit is of all replies, and the lower one of those of the second stage, by
which it is judged: of a player that plays worse and worse it may be above the exploitability of the mean over all.
A player without a memory draws all of them by one policy, and the limits are of that.
Where each reply may depend on earlier ones, its difference from that policy still has mean 0 given the past, so the
differences add up as a martingale's do, with no more variance than independent replies have. What such a player would
play without its memory they do not say: replies from a memory of all earlier ones are almost exchangeable, and those
of one question look like independent ones of another policy (de Finetti).

Standard errors come from the derivative of the gain (delta method), with shares of (count + 1) / (n + actions), and
with the effective number of replies where some are copies.
Percentiles of a bootstrap and of posterior draws of the maximum are no lower limits, and are not offered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from stratagem.games.key import Key
from stratagem.measure.sampled.gain import ResponseGain, Responses
from stratagem.measure.sampled.questions import Floats, Ints
from stratagem.measure.sampled.tally import ReplyTally, apportion_replies, frequencies, variances
from stratagem.measure.statistics import Estimate, exactly

Z = 1.645
"""One-sided 95 % of the normal distribution."""
FEW = 8.0
"""Mean number of replies a question under which no point is given."""
PILOT, _EVEN = 0.25, 0.1
"""Share of the pilot among all replies, and of the second stage that is spread evenly (steps 1 and 2)."""
KNOWN = 0.1
"""Share of the second stage's replies that a cache may have taken from the pilot; with more the lower limit is 0."""
_DRAWS = 16
"""Draws of the policy over which step 2 averages: by the frequencies alone, a question with equal replies in the pilot
would have no variance, and get its even share only."""
_ROUNDING = 1e-9
"""Gain of a certain policy that counts as none."""
Asked = Callable[[Ints], ReplyTally]
"""Source of replies: takes the number of replies that each question is to get."""


@dataclass(frozen=True, eq=False)
class ExploitabilityLimits:
    """Limits of the exploitability, one-sided 95 % each (both together 90 %), and its estimate."""

    lower: float
    upper: float
    point: float | None
    """Estimate; None with fewer than 8 replies a question."""
    p_value: float
    """One-sided p of the null hypothesis that nothing can be gained, by the gain of the exploiter."""
    is_fresh: bool
    """False where a cache gave replies of the pilot again, so that there is no lower limit but 0."""
    exploiter: Responses
    """Responses whose gain the lower limit is."""
    gain: Estimate
    """Gain of the best response to the frequencies of all replies, biased upwards, with its standard error."""
    tally: ReplyTally
    """All replies."""
    judged: Estimate
    """Gain of the exploiter on the second stage's replies, which may be below 0; 0 where those are not fresh."""


def measured_limits(gain: ResponseGain, ask: Asked, replies: int, key: Key) -> ExploitabilityLimits:
    """Ask a player in two stages, and return the limits of its exploitability."""
    questions = gain.questions
    pilot = ask(apportion_replies(np.ones(len(questions)), max(round(PILOT * replies), len(questions))))
    exploiter = gain.best_responses(frequencies(questions, pilot.counts))
    second = ask(second_stage(gain, pilot, replies - round(PILOT * replies), key))
    return limits_of_stages(gain, pilot, second, replies, exploiter)


def limits_of_stages(
    gain: ResponseGain, pilot: ReplyTally, second: ReplyTally, replies: int, exploiter: Responses
) -> ExploitabilityLimits:
    """Return the limits by the replies of two stages, and the exploiter that the first one found."""
    questions, tally = gain.questions, pilot + second
    value, error = judge_gain(gain, second, exploiter) if second.share_known(pilot) <= KNOWN else (0.0, math.inf)
    best = response_gain(gain, tally)
    lower, upper = max(0.0, value - Z * error), above(best)
    return ExploitabilityLimits(
        lower=lower,
        upper=upper,
        point=min(max(point(gain, tally), lower), upper) if replies >= FEW * len(questions) else None,
        p_value=_p_value(value, error),
        is_fresh=error < math.inf,
        exploiter=exploiter,
        gain=best,
        tally=tally,
        judged=Estimate(value, 0.0 if error == math.inf else error, int(second.counts.sum())),
    )


def most_replies(questions: int, replies: int) -> int:
    """Return the largest number of replies that both stages ask for: each asks each question once at least."""
    pilot = max(round(PILOT * replies), questions)
    second = replies - round(PILOT * replies)
    return pilot + second + (questions if _EVEN * second < questions else 0)


def certain_limits(gain: ResponseGain, ask: Asked) -> ExploitabilityLimits:
    """Ask a player each question once, which always plays what it plays now: its exploitability is exact."""
    tally = ask(np.ones(len(gain.questions), dtype=np.int64))
    rows = frequencies(gain.questions, tally.counts)
    exploiter = gain.best_responses(rows)
    value, _ = gain(rows, exploiter)
    return ExploitabilityLimits(
        lower=value,
        upper=value,
        point=value,
        p_value=_p_value(value, 0.0),
        is_fresh=True,
        exploiter=exploiter,
        gain=exactly(value),
        tally=tally,
        judged=exactly(value),
    )


def second_stage(gain: ResponseGain, pilot: ReplyTally, replies: int, key: Key) -> Ints:
    """Return how many replies each question gets in the second stage."""
    return apportion_by_use(usefulness(gain, pilot, key), replies)


def usefulness(gain: ResponseGain, pilot: ReplyTally, key: Key) -> Floats:
    """Return the standard error that one reply to each question leaves in the gain, over draws of the policy."""
    questions = gain.questions
    generator = np.random.default_rng(key.at("draws").value)
    total = np.zeros(len(questions))
    for _ in range(_DRAWS):
        weights = generator.gamma(pilot.counts + 0.5)
        rows = weights / questions.spread(questions.sums(weights))
        total += variances(questions, rows, gain(rows, gain.best_responses(rows))[1])
    useful: Floats = np.sqrt(total)
    return useful


def apportion_by_use(useful: Floats, replies: int, least: int = 1) -> Ints:
    """Share replies by the square roots of variances, a tenth evenly; each question gets `least` at least."""
    even = np.full(len(useful), 1.0 / len(useful))
    share = useful / useful.sum() if useful.any() else even
    return np.maximum(apportion_replies((1.0 - _EVEN) * share + _EVEN * even, replies), least)


def judge_gain(gain: ResponseGain, tally: ReplyTally, responses: Responses) -> tuple[float, float]:
    """Return the gain of strategies on replies by which they were not chosen, and its standard error."""
    value, slopes = gain(frequencies(gain.questions, tally.counts), responses)
    return value, standard_error(gain, tally, slopes)


def _p_value(value: float, error: float) -> float:
    if error in (0.0, math.inf):
        return float(value <= _ROUNDING)
    return 1.0 - NormalDist().cdf(value / error)


def upper_limit(gain: ResponseGain, tally: ReplyTally) -> float:
    """Return the gain of the best response to the frequencies, plus its error."""
    return above(response_gain(gain, tally))


def response_gain(gain: ResponseGain, tally: ReplyTally) -> Estimate:
    """Return the gain of the best response to the frequencies, with its standard error."""
    rows = frequencies(gain.questions, tally.counts)
    value, slopes = gain(rows, gain.best_responses(rows))
    return Estimate(value, standard_error(gain, tally, slopes), int(tally.counts.sum()))


def above(estimate: Estimate) -> float:
    """Return the one-sided 95 % upper limit of an estimate, by the normal distribution."""
    return estimate.mean + Z * (estimate.se or 0.0)


def point(gain: ResponseGain, tally: ReplyTally) -> float:
    """Return the mean of the gain on all replies and of the gain of each half's best response on the other half."""
    first, second = (frequencies(gain.questions, half) for half in tally.halves)
    everything = frequencies(gain.questions, tally.counts)
    plugged, one, other = (
        gain(judged, gain.best_responses(chosen))[0]
        for judged, chosen in ((everything, everything), (second, first), (first, second))
    )
    return (plugged + (one + other) / 2) / 2


def standard_error(gain: ResponseGain, tally: ReplyTally, slopes: Floats) -> float:
    """Return the standard error of a gain whose derivative is given."""
    rows = frequencies(gain.questions, tally.counts, prior=1.0)
    effective = np.maximum(tally.num_independent(gain.questions), 1.0)
    return math.sqrt(float((variances(gain.questions, rows, slopes) / effective).sum()))
