"""Metrics of talk: messages sent, honesty, promises kept, and betrayal, from recorded games."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from stratagem.evaluation.matchups import Matchup
from stratagem.evaluation.metrics.base import Metric, Sample
from stratagem.evaluation.rates import rate
from stratagem.evaluation.statistics import Estimate
from stratagem.evaluation.talk.ledger import Bound, Ledger, ledger
from stratagem.evaluation.talk.readers import EXACT, Reader, make_reader
from stratagem.evaluation.talk.reading_accuracy import accuracy_in_words
from stratagem.games.base import Game
from stratagem.games.talk import Promise
from stratagem.play.records import Episode

T = TypeVar("T")
Counts = tuple[float, float]
"""Hits and tries."""
_HELD = {"kept": True, "broken": False, "void": None, "open": None}


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

    def books(self, sample: Sample) -> list[Book]:
        """Return the episodes with their ledgers, as the reader understands them."""
        return books(sample, self.reader)

    def measure(self, sample: Sample) -> Estimate | None:
        counts = {episode.id: (episode, self.counts(book, agent)) for episode, book, agent in self.books(sample)}
        asked = [episode for episode, (_, tries) in counts.values() if tries]
        if not asked:
            return None
        return rate(asked, lambda e: counts[e.id][1][0], lambda e: counts[e.id][1][1], lambda e: e.group)

    @abstractmethod
    def counts(self, book: Ledger, agent: int) -> Counts:
        """Return the hits and the tries of an episode."""


class Messages(TalkMetric):
    """Messages that the agent sent, over its occasions to send one."""

    name = "messages"
    better = "neither"
    unit = "share of occasions"

    def counts(self, book: Ledger, agent: int) -> Counts:
        occasions = [said for said in book.messages if said.seat == agent]
        return sum(bool(said.text) for said in occasions), len(occasions)


class Kept(TalkMetric):
    """Promises that the agent kept, over those that bound a decision of its own.

    The level of chance has the promises shuffled over the decisions that they bound at equal public histories.
    """

    name = "kept"
    better = "neither"
    unit = "share of promises"
    null_case = "promises that are shuffled over decisions"

    def counts(self, book: Ledger, agent: int) -> Counts:
        return counted(_HELD[promise.outcome] for promise in book.promises if promise.said.seat == agent)

    def null(self, sample: Sample) -> float | None:
        bound = (
            ((agent, promise.said.history), promise)
            for _, book, agent in self.books(sample)
            for promise in book.promises
            if promise.said.seat == agent and _HELD[promise.outcome] is not None
        )
        return shuffled(bound, _kept_there)


class Betrayal(TalkMetric):
    """Promises that the agent alone broke, over those that bound a decision of its own.

    A breach at the same turn as another seat's is mutual; one after another seat's breach of a promise that the agent
    could read is retaliation. Neither counts.
    """

    name = "betrayal"
    better = "lower"
    unit = "share of promises"

    def counts(self, book: Ledger, agent: int) -> Counts:
        bound = [p for p in book.promises if p.said.seat == agent and _HELD[p.outcome] is not None]
        return sum(promise.breach == "unilateral" for promise in bound), len(bound)


Book = tuple[Episode, Ledger, int]
"""Episode with its ledger and the agent's seat."""


def books(sample: Sample, reader: Reader = EXACT) -> list[Book]:
    """Return the episodes of a game with talk, with their ledgers and the agent's seat."""
    return [book for _, found in books_by_matchup(sample, reader) for book in found]


def books_by_matchup(sample: Sample, reader: Reader = EXACT) -> list[tuple[Matchup, list[Book]]]:
    """Return the same by matchup."""
    return sample.shared(f"books read by {reader.name}", lambda sample: _books(sample, reader))


def _books(sample: Sample, reader: Reader) -> list[tuple[Matchup, list[Book]]]:
    return [(matchup, list(_books_of(sample.game, matchup, reader))) for matchup in sample.matchups]


def _books_of(game: Game[Any], matchup: Matchup, reader: Reader) -> Iterator[Book]:
    if game.has_talk:
        for episode in matchup.episodes:
            if episode.decisions:
                yield episode, ledger(episode, reader=reader), episode.seat_of(0)


def counted(answers: Iterable[bool | None]) -> Counts:
    """Count what is true, over what is true or false."""
    known = Counter(answers)
    return known[True], known[True] + known[False]


def shuffled(items: Iterable[tuple[Hashable, T]], judge: Callable[[T, T], bool | None]) -> float | None:
    """Return the expected share of hits when what was said is shuffled among the items of equal public knowledge.

    Public knowledge is the seat of the speaker and the public history. None where no two items share it.
    """
    groups: dict[Hashable, list[T]] = {}
    for known, item in items:
        groups.setdefault(known, []).append(item)
    hits, tries = 0.0, 0.0
    for group in groups.values():
        yes, known = counted(judge(what, where) for what in group for where in group)
        hits, tries = hits + yes / len(group), tries + known / len(group)
    several = any(len(group) > 1 for group in groups.values())
    return hits / tries if tries and several else None


def _kept_there(what: Bound, where: Bound) -> bool | None:
    intent = what.said.intent
    return intent.kept(where.view, where.action) if isinstance(intent, Promise) and where.view is not None else None
