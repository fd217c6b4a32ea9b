"""Open games of people in the page, and the record that keeps them."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

from stratagem.errors import BadParameter, StratagemError, UnknownName
from stratagem.games.base import Json, Seat
from stratagem.play.records import Episode
from stratagem.play.store import prepare, record
from stratagem.viewer.jobs import LIMITS, Priced
from stratagem.viewer.sentences import sentence_of
from stratagem.viewer.sitting import Seated, Told, Typed, lineage, sit_down
from stratagem.workers.limited import LimitedProcess

_LIMITS = LIMITS._replace(seconds=4 * 3600.0)
"""Limits of a game: people think longer than programs."""
PLAYED, FORKS = "played", "whatif"
"""Folders of the records of games from their start, and of games that began in another record."""
_MOST_OPEN = 8
_MOST_KEPT = 50
_LONGEST_REPLY = 20_000


class OpenTable:
    """Game of people; its process knows the hidden cards, and this one only what each of them may see."""

    def __init__(self, seated: Seated, keeper: Keeper) -> None:
        self.seated, self._keeper = seated, keeper
        self.events: dict[Seat, list[Json]] = {seat: [] for seat in seated.people}
        """All that the page of a seat is told, in order."""
        self.is_open, self._left = True, False
        self._process = LimitedProcess(sit_down, seated, _LIMITS)
        self._thread = threading.Thread(target=self._follow, name="stratagem-table", daemon=True)
        self._thread.start()

    def reply(self, seat: Seat, number: int, text: str) -> None:
        """Give a person's reply to a question."""
        if len(text) > _LONGEST_REPLY:
            raise BadParameter(f"A reply has at most {_LONGEST_REPLY:,} characters, and this one has {len(text):,}.")
        self._process.send(Typed(seat, number, text))

    def close(self) -> None:
        """Leave the game; it is not recorded."""
        self._left = True
        self._process.kill()
        self._thread.join()

    def _follow(self) -> None:
        try:
            for message in self._process.messages():
                if isinstance(message, Told):
                    self.events[message.seat].append(message.content)
                elif isinstance(message, Priced):
                    self._tell_all({"event": "priced", "price": message.price})
                else:
                    self._tell_all(self._keeper.keep(self.seated, message))
        except StratagemError as error:
            self._tell_all({"event": "left" if self._left else "failed", "sentence": sentence_of(error)})
        self.is_open = False

    def _tell_all(self, event: Json) -> None:
        for told in self.events.values():
            told.append(event)


class Keeper:
    """Records of the games that people have finished: one of all new games, and one of each that began in a record."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._writing = threading.Lock()

    def keep(self, seated: Seated, episode: Episode) -> Json:
        """Record an episode, and return the event of its end."""
        name = PLAYED if seated.origin is None else f"{FORKS}/{seated.id}"
        with self._writing:
            prepare(self._root / name)
            for _ in record([*lineage(seated), episode], self._root / name):
                pass
        return {
            "event": "over",
            "record": name,
            "episode": episode.id,
            "payoffs": episode.payoffs,
            "finished": episode.finished,
        }


class Place(NamedTuple):
    """Seat of a person at a table; who knows its id sits there."""

    table: OpenTable
    seat: Seat

    @property
    def events(self) -> list[Json]:
        """All that the person was told."""
        return self.table.events[self.seat]


class Tables:
    """Games of people, by the secret ids of their seats."""

    def __init__(self, root: Path) -> None:
        self._keeper = Keeper(root)
        self._places: OrderedDict[str, Place] = OrderedDict()

    def open(self, seated: Seated) -> dict[Seat, str]:
        """Open a table, and return the id of the seat of each person."""
        if sum(table.is_open for table in self._tables()) >= _MOST_OPEN:
            raise BadParameter(f"{_MOST_OPEN} games are open already: leave one of them first.")
        for old in list(self._places)[: max(0, len(self._places) - _MOST_KEPT)]:
            if not self._places[old].table.is_open:
                del self._places[old]
        table = OpenTable(seated, self._keeper)
        ids = {seat: secrets.token_hex(16) for seat in seated.people}
        self._places |= {name: Place(table, seat) for seat, name in ids.items()}
        return ids

    def find(self, name: str) -> Place:
        """Return the seat of this id."""
        if name not in self._places:
            raise UnknownName("table", name, ())
        return self._places[name]

    def close(self) -> None:
        """Leave all games."""
        for table in self._tables():
            table.close()

    def _tables(self) -> list[OpenTable]:
        return list({id(place.table): place.table for place in self._places.values()}.values())
