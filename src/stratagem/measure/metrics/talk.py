"""Metrics of talk: messages sent, promises kept, and betrayal, from recorded games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game
from stratagem.games.talk.language import Kind
from stratagem.measure.matchups import Matchup
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.policies import Stated, stated_policies
from stratagem.measure.statistics import Estimate
from stratagem.measure.talk import definitions as of
from stratagem.measure.talk.ledger import Bound, ledger
from stratagem.measure.talk.readers import EXACT, SentenceReader, make_reader
from stratagem.measure.talk.reading_accuracy import accuracy_in_words
from stratagem.measure.talk.recorded_games import CommittedDecision, RecordedGames, SpokenEpisode
from stratagem.playing.records import Episode


class TalkMetric(Metric):
    """Share of the agent's messages, or of its promises.

    `reader` names how free text is read: `exact`, `rules` or `model(PLAYER)`.
    """

    unit: ClassVar[str] = "share"

    def __init__(self, reader: str = "exact") -> None:
        self.reader = make_reader(reader)

    def remark(self, game: Game[Any]) -> str:
        """Return the reader of the figure, and its measured accuracy."""
        return "" if self.reader == EXACT else accuracy_in_words(self.reader, game)

    def games(self, sample: Sample) -> RecordedGames:
        """Return the games of a sample with what was said in them, as the reader understands it."""
        return games_of(sample, self.reader)


class Messages(TalkMetric):
    """Messages that the agent sent, over its occasions to send one."""

    name = "messages"
    better = "neither"
    unit = "share of occasions"

    def measure(self, sample: Sample) -> Estimate | None:
        return of.messages(self.games(sample))


class KeptPromises(TalkMetric):
    """Promises that the agent kept, over those that bound a decision of its own.

    The level of chance has the promises shuffled over the decisions that they bound at equal public histories.
    """

    name = "kept"
    better = "higher"
    unit = "share of promises"
    null_case = "promises that are shuffled over decisions"

    def measure(self, sample: Sample) -> Estimate | None:
        games = self.games(sample)
        return of.share(games, games.settled_promises(), lambda one: one.bound.outcome == "kept")

    def null(self, sample: Sample) -> float | None:
        games = self.games(sample)
        return of.by_chance(games.shuffle_promises(games.settled_promises()), lambda what, where: what.kept_at(where))


class Betrayal(TalkMetric):
    """Promises that the agent alone broke, over those that bound a decision of its own.

    A breach at the same turn as another seat's is mutual; one after another seat's breach of a promise that the agent
    could read is retaliation. Neither counts.
    """

    name = "betrayal"
    better = "lower"
    unit = "share of promises"

    def measure(self, sample: Sample) -> Estimate | None:
        games = self.games(sample)
        return of.share(games, games.settled_promises(), lambda one: one.bound.breach == "unilateral")


def games_of(sample: Sample, reader: SentenceReader = EXACT) -> RecordedGames:
    """Return the games of a sample as a source of talk, whose speaker is the agent."""
    return sample.share_value(f"games read by {reader.name}", lambda sample: _games(sample, reader))


def _games(sample: Sample, reader: SentenceReader) -> RecordedGames:
    spoken = [(matchup, list(_spoken_episodes(sample.game, matchup, reader))) for matchup in sample.matchups]
    return RecordedGames(
        [one for _, found in spoken for one in found],
        lambda kind: [held for matchup, found in spoken for held in _held_commitments(matchup, found, kind)],
    )


def _spoken_episodes(game: Game[Any], matchup: Matchup, reader: SentenceReader) -> Iterator[SpokenEpisode]:
    if game.has_talk:
        for episode in matchup.episodes:
            if episode.decisions:
                yield SpokenEpisode(episode, ledger(episode, reader=reader), episode.seat_of(0))


def _held_commitments(matchup: Matchup, found: Sequence[SpokenEpisode], kind: Kind) -> list[CommittedDecision]:
    """Return the agent's promises, or what others asked of it, with its policy at the decisions that they bound.

    The agent of a matchup is asked in one batch; nothing if it states no probabilities.
    """
    if not matchup.seated or not matchup.seated[0].traits.exact or matchup.seated[0].traits.searches:
        return []
    bound = [item for one in found for item in _bound(one, kind)]
    views = [view for _, one in bound for view in (one.seen, one.unheard)]
    try:
        mixes: Sequence[Stated] = stated_policies(matchup.seated[0], views) if views else []
    except CannotCompute:
        return []
    pairs = zip(mixes[::2], mixes[1::2], strict=True)
    return [CommittedDecision(episode, one, *mix) for (episode, one), mix in zip(bound, pairs, strict=True)]


def _bound(spoken: SpokenEpisode, kind: Kind) -> Iterator[tuple[Episode, Bound]]:
    episode, ledger, agent = spoken
    for bound in ledger.promises if kind == "move" else ledger.requests:
        if bound.seat == agent and bound.outcome in ("kept", "broken"):
            yield episode, bound
