"""Groups of rollouts that branch from one state, and the distribution of the players whom the agent meets in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stratagem.games import Key
from stratagem.games.base import Seat
from stratagem.players.base import Player
from stratagem.playing.match import Setup
from stratagem.playing.records import Episode


class Lineup(NamedTuple):
    """Players of the other seats."""

    names: tuple[str, ...]
    players: tuple[Player, ...]
    self_play: bool = False
    """True if they are the agent itself, so that all seats are trained."""


class Opponents:
    """Distribution of the agent's opponents; a subclass defines `draw`."""

    def begin(self, iteration: int) -> None:
        """Prepare the draws of an iteration."""

    def draw(self, key: Key) -> Lineup:
        """Draw a player for every other seat."""
        raise NotImplementedError

    def book(self, groups: Sequence[Group], setups: Iterable[Setup], episodes: Sequence[Episode]) -> None:
        """Take the results of the groups; each has the same number of episodes."""

    def state(self) -> dict[str, Any]:
        """All that later draws depend on, beside the iteration and the key."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""


@dataclass(frozen=True)
class Group:
    """Branching state of a group of rollouts, and the players of the rollouts."""

    parent: Episode
    turn: int
    slots: tuple[int, ...]
    lineup: Lineup
    key: Key

    @property
    def seat(self) -> Seat:
        """Seat of the agent."""
        return self.slots.index(0)
