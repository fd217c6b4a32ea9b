"""Trials of ShapeLLM: parallel environments of several successive episodes, between which seats are updated.

A seat's memory is reset after a trial; the weights of all seats are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.algorithms.shapellm.metrics import first_log_odds
from stratagem.algorithms.shapellm.seat import Seat, TrialEpisodes, UpdateData
from stratagem.engines.caches import reset_caches
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.play.match import Match, Setup
from stratagem.play.memory import carried
from stratagem.play.records import Episode
from stratagem.training.stage import Batch
from stratagem.workers.shards import played


@dataclass(frozen=True)
class Trials:
    """Trials of a run; a trial follows from its number and the seats' policies."""

    game: Game[Any]
    seats: Mapping[str, Seat]
    """Seats by name, in the order of the game's seats."""
    environments: int
    episodes: int
    key: Key

    def batches(self, number: int) -> Iterator[Batch]:
        """Play a trial; yield a batch of episodes after each, and one for each seat with an update due."""
        reset_caches()
        key = self.key.at("trial", number)
        match = Match(self.game, [seat.player for seat in self.seats.values()])
        trial: list[list[Episode]] = []
        for index in range(self.episodes):
            trial.append(played(self._setups(match, trial, key, number)))
            yield Batch(trial[-1])
            due = [(slot, name) for slot, (name, seat) in enumerate(self.seats.items()) if _is_due(seat, index)]
            log_odds = self._log_odds([name for _, name in due])
            for slot, name in due:
                since = trial[-self.seats[name].every :]
                played_before = number * self.episodes + len(trial) - len(since)
                data = UpdateData(since, slot, key.at("learn", slot, index), log_odds, played_before, number)
                yield Batch(policy=name, data=data)

    def _log_odds(self, learners: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return the policies of all seats before the first of these learners is updated, if one needs them."""
        if not any(self.seats[name].needs_policies for name in learners):
            return ()
        return tuple(first_log_odds(self.game, slot, seat) for slot, seat in enumerate(self.seats.values()))

    def _setups(self, match: Match, trial: TrialEpisodes, key: Key, number: int) -> Iterator[Setup]:
        """Yield the setup of the next episode in every environment, with each seat's memory."""
        index = len(trial)
        for environment in range(self.environments):
            earlier = [episodes[environment] for episodes in trial]
            yield Setup(
                id=f"trial-{number}/{environment}.{index}",
                match=match,
                slots=tuple(range(len(self.seats))),
                key=key.at("episode", environment, index),
                purpose="train",
                group=f"trial-{number}/{environment}",
                pasts=tuple(carried(seat.memory, earlier, slot) for slot, seat in enumerate(self.seats.values())),
            )


def _is_due(seat: Seat, index: int) -> bool:
    """Return whether a seat is updated after this episode of the trial."""
    return bool(seat.every) and not (index + 1) % seat.every
