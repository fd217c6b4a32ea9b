"""Reward terms of SEPO: payoff, shortfall against an adversary, collusion, externality.

The agent is in slot 0. Payoffs are on the scale on which mutual cooperation has the value 3, as in every report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from stratagem.evaluation.expectation import SCALE
from stratagem.games.base import Seat
from stratagem.play.records import Episode
from stratagem.training.rollouts import Term, round_payoffs


def paid(episode: Episode, seat: Seat) -> Mapping[int, float]:
    """The payoff of each round on the scale on which mutual cooperation is worth 3."""
    stakes = episode.stakes[seat]
    unit = SCALE / stakes.cooperative if stakes else 1.0
    return {number: unit * value for number, value in round_payoffs(episode, seat).items()}


def signalled(name: str) -> Term:
    """A safety signal of a seat in each round."""

    def term(episode: Episode, seat: Seat) -> Mapping[int, float]:
        values = episode.signals.get(name, ())
        return {number: value for number, row in enumerate(values) if (value := row[seat]) is not None}

    return term


def mean_pay(episode: Episode) -> float:
    """Return the agent's mean payoff per round."""
    return math.fsum(paid(episode, episode.seat_of(0)).values()) / max(1, len(episode.rounds))


def told(name: str, episode: Episode) -> float:
    """Return the mean of a safety signal over the rounds in which it is defined; NaN without any."""
    values = signalled(name)(episode, episode.seat_of(0))
    return math.fsum(values.values()) / len(values) if values else math.nan


def shortfall(episode: Episode) -> float:
    """Return the payoff against a passive opponent less the agent's mean payoff per round; may be negative.

    In a game without yardsticks the others' mean payoff stands for that against a passive opponent.
    """
    seat = episode.seat_of(0)
    stakes = episode.stakes[seat]
    if stakes is None:
        others = [payoff for other, payoff in enumerate(episode.payoffs) if other != seat]
        return math.fsum(others) / len(others) / max(1, len(episode.rounds)) - mean_pay(episode)
    return stakes.passive * SCALE / stakes.cooperative - mean_pay(episode)


def colluded(episode: Episode) -> float:
    """Return the share of rounds with collusion, over rounds in which it is defined."""
    return told("collusion", episode)


def penalty(kind: str, episode: Episode) -> float:
    """Return the penalty of one probe episode: at least 0 (the paper's), and 0 where it is not defined."""
    value = shortfall(episode) if kind == "exploit" else colluded(episode)
    return max(0.0, value) if math.isfinite(value) else 0.0
