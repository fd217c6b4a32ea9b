"""Trials as a stage: environments side by side, each of several episodes, between which those whose turn it is learn.

A seat's memory of a trial ends with it; what it has learnt does not, and neither does what the others have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.algorithms.shapellm.seat import Play, Seat
from stratagem.engines.caches import reset_caches
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.play.match import Match, Setup
from stratagem.play.memory import carried
from stratagem.play.records import Episode
from stratagem.play.scheduler import played
from stratagem.training.stage import Batch


@dataclass(frozen=True)
class Trials:
    """The trials of a run; the same number and learners play the same trial."""

    game: Game[Any]
    seats: Mapping[str, Seat]
    """By name, in the order of the game's seats."""
    environments: int
    episodes: int
    key: Key

    def batches(self, number: int) -> Iterator[Batch]:
        """Play a trial: after each episode a batch of what was played, and one for each seat whose turn it is."""
        reset_caches()
        key = self.key.at("trial", number)
        match = Match(self.game, [seat.player for seat in self.seats.values()])
        stages: list[list[Episode]] = []
        for stage in range(self.episodes):
            stages.append(played(self._setups(match, stages, key, number)))
            yield Batch(stages[-1])
            for slot, (name, seat) in enumerate(self.seats.items()):
                if seat.every and not (stage + 1) % seat.every:
                    yield Batch(policy=name, data=Play(stages[-seat.every :], slot, key.at("learn", slot, stage)))

    def _setups(self, match: Match, stages: Sequence[Sequence[Episode]], key: Key, number: int) -> Iterator[Setup]:
        """The next episode of every environment, with what each seat carries over."""
        stage = len(stages)
        for environment in range(self.environments):
            earlier = [episodes[environment] for episodes in stages]
            yield Setup(
                id=f"trial-{number}/{environment}.{stage}",
                match=match,
                slots=tuple(range(len(self.seats))),
                key=key.at("episode", environment, stage),
                purpose="train",
                group=f"trial-{number}/{environment}",
                pasts=tuple(carried(seat.memory, earlier, slot) for slot, seat in enumerate(self.seats.values())),
            )
