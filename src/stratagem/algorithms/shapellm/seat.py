"""Seat of a trial: its player, its memory, and its update after some episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from stratagem.games.key import Key
from stratagem.play.records import Decision, Episode
from stratagem.players.base import Player
from stratagem.training.stage import Metrics
from stratagem.training.subject import Subject

TrialEpisodes = Sequence[Sequence[Episode]]
"""Episodes by position in the trial, and then by environment."""


class UpdateData(NamedTuple):
    """Episodes since the last update of a seat."""

    episodes: TrialEpisodes
    slot: int
    key: Key
    log_odds: tuple[tuple[float, ...], ...] = ()
    """Log-odds of each seat's first action, in the first round and after each joint action, as they were played; only
    for seats that need them."""
    episodes_before: int | None = None
    """Number of episodes of the run before these, in each environment."""
    trials_before: int | None = None
    """Number of trials of the run before the one of these."""


class Seat:
    """Player and memory of a seat; this class is never updated."""

    needs_policies: ClassVar[bool] = False
    """True if it learns from the policies of all seats."""

    def __init__(self, player: Player, memory: str = "none", every: int = 0) -> None:
        """`every` is the number of episodes between updates; 0 is never."""
        self.player = player
        self.memory = memory
        self.every = every

    def update(self, data: UpdateData) -> Metrics:
        """Learn from the episodes since the last update."""
        return {}

    def findings(self) -> Mapping[str, Any]:
        """Findings of its training monitor, by check."""
        return {}

    def reading(self) -> Mapping[str, str]:
        """Sentence by component: whether its model shares prefixes of texts, and why."""
        return {}

    @property
    def subject(self) -> Subject | None:
        """Its engine and model, which are compared before it is trained."""
        return None

    def state(self) -> dict[str, Any]:
        """All that later play depends on, except weights."""
        return {}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        """Continue from a state and the weights in the folder of its checkpoint."""

    def write(self, folder: Path) -> None:
        """Write the weights into the folder of a checkpoint."""


@dataclass(frozen=True)
class Transition:
    """A decision of a seat with its reward."""

    trajectory: int
    """Number of the trajectory over which returns are summed: the episodes of one environment since the last update."""
    turn: tuple[int, int]
    """Position of the episode in the trial, and turn of the decision in it."""
    decision: Decision
    reward: float
    episode: Episode


def transitions_of(trial: TrialEpisodes, slot: int, *, shared: bool = False) -> list[Transition]:
    """Return the transitions of one seat, by episode and then by environment; discarded decisions are left out.

    With `shared`, the reward of a decision is the sum of all seats' payoffs until the seat's next decision.
    """
    return [
        Transition(environment, (number, row.turn), row, reward, episode)
        for number, episodes in enumerate(trial)
        for environment, episode in enumerate(episodes)
        for row, reward in _rewards(episode, slot, shared=shared)
        if row.keep
    ]


def merge_rewards(transitions: Sequence[Transition], is_trained: Callable[[Transition], bool]) -> list[Transition]:
    """Return the transitions that are trained on; the reward of another one is added to the trained one before it.

    Where no trained transition comes before it in its trajectory, its reward is added to the first.
    """
    trained = [is_trained(transition) for transition in transitions]
    target = {t.trajectory: index for index, t in reversed(list(enumerate(transitions))) if trained[index]}
    rewards = [t.reward if trained[index] else 0.0 for index, t in enumerate(transitions)]
    for index, transition in enumerate(transitions):
        if trained[index]:
            target[transition.trajectory] = index
        elif transition.trajectory in target:
            rewards[target[transition.trajectory]] += transition.reward
    return [replace(t, reward=rewards[index]) for index, t in enumerate(transitions) if trained[index]]


def _rewards(episode: Episode, slot: int, *, shared: bool) -> list[tuple[Decision, float]]:
    """Return a seat's decisions with their rewards; of several attempts at one turn, the last was played."""
    seat = episode.seat_of(slot)
    rows = list({row.turn: row for row in episode.decisions if row.seat == seat}.values())
    if not shared:
        return [(row, row.payoff) for row in rows]
    ends = [row.round for row in rows[1:]] + [len(episode.rounds)]
    sums = [sum(payoffs) for payoffs in episode.rounds]
    return [(row, sum(sums[row.round : end])) for row, end in zip(rows, ends, strict=True)]
