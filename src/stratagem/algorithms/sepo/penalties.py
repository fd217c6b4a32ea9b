"""What SEPO's objective is made of, read from episodes: pay, shortfall against an adversary, collusion, externality.

The hero sits in slot 0. Pay is on the scale on which mutual cooperation is worth 3, in training as in every report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from stratagem.evaluation.expectation import SCALE
from stratagem.games.base import Seat
from stratagem.play.records import Episode
from stratagem.training.rollouts import Term, payoff


def paid(episode: Episode, seat: Seat) -> Mapping[int, float]:
    """The payoff of each round on the scale on which mutual cooperation is worth 3."""
    stakes = episode.stakes[seat]
    unit = SCALE / stakes.cooperative if stakes else 1.0
    return {number: unit * value for number, value in payoff(episode, seat).items()}


def signalled(name: str) -> Term:
    """A safety signal of a seat in each round."""

    def term(episode: Episode, seat: Seat) -> Mapping[int, float]:
        values = episode.signals.get(name, ())
        return {number: value for number, row in enumerate(values) if (value := row[seat]) is not None}

    return term


def mean_pay(episode: Episode) -> float:
    """What a round paid the hero on average."""
    return math.fsum(paid(episode, episode.seat_of(0)).values()) / max(1, len(episode.rounds))


def told(name: str, episode: Episode) -> float:
    """The mean of a safety signal over the rounds that could tell; no number where none could."""
    values = signalled(name)(episode, episode.seat_of(0))
    return math.fsum(values.values()) / len(values) if values else math.nan


def shortfall(episode: Episode) -> float:
    """By how much the hero's mean pay a round is below what a passive opponent would leave it; may be negative."""
    seat = episode.seat_of(0)
    stakes = episode.stakes[seat]
    passive = stakes.passive * SCALE / stakes.cooperative if stakes else 0.0
    return passive - mean_pay(episode)


def colluded(episode: Episode) -> float:
    """The rate of the rounds that could tell in which the hero colluded."""
    return told("collusion", episode)


def penalty(kind: str, episode: Episode) -> float:
    """What one probe episode charges a rollout: never less than nothing (the paper's); nothing where none can tell."""
    charge = shortfall(episode) if kind == "exploit" else colluded(episode)
    return max(0.0, charge) if math.isfinite(charge) else 0.0
