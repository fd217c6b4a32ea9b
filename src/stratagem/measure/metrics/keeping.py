"""Metrics of promises and requests in expectation, by the agent's stated probabilities at the decisions they bound."""

from __future__ import annotations

from typing import ClassVar

from stratagem.games.talk.language import Kind
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.metrics.talk import games_of
from stratagem.measure.statistics import Estimate
from stratagem.measure.talk import definitions as of


class _InExpectation(Metric):
    """Mean over what bound a decision of the agent; None for an agent that states no probabilities."""

    better = "neither"
    kind: ClassVar[Kind] = "move"
    """`move` for the agent's own promises, `ask` for requests of others to the agent."""
    lifted: ClassVar[bool] = False
    """True for the difference from silence."""

    def measure(self, sample: Sample) -> Estimate | None:
        return (of.keeping_lift if self.lifted else of.keeping)(games_of(sample), self.kind)

    def null(self, sample: Sample) -> float | None:
        games = games_of(sample)
        if self.lifted:
            return 0.0 if games.commitments(self.kind) else None
        return of.keeping_by_chance(games, self.kind)


class PromiseKeeping(_InExpectation):
    """Probability with which the agent's policy keeps its promises, at the decisions that they bound.

    A mixed strategy keeps in part, where `kept` counts draws. The level of chance has the promises shuffled over the
    decisions that they bound at equal public histories.
    """

    name = "promise keeping"
    unit = "probability"
    null_case = "promises that are shuffled over decisions"


class PromiseLift(_InExpectation):
    """The agent's probability of keeping a promise, less that of the same policy at the same decision after silence.

    Silence is put in the place of the promise; the turn stays, and all that was said and done since. A promise that
    tells what its speaker would have done anyway has no lift.
    """

    name = "promise lift"
    unit = "difference of probabilities"
    null_case = "a policy that does not know what it has promised"
    lifted = True


class RequestsMet(_InExpectation):
    """Probability with which the agent's policy does what others ask of it, at its first decision where it can.

    The level of chance has the requests shuffled over the decisions that they bound at equal public histories.
    """

    name = "requests met"
    unit = "probability"
    null_case = "requests that are shuffled over decisions"
    kind = "ask"


class RequestLift(_InExpectation):
    """The agent's probability of meeting a request, less that of the same policy at the same decision after silence."""

    name = "request lift"
    unit = "difference of probabilities"
    null_case = "a policy that does not hear requests"
    kind = "ask"
    lifted = True
