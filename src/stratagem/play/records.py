"""What happened, as rows: an `Episode` is one table from start to end, a `Decision` one seat's turn at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from stratagem.engines.base import Call
from stratagem.games.base import Part, Seat, Stakes
from stratagem.players.base import How
from stratagem.prompting.past import Past

Purpose = Literal["train", "probe", "warm_up", "eval"]


@dataclass(slots=True)
class Decision:
    """One answer of one seat. Its key is (episode, turn, seat, attempt)."""

    round: int
    """Which round of the game, counted from 0."""
    turn: int
    """Counts the calls of `play` in the episode; seats that move together share it."""
    clock: int
    """How late it was by the game's own clock, such as phases of the calendar; the turn in games that have none."""
    seat: Seat
    """Who was asked."""
    slot: int
    """Which of the match's players it was; seats rotate, slots do not."""
    attempt: int
    """0, or how often the seat had been asked before in this turn."""
    state_key: str
    """What matters for the future, as this seat saw it."""
    info_key: str
    """All that this seat had seen and done: its information set."""
    action: str | None
    """What was played; None where nothing legal was said."""
    how: How
    """How the action came about."""
    said: str | None = None
    """The reply that was not legal, or the error that the player raised."""
    keep: bool = True
    """False for a discarded transition."""
    payoff: float = 0.0
    """All that the seat was paid from this decision until its next."""
    parts: tuple[Part, ...] = ()
    """Classified pieces of the action with their rewards, where the game has them."""
    calls: tuple[Call, ...] = ()
    """What models were asked on the way and replied, in order; empty where none was."""


@dataclass(slots=True)
class Episode:
    """One table from start to end."""

    id: str
    """Unlike that of every other episode of the record."""
    game: str
    """The text that makes the game again."""
    game_version: int
    """The version of its rules."""
    players: tuple[str, ...]
    """Names with versions, by seat."""
    slots: tuple[int, ...]
    """Which player of the match sat at each seat."""
    key: int
    """The table key, from which the players' dice follow."""
    chance: int
    """The key of the game's own draws."""
    purpose: Purpose = "eval"
    """What the episode was played for."""
    group: str = ""
    """Episodes of one group share a deal or a fork."""
    probe_of: str = ""
    """The episode whose hero this one probes."""
    parent: str = ""
    """The episode that this one was forked from."""
    forked_at: int = 0
    """The turn of the parent at which this episode begins."""
    pasts: tuple[Past, ...] = ()
    """What each player of the match, by slot, carried over from earlier episodes; empty where none did."""
    finished: bool = True
    """False where play stopped before the game was over."""
    payoffs: list[float] = field(default_factory=list)
    """What the episode paid, by seat."""
    rounds: list[tuple[float, ...]] = field(default_factory=list)
    """What each round paid, by seat."""
    signals: dict[str, list[tuple[float | None, ...]]] = field(default_factory=dict)
    """Each round's safety signals, by seat."""
    stakes: tuple[Stakes | None, ...] = ()
    """The yardsticks of each seat, where the game has them."""
    num_decisions: list[int] = field(default_factory=list)
    """Turns by seat."""
    num_illegal: list[int] = field(default_factory=list)
    """Turns, by seat, that ended without anything legal said."""
    decisions: list[Decision] = field(default_factory=list)
    """In the order of play; empty where only totals were asked for."""

    def seat_of(self, slot: int) -> Seat:
        """Where a player of the match sat."""
        return self.slots.index(slot)

    def per_round(self, seat: Seat) -> float:
        """The mean payoff a round."""
        return self.payoffs[seat] / max(1, len(self.rounds))

    def signal(self, name: str, seat: Seat) -> list[float]:
        """The values of a signal in the rounds where it had a meaning for this seat."""
        return [value for row in self.signals.get(name, ()) if (value := row[seat]) is not None]
