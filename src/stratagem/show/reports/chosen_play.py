"""Episodes to show: against the first and the last opponent of each game, from the first and the last shard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.playing.records import Episode
from stratagem.playing.store import read_episodes, shards
from stratagem.show.reports.run_data import RunData

AGENT = 0
"""Slot of the agent: the learner is the first player of its matches."""


class RecordedEpisode(NamedTuple):
    """Episode and the number of its shard."""

    shard: int
    episode: Episode


class EpisodePair(NamedTuple):
    """Two episodes of one opponent and seat, at the start and at the end; the second is None in a run of one shard."""

    start: RecordedEpisode
    end: RecordedEpisode | None


def opponents_of(episode: Episode) -> tuple[str, ...]:
    """Return the agent's opponents, without versions."""
    seat = episode.seat_of(AGENT)
    return tuple(name.rpartition("@")[0] or name for index, name in enumerate(episode.players) if index != seat)


def chosen_play(data: RunData) -> list[EpisodePair]:
    """Choose a pair for each opponent to show; nothing without a readable record."""
    try:
        numbers = shards(data.run.record)
        if not numbers:
            return []
        early = list(read_episodes(data.run.record, numbers[:1]))
        late = list(read_episodes(data.run.record, numbers[-1:])) if len(numbers) > 1 else []
    except StratagemError as error:
        data.broken["record"] = str(error)
        return []
    return [_pair(numbers[0], episode, numbers[-1], _alike(episode, late)) for episode in _choose_episodes(early)]


def _pair(first: int, start: Episode, last: int, end: Episode | None) -> EpisodePair:
    return EpisodePair(RecordedEpisode(first, start), None if end is None else RecordedEpisode(last, end))


def _choose_episodes(episodes: Sequence[Episode]) -> list[Episode]:
    """Choose the first episode of each game against its first and its last opponent."""
    games: dict[str, dict[tuple[str, ...], Episode]] = {}
    for episode in episodes:
        if AGENT in episode.slots:
            games.setdefault(episode.game, {}).setdefault(opponents_of(episode), episode)
    return [episode for by_opponents in games.values() for episode in _ends(list(by_opponents.values()))]


def _ends(episodes: list[Episode]) -> list[Episode]:
    return episodes if len(episodes) < 2 else [episodes[0], episodes[-1]]


def _alike(episode: Episode, others: Sequence[Episode]) -> Episode | None:
    """Find the first episode of the same game and seat against the same opponents."""
    same = [other for other in others if other.game == episode.game and other.slots == episode.slots]
    return next((other for other in same if opponents_of(other) == opponents_of(episode)), None)
