"""A seat of a trial: its player, its memory, and its update after some episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.games.key import Key
from stratagem.play.records import Decision, Episode
from stratagem.players.base import Player
from stratagem.training.stage import Metrics

Stages = Sequence[Sequence[Episode]]
"""Episodes in the order of time, each in all environments."""


class Play(NamedTuple):
    """The episodes since the last update of a seat."""

    stages: Stages
    slot: int
    key: Key


class Seat:
    """A seat's player and memory; this one plays, and is never updated."""

    def __init__(self, player: Player, memory: str = "none", every: int = 0) -> None:
        """It is updated after `every` so many episodes; 0: never."""
        self.player = player
        self.memory = memory
        self.every = every

    def update(self, data: Play) -> Metrics:
        """Learn from the episodes since the last update."""
        return {}

    def findings(self) -> Mapping[str, Any]:
        """Findings of its training monitor, by check."""
        return {}

    def state(self) -> dict[str, Any]:
        """All that later play depends on, except weights."""
        return {}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Continue from a state and the weights in the folder of its checkpoint."""

    def write(self, folder: Path) -> None:
        """Write the weights into the folder of a checkpoint."""


@dataclass(frozen=True)
class Lesson:
    """A decision that is learnt from, with what it brought; discarded ones are no lessons."""

    episode: int
    """Over which an action is credited: all episodes of one environment that are learnt from together."""
    turn: tuple[int, int]
    """The episode in the order of time, and the decision's turn in it."""
    decision: Decision
    reward: float
    played: Episode


def lessons(stages: Stages, slot: int, *, shared: bool = False) -> list[Lesson]:
    """The lessons of one seat: episode after episode, and in each one environment after the other.

    `shared`: it is paid what all seats are paid together, for what they were paid from this decision until its next.
    """
    return [
        Lesson(environment, (stage, row.turn), row, reward, episode)
        for stage, episodes in enumerate(stages)
        for environment, episode in enumerate(episodes)
        for row, reward in _paid(episode, slot, shared=shared)
        if row.keep
    ]


def taught_by(found: Sequence[Lesson], teaches: Callable[[Lesson], bool]) -> list[Lesson]:
    """Those that teach; what others brought counts for the one before them, or for the first where none is before."""
    teach = [teaches(one) for one in found]
    at = {one.episode: place for place, one in reversed(list(enumerate(found))) if teach[place]}
    rewards = [one.reward if teach[place] else 0.0 for place, one in enumerate(found)]
    for place, one in enumerate(found):
        if teach[place]:
            at[one.episode] = place
        elif one.episode in at:
            rewards[at[one.episode]] += one.reward
    return [replace(one, reward=rewards[place]) for place, one in enumerate(found) if teach[place]]


def _paid(episode: Episode, slot: int, *, shared: bool) -> list[tuple[Decision, float]]:
    """A seat's decisions with what each brought; of several attempts at one turn the last was played."""
    seat = episode.seat_of(slot)
    rows = list({row.turn: row for row in episode.decisions if row.seat == seat}.values())
    if not shared:
        return [(row, row.payoff) for row in rows]
    ends = [row.round for row in rows[1:]] + [len(episode.rounds)]
    sums = [sum(paid) for paid in episode.rounds]
    return [(row, sum(sums[row.round : end])) for row, end in zip(rows, ends, strict=True)]
