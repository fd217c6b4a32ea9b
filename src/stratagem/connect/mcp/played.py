"""Tables of games in play: one seat is an agent's, and players of ours have the others."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.visible import visible
from stratagem.connect.mcp.handles import TableHandles
from stratagem.connect.mcp.replies import TableReply, attempt_text, plain_reply, question_reply
from stratagem.connect.mcp.shelf import EpisodeShelf
from stratagem.connect.opponents import match_at_seat
from stratagem.connect.session import Session, deal_key
from stratagem.games.base import Game, Json, Seat
from stratagem.games.catalogue import describe
from stratagem.players.agents import question
from stratagem.players.base import Player
from stratagem.playing.match import Match

_CONSEQUENCES = {
    "null": "It counts as no action.",
    "default": "The default action of the game was played.",
    "forfeit": "By the rules of the game that ends it.",
}
"""Consequence of a reply without a legal action after the last attempt, by the declaration of the game."""
_QUOTED = 60


@dataclass(frozen=True)
class PlayedGame:
    """Game that is served, with the players of the other seats."""

    game: Game[Any]
    opponents: Player | Sequence[Player]
    """One player for all other seats, or one for each."""

    @property
    def name(self) -> str:
        """Name of the game with its parameters."""
        return describe(self.game)

    @cached_property
    def matches(self) -> Sequence[Match]:
        """Match for each seat that an agent may have."""
        return [match_at_seat(self.game, self.opponents, seat) for seat in range(self.game.spec.seats)]


class PlayedTable:
    """Seat of an agent in an episode."""

    def __init__(self, session: Session, seat: Seat) -> None:
        self._session, self._seat = session, seat
        self._number = ""
        """Name of the open question; empty where there is none."""
        self._question: Json = {}
        self._answered: set[str] = set()
        self._told, self._since = "", dict[str, Any]()
        """Events since the last reply, as a text and as data."""
        self.rules: str = session.view(seat).rules
        self._go_on()

    @property
    def is_idle(self) -> bool:
        """True if the episode is over."""
        return self._session.over

    @property
    def session(self) -> Session:
        """The episode."""
        return self._session

    def act(self, number: str, text: str) -> None:
        """Play a reply to the open question."""
        if number != self._number:
            raise BadParameter(self._why_not(number))
        attempt, seat = self._question["attempt"], self._seat
        consequence = _CONSEQUENCES[self._session.on_illegal]
        action = self._session.reply(seat, text)
        self._answered.add(number)
        self._go_on()
        if action is not None:
            self._told = f"You played {_quote(action)}."
        elif self._question.get("attempt", 0) <= attempt:  # else `attempt_text` says it
            self._told = f"Your reply named no legal action. {consequence}"
        self._since = {"action": action, **self._since}
        if payoff := self._since["payoff"]:
            self._told = f"{self._told} Your payoff since is {payoff:+g}.".strip()

    def show(self, handle: str, before: str = "") -> TableReply:
        """Return what the seat sees now."""
        if self._session.over:
            return self._show_end(handle)
        told = [before, self._told, attempt_text(self._question["attempt"])]
        return question_reply(handle, self._number, self._question, told, since=self._since)

    def _show_end(self, handle: str) -> TableReply:
        episode, seat = self._session.episode, self._seat
        situation = self._session.view(seat).situation
        end = f"The game is over. Your payoff is {episode.payoffs[seat]:+g} in all."
        return plain_reply(
            handle,
            "over",
            [self._told, situation, end],
            situation=situation,
            payoff=episode.payoffs[seat],
            payoffs_of_rounds=[payoffs[seat] for payoffs in episode.rounds],
            since=self._since,
        )

    def _go_on(self) -> None:
        self._since = {"payoff": self._session.rewards()[self._seat]}
        self._told = ""
        ask = self._session.asks.get(self._seat)
        self._question = {} if ask is None else json.loads(question(ask))
        self._number = "" if ask is None else secrets.token_hex(4)

    def _why_not(self, number: str) -> str:
        now = f"it asks question {self._number} now" if self._number else "the game is over"
        if number in self._answered:
            return f"Question {number} is answered already: {now}."
        return f"This table did not ask question {_quote(number)}: {now}."


class PlayedTables:
    """Games that agents play, with their tables."""

    def __init__(
        self,
        games: Sequence[PlayedGame],
        seed: int,
        shelf: EpisodeShelf,
        handles: TableHandles[PlayedTable],
    ) -> None:
        self._games: Mapping[str, PlayedGame] = {one.name: one for one in games}
        self._seed, self._shelf = seed, shelf
        self._next = dict.fromkeys(self._games, 0)
        self._handles = handles
        self._lock = Lock()
        """Tables take turns, since an engine of a model serves one caller at a time."""
        self._stamp = secrets.token_hex(3)

    @property
    def summary(self) -> str:
        """The games, for an agent that has no table yet."""
        lines = [f"- {name}: {one.game.spec.summary} {one.game.spec.seats} seats." for name, one in self._games.items()]
        return "\n".join(["Games at this server:", *lines])

    def open(self, game: str, seat: int | None) -> TableReply:
        """Open a table of the next deal; each deal is played once, so nobody knows it from another seat."""
        with self._lock:
            name = self._name(game)
            self._handles.check_room()
            self._shelf.check_room()
            number, matches = self._next[name], self._games[name].matches
            own = number % len(matches) if seat is None else seat
            if not 0 <= own < len(matches):
                raise BadParameter(f"{name} has the seats 0 to {len(matches) - 1}, and no seat {own}.")
            self._next[name] += 1
            deal = f"{name}/{self._seed}/{number}"
            key = deal_key(self._seed, number)
            table = PlayedTable(Session(matches[own], key, f"{deal}/{self._stamp}", group=deal), own)
            self._keep(table)
            return table.show(self._handles.add(table), table.rules)

    def rules(self, handle: str) -> str:
        """Return the rules of the game of a table."""
        with self._lock:
            return self._handles.find(handle).rules

    def observe(self, handle: str) -> TableReply:
        """Return what the seat of a table sees now."""
        with self._lock:
            return self._handles.find(handle).show(handle)

    def act(self, handle: str, number: str, text: str) -> TableReply:
        """Play a reply to a question, and return what the seat sees then."""
        with self._lock:
            table = self._handles.find(handle)
            table.act(number, text)
            self._keep(table)
            return table.show(handle)

    def _keep(self, table: PlayedTable) -> None:
        if table.session.over:
            self._shelf.keep(table.session.episode)

    def _name(self, game: str) -> str:
        if not game and len(self._games) == 1:
            return next(iter(self._games))
        if not game:
            raise BadParameter(f"Say which game: there are {', '.join(self._games)}.")
        if game not in self._games:
            raise UnknownName("game", game, self._games)
        return game


def _quote(text: str) -> str:
    """Return a text in a sentence, its beginning where it is long."""
    shown = visible(" / ".join(text.splitlines()))
    return shown if len(shown) <= _QUOTED else f"{shown[:_QUOTED]}…"
