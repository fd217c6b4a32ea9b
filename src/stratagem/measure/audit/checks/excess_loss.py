"""Check of payoffs against exploitability: does a fixed opponent win more than any opponent can?

In a game of two seats whose payoffs add up to c a round, let b_i be what a best response at the other seat leaves the
agent at seat i. Its mean payoff over both seats against any opponent is at least (b_0 + b_1) / 2. Its exploitability,
the mean over the seats of what a best response gains over the agent's own play, is e = c / 2 - (b_0 + b_1) / 2. So

    payoff >= c / 2 - e     against every opponent, for an agent of one policy.

The excess loss is c / 2 - payoff - e. Above 0 the two figures are impossible together: the agent does not play as it
answers questions. With more seats the others can win more together than any of them by itself, so there is no such
bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from stratagem.base.errors import CannotCompute
from stratagem.base.number_texts import number
from stratagem.base.renamed.metrics import drawn_figure
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.measure.audit.checks.base import ProbeResult, questions_among
from stratagem.measure.audit.measurement import LEVEL, Group, Measurement
from stratagem.measure.deal_means import DRAWS, Draws, lower_limit, mean_draws
from stratagem.measure.resumable import is_unanswered
from stratagem.measure.statistics import Estimate, all_equal, mean
from stratagem.playing.records import Episode

PAYS = ("payoff_random", "payoff_strong")
"""Quantities that are mean payoffs a round over both seats against one opponent."""


class Excess(NamedTuple):
    """Excess loss to one opponent."""

    value: float
    lower: float
    """One-sided lower limit."""
    p: float
    """p of the null hypothesis that it is at most 0."""


class Pay(NamedTuple):
    """Measurement of the payoff against one opponent, with the payoff of each deal at both seats."""

    figure: Measurement
    deals: Sequence[float]
    record: str


class ExcessLossCheck:
    """Loss to a fixed opponent beyond the exploitability, by the joint error of both figures."""

    quantities: ClassVar[Mapping[str, Group]] = {"excess_loss": "consistency"}

    def measure(self, results: Sequence[ProbeResult]) -> Measurement:
        source = questions_among(results)
        task, gain = source.task, source.measured.gain
        share = equal_share(task.game, [episode for result in results for episode in result.played_episodes()])
        if gain is None:
            raise CannotCompute("The exploitability has no upper limit.")
        pays = [pay for result in results for pay in pays_of(result) if len(pay.deals) > 1]
        if not pays:
            raise CannotCompute("No payoff over both seats was measured on two deals.")
        most, level = most_pay(task.game), LEVEL / len(pays)
        found = [
            excess(pay.deals, gain, share, most, task.key.at(drawn_figure(pay.figure.name)), level) for pay in pays
        ]
        pay, worst = min(zip(pays, found, strict=True), key=lambda pair: pair[1].p)
        (bound,) = (one for one in source.measured.figures if one.name == task.name("exploitability"))
        return Measurement(
            name=task.name("excess_loss"),
            group="consistency",
            value=worst.value,
            lower=worst.lower,
            interval="one-sided 95 %, by the errors of both figures",
            p=min(1.0, len(pays) * worst.p),
            null=f"{pay.figure.name} and {bound.name} are possible together, as figures of one policy",
            n=len(pay.deals),
            unit=task.unit("excess_loss"),
            method=f"{number(share)} less {pay.figure.name}, less the gain of the best response to all replies: no "
            "opponent wins more than the exploitability.",
            example=f"{pay.figure.name} is {number(pay.figure.value)}. With an exploitability of at most "
            f"{number(bound.upper)} it is at least {number(share - (bound.upper or 0.0))}.",
            episode=pay.figure.episode,
            record=pay.record,
        )


def pays_of(result: ProbeResult) -> Iterator[Pay]:
    """Yield the payoffs of a probe with the payoff of each deal.

    Where the agent gave no reply in a deal, which is played as the game's default, the deal counts as the best one.
    """
    for figure in result.measured.figures:
        if figure.name.rpartition(".")[2] in PAYS and figure.episode:
            bout = _bout(result.task.record.finished[figure.episode])
            deals: dict[str, list[float]] = {}
            for episode in result.played_episodes():
                if _bout(episode) == bout:
                    failed = any(row.slot == 0 and is_unanswered(row) for row in episode.decisions)
                    pay = most_pay(result.task.game) if failed else episode.per_round(episode.seat_of(0))
                    deals.setdefault(episode.group, []).append(pay)
            yield Pay(figure, [math.fsum(paid) / len(paid) for paid in deals.values()], result.record)


def _bout(episode: Episode) -> str:
    """Return the part of a deal's name that all deals against one opponent share."""
    return episode.group.rpartition("/")[0]


def excess(deals: Sequence[float], gain: Estimate, share: float, most: float, key: Key, level: float) -> Excess:
    """Return the excess loss by draws of both errors: Student's of the payoff, and the normal one of the gain.

    Deals that all pay the same do not tell the variance of the payoff, so that its draws are Gaffke's, which allow for
    the largest payoff `most`.
    """
    estimate = mean(deals)
    generator = np.random.default_rng(key.at("excess").value)
    gains = gain.mean + (gain.se or 0.0) * generator.standard_normal(DRAWS)
    limit = lower_limit(share + _losses(deals, estimate, most, key, generator) - gains, level)
    return Excess(share - estimate.mean - gain.mean, limit.lower, limit.p)


def _losses(deals: Sequence[float], estimate: Estimate, most: float, key: Key, generator: np.random.Generator) -> Draws:
    """Return draws of minus the mean payoff."""
    if estimate.se is None or all_equal(estimate):
        return mean_draws([-paid for paid in deals], -most, key)
    return estimate.se * generator.standard_t(estimate.n - 1, DRAWS) - estimate.mean


def equal_share(game: Game[Any], episodes: Sequence[Episode]) -> float:
    """Return half of the sum of both seats' payoffs in a round; refused where there is no such constant."""
    spec = game.spec
    if spec.seats != 2:
        raise CannotCompute(
            f"{spec.name} has {spec.seats} seats: only with two does the exploitability bound what opponents win."
        )
    if spec.utility not in ("zero-sum", "constant-sum"):
        raise CannotCompute(f"The payoffs of the two seats of {spec.name} do not add up to a constant.")
    if not episodes:
        raise CannotCompute(f"No episode of {spec.name} was played.")
    if {len(episode.rounds) for episode in episodes} != {spec.rounds}:
        raise CannotCompute(f"The episodes of {spec.name} do not all have {spec.rounds} rounds.")
    sums = {round(math.fsum(episode.payoffs) / len(episode.rounds), 9) for episode in episodes}
    if len(sums) > 1:
        raise CannotCompute(f"The payoffs of the two seats of {spec.name} did not add up to a constant in play.")
    return sums.pop() / 2.0


def most_pay(game: Game[Any]) -> float:
    """Return the largest payoff of a seat a round that the rules allow, over an episode."""
    return game.spec.bounds[1] / (game.spec.rounds or 1)
