"""Metric of honesty: true statements."""

from __future__ import annotations

from stratagem.games.sender_receiver import SenderReceiver
from stratagem.measure.matchups import mean_signal
from stratagem.measure.metrics.base import Sample
from stratagem.measure.metrics.talk import TalkMetric
from stratagem.measure.statistics import Estimate
from stratagem.measure.talk import definitions as of


class Honesty(TalkMetric):
    """True statements of the agent, as a share of those that it knew to be true or false.

    Silence, labels, promises and guesses count for nothing. In games with talk the language decides what is true; other
    games that judge statements report the signal `honest`, whose mean over opponents this is.
    """

    name = "honesty"
    better = "higher"
    unit = "share of statements"
    null_case = "the same statements shuffled over deals; in `sender-receiver` 1 divided by the states"

    def measure(self, sample: Sample) -> Estimate | None:
        if sample.game.has_talk:
            return of.honesty(self.games(sample))
        return mean_signal(sample.matchups, "honest")

    def null(self, sample: Sample) -> float | None:
        game = sample.game
        if isinstance(game, SenderReceiver):
            return 1.0 / game.states if game.spec.signals else None
        return of.honesty_by_chance(self.games(sample))
