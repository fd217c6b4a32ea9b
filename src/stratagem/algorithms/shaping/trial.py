"""A trial: several environments side by side, each of several episodes, between which those whose clock says so learn.

What a seat remembers of a trial ends with it; what it has learnt does not, and neither does the others'.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.algorithms.shaping.seat import Seat
from stratagem.engines.renewal import renew
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.play.match import Match, Setup
from stratagem.play.memory import carried
from stratagem.play.records import Episode
from stratagem.play.scheduler import played


@dataclass(frozen=True)
class Trial:
    """What happened in one."""

    stages: Sequence[Sequence[Episode]]
    """By episode, in the order of time, all environments."""
    learnt: Mapping[str, float]
    """What each seat told of its learning, the mean over its updates, by seat and name."""

    @property
    def episodes(self) -> list[Episode]:
        """All of them."""
        return [episode for stage in self.stages for episode in stage]


@dataclass(frozen=True)
class Trials:
    """What all trials of a run have in common."""

    game: Game[Any]
    seats: Mapping[str, Seat]
    """By name, in the order of the game's seats."""
    environments: int
    episodes: int
    key: Key

    def run(self, number: int) -> Trial:
        """Play a trial, and let everybody learn in it; the same number and learners play the same trial."""
        renew()
        key = self.key.at("trial", number)
        match = Match(self.game, [seat.player for seat in self.seats.values()])
        stages: list[list[Episode]] = []
        told: dict[str, list[float]] = defaultdict(list)
        for stage in range(self.episodes):
            stages.append(played(self._setups(match, stages, key, number)))
            for slot, (name, seat) in enumerate(self.seats.items()):
                if seat.every and not (stage + 1) % seat.every:
                    figures = seat.learn(stages[-seat.every :], slot, key.at("learn", slot, stage))
                    for figure, value in figures.items():
                        told[f"{name}/{figure}"].append(value)
        return Trial(stages, {name: math.fsum(values) / len(values) for name, values in told.items()})

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
