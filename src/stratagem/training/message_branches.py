"""Branches of episodes at their messages: the same turn with another message in the place of one.

A branch has the keys of its episode. So chance and the other players draw the same, and whatever does not depend on the
message is equal in both. The turn stays: without it, later draws would move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stratagem.base.errors import BadParameter
from stratagem.base.named import NamedObject
from stratagem.games.abilities import silence_at
from stratagem.games.base import Game, Seat, State, View
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.learn.advantages.base import AdvantageEstimator
from stratagem.players.base import Ask, Mix, Move, Player, Turn
from stratagem.players.members import NamesakePlayer
from stratagem.playing.forks import steps
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Decision, Episode
from stratagem.playing.workers.shards import play_setups

Totals = Callable[[Episode, Seat, Decision | None], Mapping[str, float]]
"""Function that sums the reward terms of an episode for a seat, from the round of a decision on; None sums all."""
Played = tuple[Setup, Episode, Collection[int]]
"""Played episode with its setup, and the slots whose messages count."""


@dataclass(frozen=True)
class SaysInstead(NamesakePlayer):
    """Player that says another message at one turn, and plays on as the player that it stands for."""

    player: Player
    at: int
    """Turn of the message."""
    line: str | None
    """Message at this turn; None draws it anew."""
    draw: int = 0
    """Number of the new draw."""

    def turn(self, ask: Ask) -> Turn:
        if ask.turn != self.at:
            return self.player.turn(ask)
        return Move(self.line) if self.line is not None else self.player.turn(ask.within(self.traits, self.draw))

    def policy(self, view: View[Any]) -> Mix:
        return self.player.policy(view)


@dataclass(frozen=True)
class SentMessage:
    """Message of an episode, and the state in which it was sent."""

    setup: Setup
    episode: Episode
    decision: Decision
    state: State[Any]

    @property
    def view(self) -> View[Any]:
        """View of its speaker."""
        return self.state.view(self.decision.seat)

    @property
    def silence(self) -> str:
        """Action that says nothing in its place."""
        return silence_at(self.view) or ""

    def branch(self, name: str, line: str | None, draw: int = 0, **changes: Any) -> Setup:
        """Return the setup of the branch with another message in its place; None draws one."""
        players = list(self.setup.match.players)
        slot, turn = self.decision.slot, self.decision.turn
        speaker = players[slot]
        assert speaker is not None, "an absent player sends no message"
        players[slot] = SaysInstead(speaker, turn, line, draw)
        return replace(
            self.setup,
            id=f"{self.episode.id}~{turn}.{self.decision.seat}.{name}",
            match=Match(self.setup.match.game, players),
            purpose="probe",
            probe_of=self.episode.id,
            group="",
            parent=self.episode.id,
            forked_at=turn,
            **{"state": self.state, "fresh_chance": False, **changes},
        )


def messages_of(setup: Setup, episode: Episode, slots: Collection[int]) -> Iterator[SentMessage]:
    """Yield the messages of some players of an episode."""
    for state, decisions in steps(episode, beginning=setup.begin()):
        for decision in decisions:
            view = state.view(decision.seat)
            if decision.slot in slots and silence_at(view) is not None:
                yield SentMessage(setup, episode, decision, state)


def silence_message(message: SentMessage) -> list[Setup]:
    """Return the branch with silence in the place of a message; none for silence, which is its own branch."""
    return [] if message.decision.action in (None, message.silence) else [message.branch("silent", message.silence)]


def redraw_message(message: SentMessage, alternatives: int) -> list[Setup]:
    """Return the branches with messages that the policy draws anew."""
    return [message.branch(f"other-{number}", None, number + 1) for number in range(alternatives)]


@dataclass(frozen=True)
class MessageBranches:
    """Branches at the messages of some episodes, by what stands in the place of each message."""

    of: Mapping[int, Mapping[str, Sequence[Setup]]]
    """Setups of the branches by column, by the identity of the message's decision; none where it was silence."""
    episodes: Mapping[str, Episode]
    """Played branches by name."""
    names: tuple[str, ...] = ()
    """Columns that were asked for."""

    def columns(self, rows: Sequence[tuple[Episode, Decision]], terms: Sequence[str], total: Totals) -> dict[str, Any]:
        """Return the columns of `Decisions` about messages, of decisions that are rows; none if none was asked for."""
        if not self.names:
            return {}
        found = [self.of.get(id(decision)) for _, decision in rows]
        tables = {name: np.zeros((len(rows), len(terms))) for name in self.names}
        for number, ((episode, decision), own) in enumerate(zip(rows, found, strict=True)):
            for name, setups in (own or {}).items():
                tables[name][number] = self._mean(episode, decision, setups, terms, total)
        by_term = {name: dict(zip(terms, table.T, strict=True)) for name, table in tables.items()}
        return {"message": np.array([own is not None for own in found], dtype=np.bool_), **by_term}

    def _mean(
        self, episode: Episode, decision: Decision, setups: Sequence[Setup], terms: Sequence[str], total: Totals
    ) -> list[float]:
        """Return the mean total of each term over the branches; that of the message itself where it has none."""
        seat = decision.seat
        totals = [total(self.episodes[setup.id], seat, None) for setup in setups] or [total(episode, seat, decision)]
        return [math.fsum(own[term] for own in totals) / len(totals) for term in terms]


NO_BRANCHES = MessageBranches({}, {})


def play_branches(wanted: Collection[str], plays: Iterable[Played], alternatives: int) -> MessageBranches:
    """Play the branches that the columns of an estimator ask for: `silence_message`, `redraw_message`, both or none."""
    make: dict[str, Callable[[SentMessage], list[Setup]]] = {
        "silenced": silence_message,
        "redrawn": lambda message: redraw_message(message, alternatives),
    }
    asked = {name: of for name, of in make.items() if name in wanted}
    if not asked:
        return NO_BRANCHES
    branches = {
        id(message.decision): {name: of(message) for name, of in asked.items()}
        for setup, episode, slots in plays
        for message in messages_of(setup, episode, slots)
    }
    setups = [setup for own in branches.values() for some in own.values() for setup in some]
    return MessageBranches(branches, {episode.id: episode for episode in play_setups(setups)}, tuple(asked))


def check_messages(advantage: NamedObject[AdvantageEstimator], game: Game[Any]) -> None:
    """Refuse an estimator that compares messages in a game that has none."""
    if not {"silenced", "redrawn"} & advantage.value.columns:
        return
    state = game.start(Key(0))
    while not state.over:
        views = {seat: state.view(seat) for seat in state.to_act}
        if any(silence_at(view) is not None for view in views.values()):
            return
        state.play({seat: view.choices.first for seat, view in views.items()})
    raise BadParameter(
        f"The advantage {advantage.type} compares messages, and {describe(game)} has none: put talk(...) around the "
        "game, or take another estimator."
    )
