"""Metrics of promises and requests in expectation, by the agent's stated probabilities at the decisions they bound."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from stratagem.errors import CannotCompute
from stratagem.evaluation.matchups import Matchup
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.metrics.talk import Book, books_by_matchup
from stratagem.evaluation.policies import Stated, stated
from stratagem.evaluation.statistics import Estimate, ratio, students
from stratagem.evaluation.talk.ledger import Bound
from stratagem.games.talk import Promise
from stratagem.play.records import Episode


class Held(NamedTuple):
    """Promise or request that bound a decision of the agent, with its policy there and after silence in its place."""

    episode: Episode
    bound: Bound
    mix: Stated
    after_silence: Stated

    @property
    def probability(self) -> float:
        """Probability that the decision keeps it."""
        return kept_by(self.bound, self.bound, self.mix) or 0.0

    @property
    def lift(self) -> float:
        """The same, less the probability after silence."""
        return self.probability - (kept_by(self.bound, self.bound, self.after_silence) or 0.0)


def kept_by(what: Bound, where: Bound, mix: Stated) -> float | None:
    """Return the probability that a policy keeps a promise at a decision; None where its condition does not hold."""
    intent, view = what.said.intent, where.view
    assert isinstance(intent, Promise)
    assert view is not None
    judged = [(p, intent.kept(view, action)) for action, p in mix.items() if action is not None]
    known = [(p, kept) for p, kept in judged if kept is not None]
    return math.fsum(p for p, kept in known if kept) if known else None


def mean_of(held: Sequence[Held], *, lifted: bool) -> Estimate | None:
    """Estimate the mean probability of keeping, or its lift; episodes of one deal are one observation."""
    by_episode: dict[str, list[Held]] = {}
    for one in held:
        by_episode.setdefault(one.episode.id, []).append(one)
    if not held:
        return None
    found = ratio(
        list(by_episode.values()),
        lambda rows: math.fsum(one.lift if lifted else one.probability for one in rows),
        len,
        lambda rows: rows[0].episode.group,
    )
    return students(found)


class _InExpectation(Metric):
    """Mean over what bound a decision of the agent; None for an agent that states no probabilities."""

    better = "neither"
    requests: ClassVar[bool] = False
    """True for requests of others to the agent, False for its own promises."""
    lifted: ClassVar[bool] = False
    """True for the difference from silence."""

    def measure(self, sample: Sample) -> Estimate | None:
        return mean_of(self._held(sample), lifted=self.lifted)

    def null(self, sample: Sample) -> float | None:
        held = self._held(sample)
        if self.lifted:
            return 0.0 if held else None
        return shuffled_keeping(held)

    def _held(self, sample: Sample) -> list[Held]:
        return sample.shared("requests" if self.requests else "promises", _requests if self.requests else _promises)


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
    requests = True


class RequestLift(_InExpectation):
    """The agent's probability of meeting a request, less that of the same policy at the same decision after silence."""

    name = "request lift"
    unit = "difference of probabilities"
    null_case = "a policy that does not hear requests"
    requests = True
    lifted = True


def _promises(sample: Sample) -> list[Held]:
    return [one for matchup, found in books_by_matchup(sample) for one in _held(matchup, found, requests=False)]


def _requests(sample: Sample) -> list[Held]:
    return [one for matchup, found in books_by_matchup(sample) for one in _held(matchup, found, requests=True)]


def _held(matchup: Matchup, found: Sequence[Book], *, requests: bool) -> list[Held]:
    """Return what bound decisions of a matchup's agent, which is asked in one batch; nothing if it states nothing."""
    if not matchup.seated or not matchup.seated[0].traits.exact or matchup.seated[0].traits.searches:
        return []
    bound = [item for book in found for item in _bound(book, requests=requests)]
    views = [view for _, one in bound for view in (one.seen, one.unheard)]
    try:
        mixes: Sequence[Stated] = stated(matchup.seated[0], views) if views else []
    except CannotCompute:
        return []
    pairs = zip(mixes[::2], mixes[1::2], strict=True)
    return [Held(episode, one, *mix) for (episode, one), mix in zip(bound, pairs, strict=True)]


def _bound(book: Book, *, requests: bool) -> Iterator[tuple[Episode, Bound]]:
    episode, ledger, agent = book
    for bound in ledger.requests if requests else ledger.promises:
        if bound.seat == agent and bound.outcome in ("kept", "broken"):
            yield episode, bound


def shuffled_keeping(held: Sequence[Held]) -> float | None:
    """Return the expected probability when what was said is shuffled among decisions of equal public histories."""
    groups: dict[Hashable, list[Held]] = {}
    for one in held:
        groups.setdefault((one.bound.said.seat, one.bound.seat, one.bound.said.history), []).append(one)
    hits, tries = 0.0, 0.0
    for group in groups.values():
        pairs = ((what, where) for what in group for where in group)
        judged = [p for what, where in pairs if (p := kept_by(what.bound, where.bound, where.mix)) is not None]
        hits, tries = hits + math.fsum(judged) / len(group), tries + len(judged) / len(group)
    several = any(len(group) > 1 for group in groups.values())
    return hits / tries if tries and several else None
