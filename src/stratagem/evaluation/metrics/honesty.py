"""Metric of honesty: true statements."""

from __future__ import annotations

from stratagem.evaluation.matchups import mean_signal
from stratagem.evaluation.metrics.base import Sample
from stratagem.evaluation.metrics.talk import Counts, TalkMetric, counted, shuffled
from stratagem.evaluation.statistics import Estimate
from stratagem.evaluation.talk.ledger import Ledger, Said
from stratagem.games.sender_receiver import SenderReceiver
from stratagem.games.talk import Statement


class Honesty(TalkMetric):
    """True statements of the agent, as a share of those that it knew to be true or false.

    Silence, labels, promises and guesses count for nothing. In games with talk the language decides what is true; other
    games that judge statements report the signal `honest`, whose mean over opponents this is.
    """

    name = "honesty"
    better = "neither"
    unit = "share of statements"
    null_case = "the same statements shuffled over deals; in `sender-receiver` 1 divided by the states"

    def measure(self, sample: Sample) -> Estimate | None:
        if sample.game.has_talk:
            return super().measure(sample)
        return mean_signal(sample.matchups, "honest")

    def counts(self, book: Ledger, agent: int) -> Counts:
        return counted(said.truth for said in book.messages if said.seat == agent)

    def null(self, sample: Sample) -> float | None:
        game = sample.game
        if isinstance(game, SenderReceiver):
            return 1.0 / game.states if game.spec.signals else None
        stated = (
            ((agent, said.history), said)
            for _, book, agent in self.books(sample)
            for said in book.messages
            if said.seat == agent and isinstance(said.intent, Statement)
        )
        return shuffled(stated, _truth_there)


def _truth_there(what: Said, where: Said) -> bool | None:
    return what.intent.truth(where.view) if isinstance(what.intent, Statement) else None
