"""Open games of people in the page, and the record that keeps them."""

from __future__ import annotations

import secrets
import threading
from collections import Counter, OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stratagem.base.errors import BadParameter, StratagemError, UnknownName
from stratagem.games.base import Json, Seat
from stratagem.playing.records import Episode
from stratagem.playing.store import prepare, record
from stratagem.playing.workers.limited import LimitedProcess
from stratagem.show.viewer.jobs import LIMITS, JobPrice
from stratagem.show.viewer.links import Links
from stratagem.show.viewer.sentences import sentence_of
from stratagem.show.viewer.sitting import PageMessage, SeatedGame, TypedReply, lineage, sit_down

_LIMITS = LIMITS._replace(seconds=4 * 3600.0)
"""Limits of a game: people think longer than programs."""
PLAYED, FORKS = "played", "whatif"
"""Folders of the records of games from their start, and of games that began in another record."""
_MOST_OPEN = 8
_MOST_KEPT = 50
_LONGEST_REPLY = 20_000
MOST_REFUSED = 1000
"""Number of illegal replies of a seat; the page keeps the sentence about each."""
_NOT_BEGUN = "The game did not begin."
_ENDED = {"left": "The game was ended by the person who opened it.", "failed": "The game broke off."}


class OpenTable:
    """Game of people; its process knows the hidden cards, and this one only what each of them may see."""

    def __init__(self, seated: SeatedGame, keeper: Keeper, links: Links) -> None:
        self.id = secrets.token_hex(16)
        self.seated, self._keeper, self._links = seated, keeper, links
        self.events: dict[Seat | None, list[Json]] = {place: [] for place in (*seated.people, None)}
        """All that the page of a seat is told, in order; with None, that of observers."""
        self._asked: set[tuple[Seat | None, int]] = set()
        """Questions that wait for a reply, each a seat and a number."""
        self._refused: Counter[Seat | None] = Counter()
        self.is_open, self._left = True, False
        self.kept: tuple[Path, str] | None = None
        """Record and id of the episode when the game is over."""
        self._process = LimitedProcess(sit_down, seated, _LIMITS)
        self._thread = threading.Thread(target=self._follow, name="stratagem-table", daemon=True)
        self._thread.start()

    def reply(self, seat: Seat, number: int, text: str) -> None:
        """Give a person's reply to a question."""
        if len(text) > _LONGEST_REPLY:
            raise BadParameter(f"A reply has at most {_LONGEST_REPLY:,} characters, and this one has {len(text):,}.")
        if not self.is_open:
            raise BadParameter("This game is over.")
        if self._refused[seat] >= MOST_REFUSED:
            raise BadParameter(f"This seat has given {MOST_REFUSED:,} illegal replies, and no more are taken.")
        with suppress(KeyError):
            self._asked.remove((seat, number))
            self._process.send(TypedReply(seat, number, text))  # it is read at once: the process waits for it

    def leave(self, seat: Seat) -> None:
        """Close the seat of a guest: the others are told, and the game waits where it is that seat's turn."""
        for other, told in self.events.items():
            if other != seat and self.is_open:
                told.append({"event": "gone", "seat": seat})

    def close(self) -> None:
        """End the game; it is not recorded."""
        self._left = True
        self._process.kill()
        self._thread.join()

    def _follow(self) -> None:
        try:
            for message in self._process.messages():
                if isinstance(message, PageMessage):
                    self._tell(message.seat, message.content)
                elif isinstance(message, JobPrice):
                    self._end({"event": "priced", "price": message.price}, {"event": "left", "sentence": _NOT_BEGUN})
                else:
                    self._keep(message)
        except StratagemError as error:
            event = "left" if self._left else "failed"
            self._end({"event": event, "sentence": sentence_of(error)}, {"event": event, "sentence": _ENDED[event]})
        self.is_open = False
        self._links.end_seats(self.id)

    def _tell(self, seat: Seat | None, content: Json) -> None:
        """Tell a place something; a question, and a refused reply to it, wait for one reply."""
        if content["event"] in ("ask", "refused"):
            self._asked.add((seat, content["number"]))
        self._refused[seat] += content["event"] == "refused"
        self.events[seat].append(content)

    def _keep(self, episode: Episode) -> None:
        """Record the game, and tell each guest the own payoff alone; observers may now see all."""
        self.kept = self._keeper.keep(self.seated, episode)
        over: Json = {"event": "over", "finished": episode.finished}
        every = {**over, "payoffs": episode.payoffs}
        for place, told in self.events.items():
            if place == self.seated.seat:
                told.append({**every, "record": self._keeper.name_of(self.seated), "episode": episode.id})
            else:
                told.append(every if place is None else {**over, "payoff": episode.payoffs[place]})

    def _end(self, own: Json, other: Json) -> None:
        """Tell who opened the table how it ended; a sentence may name players and files, so the others get another."""
        for place, told in self.events.items():
            told.append(own if place == self.seated.seat else other)


class Keeper:
    """Records of the games that people have finished: one of all new games, and one of each that began in a record."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._writing = threading.Lock()

    def name_of(self, seated: SeatedGame) -> str:
        """Return the name of the record of a game."""
        return PLAYED if seated.origin is None else f"{FORKS}/{seated.id}"

    def keep(self, seated: SeatedGame, episode: Episode) -> tuple[Path, str]:
        """Record an episode, and return the folder of the record and the id."""
        folder = self._root / self.name_of(seated)
        with self._writing:
            prepare(folder)
            for _ in record([*lineage(seated), episode], folder):
                pass
        return folder, episode.id


class TablePlace(NamedTuple):
    """Place at a table: a seat, or that of observers."""

    table: OpenTable
    seat: Seat | None

    @property
    def events(self) -> list[Json]:
        """All that was told there."""
        return self.table.events[self.seat]


class Tables:
    """Games of people, by their ids."""

    def __init__(self, root: Path, links: Links) -> None:
        self.links = links
        self._keeper = Keeper(root)
        self._tables: OrderedDict[str, OpenTable] = OrderedDict()

    def open(self, seated: SeatedGame) -> OpenTable:
        """Open a table with links for its guests and for observers."""
        if sum(table.is_open for table in self._tables.values()) >= _MOST_OPEN:
            raise BadParameter(f"{_MOST_OPEN} games are open already: leave one of them first.")
        for old in list(self._tables.values())[: max(0, len(self._tables) - _MOST_KEPT)]:
            if not old.is_open:
                self._forget(old)
        table = OpenTable(seated, self._keeper, self.links)
        self._tables[table.id] = table
        for seat in seated.people[1:]:
            self.links.grant("seat", table.id, seat)
        self.links.grant("observer", table.id)
        return table

    def find(self, name: str) -> OpenTable:
        """Return the table of this id."""
        if name not in self._tables:
            raise UnknownName("table", name, ())
        return self._tables[name]

    def close(self) -> None:
        """Leave all games."""
        for table in self._tables.values():
            table.close()

    def _forget(self, table: OpenTable) -> None:
        del self._tables[table.id]
        for link in self.links.of_table(table.id):
            self.links.revoke(link)
