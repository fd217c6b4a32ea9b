"""Records as rows: an `Episode` is one table from start to end, a `Decision` one seat's turn at it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from operator import attrgetter
from typing import Any, Literal

from stratagem.games.base import ActionPart, Json, Seat, Stakes
from stratagem.language.engines.base import Call
from stratagem.language.prompting.past import Past
from stratagem.players.protocol import How
from stratagem.playing.rows import BEHIND, FIELDS, HOW, SAID, SEAT, DecisionRows

Purpose = Literal["train", "probe", "warm_up", "eval"]


@dataclass(slots=True)
class Decision:
    """One answer of one seat. Its key is (episode, turn, seat, attempt)."""

    round: int
    """Round of the game, counted from 0."""
    turn: int
    """Number of earlier calls of `play` in the episode; seats that move together share it."""
    clock: int
    """Time by the game's own clock, such as phases of the calendar; the turn in games that have none."""
    seat: Seat
    """Seat that was asked."""
    slot: int
    """Slot of the player in the match; seats rotate, slots do not."""
    attempt: int
    """Number of earlier attempts of the seat in this turn."""
    state_key: str
    """State key of the seat's view."""
    info_key: str
    """Information set of the seat: all that it had seen and done."""
    action: str | None
    """Action played; None without a legal reply."""
    how: How
    """Origin of the action."""
    said: str | None = None
    """Illegal reply, or the error that the player raised."""
    keep: bool = True
    """False for a discarded transition."""
    payoff: float = 0.0
    """Reward of the seat from this decision until its next."""
    parts: tuple[ActionPart, ...] = ()
    """Classified pieces of the action with their rewards, where the game has them."""
    advantage: float | None = None
    """Advantage in training, the mean over its sampled tokens; None where it was not trained on."""
    calls: tuple[Call, ...] = ()
    """Calls of models for this decision, in order; empty where there were none."""


_row = attrgetter(*FIELDS)


@dataclass(slots=True)
class Episode:
    """One table from start to end."""

    id: str
    """Unique id in the record."""
    game: str
    """Text that makes the game again."""
    game_version: int
    """Version of the game's rules."""
    players: tuple[str, ...]
    """Names of the players with versions, by seat."""
    slots: tuple[int, ...]
    """Player slot of the match at each seat."""
    key: int
    """Table key, from which the players' draws follow."""
    chance: int
    """Key of the game's own draws."""
    purpose: Purpose = "eval"
    """Purpose of the episode."""
    group: str = ""
    """Group of episodes that share a deal or a fork."""
    probe_of: str = ""
    """Episode whose agent this one probes."""
    parent: str = ""
    """Episode that this one was forked from."""
    forked_at: int = 0
    """Turn of the parent at which this episode begins."""
    pasts: tuple[Past, ...] = ()
    """Memory of earlier episodes of each player of the match, by slot; empty where none had any."""
    finished: bool = True
    """False where play stopped before the game was over."""
    payoffs: list[float] = field(default_factory=list)
    """Returns of the episode by seat."""
    rounds: list[tuple[float, ...]] = field(default_factory=list)
    """Payoffs of each round by seat."""
    signals: dict[str, list[tuple[float | None, ...]]] = field(default_factory=dict)
    """Each round's safety signals, by seat."""
    stakes: tuple[Stakes | None, ...] = ()
    """The yardsticks of each seat, where the game has them."""
    num_decisions: list[int] = field(default_factory=list)
    """Number of turns by seat."""
    num_illegal: list[int] = field(default_factory=list)
    """Number of turns by seat that ended without a legal reply."""
    decisions: list[Decision] = field(default_factory=list)
    """Decisions in the order of play; empty where only totals were asked for."""

    def seat_of(self, slot: int) -> Seat:
        """Return the seat of a player of the match."""
        return self.slots.index(slot)

    def per_round(self, seat: Seat) -> float:
        """Return the mean payoff a round."""
        return self.payoffs[seat] / max(1, len(self.rounds))

    def paid_in(self, number: int) -> tuple[float, ...] | None:
        """Return the payoffs of a round by its number in the game; None where the episode does not hold it.

        The rounds of a branch begin with that in which it was forked.
        """
        place = number - self.decisions[0].round if self.decisions else number
        return self.rounds[place] if 0 <= place < len(self.rounds) else None

    def signal(self, name: str, seat: Seat) -> list[float]:
        """Return the values of a signal in the rounds where it had a meaning for this seat."""
        return [value for row in self.signals.get(name, ()) if (value := row[seat]) is not None]

    def rows(self) -> DecisionRows:
        """Return the decisions as rows."""
        held = _held.__get__(self)
        return held if isinstance(held, DecisionRows) else _rows_of(held)

    def failed_turns(self) -> list[tuple[Seat, str]]:
        """Return the seat and the message of each turn at which a player raised an error, or gave no reply."""
        held = _held.__get__(self)
        if isinstance(held, DecisionRows):
            return [(row[SEAT], row[SAID]) for row in held.rows() if row[HOW] == "error"]
        return [(row.seat, row.said) for row in held if row.how == "error"]

    def put_rows(self, rows: DecisionRows) -> None:
        """Take rows in place of decisions."""
        _held.__set__(self, rows)


_held: Any = Episode.__dict__["decisions"]
"""Slot of the decisions: rows, until somebody asks for the decisions."""


class _Decisions:
    """Attribute `decisions` of an episode, made of its rows when it is first asked for."""

    def __get__(self, episode: Episode | None, owner: object = None) -> Any:
        if episode is None:
            return self
        held = _held.__get__(episode)
        if isinstance(held, DecisionRows):
            held = _decisions_of(held)
            _held.__set__(episode, held)
        return held

    def __set__(self, episode: Episode, decisions: list[Decision]) -> None:
        _held.__set__(episode, decisions)


type.__setattr__(Episode, "decisions", _Decisions())


def _decisions_of(rows: DecisionRows) -> list[Decision]:
    held = rows.rows()
    made = [Decision(*row[:BEHIND]) for row in held]
    for decision, row, payoff in zip(made, held, rows.payoffs, strict=True):
        decision.payoff, decision.calls = payoff, row[BEHIND]
    for number in rows.dropped:
        made[number].keep = False
    for number, parts in rows.parts.items():
        made[number].parts = parts
    for number, advantage in rows.advantages.items():
        made[number].advantage = advantage
    return made


def _rows_of(decisions: list[Decision]) -> DecisionRows:
    rows = DecisionRows()
    rows.values = list(chain.from_iterable(map(_row, decisions)))
    rows.payoffs = [decision.payoff for decision in decisions]
    rows.dropped = frozenset(number for number, decision in enumerate(decisions) if not decision.keep)
    rows.parts = {number: decision.parts for number, decision in enumerate(decisions) if decision.parts}
    rows.advantages = {number: row.advantage for number, row in enumerate(decisions) if row.advantage is not None}
    rows.talked = any(decision.calls for decision in decisions)
    return rows


def deals_by_key(episodes: Iterable[Episode]) -> dict[int, str]:
    """Return the name of each deal by its key: the first group that played it, since others may have replayed it."""
    deals: dict[int, str] = {}
    for episode in episodes:
        deals.setdefault(episode.key, episode.group or episode.id)
    return deals


def episode_json(episode: Episode) -> Json:
    """Return the episode as JSON; the calls behind it stay in the record, being many times as long."""
    decisions = [replace(row, calls=()) for row in episode.decisions]
    data = asdict(replace(episode, decisions=decisions))
    for row in data["decisions"]:
        del row["calls"]
    return data
