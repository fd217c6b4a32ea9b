"""Probe of an audit: declared data, a test whether it applies, and one method that measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from stratagem.base.errors import StratagemError
from stratagem.games.base import Game, Json
from stratagem.games.drawn.distribution import GameDistribution
from stratagem.games.key import Key
from stratagem.language.engines.remote.terms import FEW
from stratagem.measure.audit.measurement import Measurement
from stratagem.measure.exploiters.written import ListExploiter
from stratagem.measure.figures.audits import audit_figure
from stratagem.measure.report import unit_in
from stratagem.measure.resumable import ResumableRecord, is_unanswered
from stratagem.measure.sampled.tally import ReplyTally
from stratagem.measure.statistics import Estimate
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player, patterns
from stratagem.playing.dispatch import RequestQueue
from stratagem.playing.match import Match
from stratagem.playing.records import Decision, Episode
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats


class StrategyLine(NamedTuple):
    """Move of a strategy that exploits the agent, in words."""

    seat: int
    situation: str
    action: str


class ProbeFindings(NamedTuple):
    """Figures of a probe, and the strategy that exploits the agent where it found one."""

    figures: Sequence[Measurement]
    strategy: Sequence[StrategyLine] = ()
    gain: Estimate | None = None
    """Gain of a best response to all replies, biased upwards, with its standard error; None where it was not found."""
    tally: ReplyTally | None = None
    """Replies to all situations, where they were asked about."""
    won: Sequence[Episode] = ()
    """Episodes of an exploiter, as slot 0, against the agent."""
    exploiter: ListExploiter | None = None
    """Short list of rules that exploits the agent, where one was fitted."""
    strategy_in: str = ""
    """Game of the strategy, where the probe asks in several."""
    games: Sequence[Json] = ()
    """Figures by game, where the probe asks in several."""


@dataclass(frozen=True)
class Task:
    """Agent in one game, with the number of its decisions that may be asked for."""

    text: str
    """Name of the game."""
    game: Game[Any]
    agent: Player
    key: Key
    decisions: int
    record: ResumableRecord
    queue: Callable[[], RequestQueue]
    draws: GameDistribution | None = None
    """Drawn games of which the game is the first; None where it is the only one."""
    given: str | Player = ""
    """Agent as it was named, which is made for each game."""

    def agent_in(self, game: Game[Any]) -> Player:
        """Return the agent as it is made for another game."""
        return make_player(self.given, game)

    def name(self, quantity: str) -> str:
        """Return the name of a figure."""
        return f"{self.text}.{quantity}"

    def unit(self, quantity: str) -> str:
        """Return the unit of a figure of the catalogue in this game."""
        return unit_in(self.game, audit_figure(quantity))

    @cached_property
    def decisions_an_episode(self) -> float:
        """Mean number of decisions of one seat in an episode of random play."""
        return decisions_an_episode(self.game)


@runtime_checkable
class Probe(Protocol):
    """Measurement of an agent in one game."""

    name: ClassVar[str]
    share: ClassVar[float]
    """Share of a game's decisions that it asks for, whatever other probes there are.

    So a further probe moves no figure. Those of ours that apply together sum to 1; in games with talk, to 1.4.
    """
    quantities: ClassVar[Mapping[str, str]]
    """Group of figures by quantity, without the name of the game."""

    def why_not(self, task: Task) -> str:
        """Return the reason why it does not apply; empty where it does."""
        ...

    def measure(self, task: Task) -> ProbeFindings:
        """Ask the agent, and return the figures."""
        ...


@runtime_checkable
class LaterProbe(Probe, Protocol):
    """Probe that builds on what earlier probes of the game found."""

    def measure_after(self, task: Task, earlier: Sequence[ProbeFindings]) -> ProbeFindings:
        """Ask the agent where more is needed, and return the figures."""
        ...


FIRST = 2
"""Number of questions of a new kind after which an agent that answers none is asked no more."""
assert FIRST < FEW


def why_refused(first: Sequence[Decision]) -> str:
    """Return the reason in words where an agent gave no reply to any of the first questions; else nothing."""
    return f"It gave no reply to {len(first)} such questions: {first[0].said}" if all(map(is_unanswered, first)) else ""


_SAMPLE = 7
STRONGEST = ("perfect", "cfr:1000", "mcts:100")


@lru_cache(maxsize=64)
def strongest(game: Game[Any]) -> Player | None:
    """Return the strongest player at hand; None where there is none, perfect play where the game can be solved."""
    known = patterns(game)
    for name in STRONGEST:
        if name in known:
            try:
                return make_player(name, game)
            except StratagemError:  # the game is too large for it
                continue
    return None


@lru_cache(maxsize=64)
def decisions_an_episode(game: Game[Any]) -> float:
    """Return the mean number of decisions of one seat, over some episodes of random play; each probe asks again."""
    random = make_player("random", game)
    match = Match(game, [random] * game.spec.seats)
    episodes = list(
        play(rotate_seats(match, _SAMPLE * game.spec.seats, Key(0).at("length"), name="length"), detail=False)
    )
    return max(1.0, sum(map(sum, (e.num_decisions for e in episodes))) / len(episodes) / game.spec.seats)
