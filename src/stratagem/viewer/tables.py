"""Open games of people in the page, and the record that keeps them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from stratagem.errors import BadParameter, StratagemError, UnknownName
from stratagem.games.base import Json
from stratagem.play.records import Episode
from stratagem.play.store import prepare, record
from stratagem.viewer.jobs import LIMITS, Priced
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
    """Game of a person; its process knows the hidden cards, and this one only what the person may see."""

    def __init__(self, seated: Seated, keeper: Keeper) -> None:
        self.seated, self._keeper = seated, keeper
        self.events: list[Json] = []
        """All that the page is told, in order."""
        self.is_open, self._left = True, False
        self._process = LimitedProcess(sit_down, seated, _LIMITS)
        self._thread = threading.Thread(target=self._follow, name="stratagem-table", daemon=True)
        self._thread.start()

    def reply(self, number: int, text: str) -> None:
        """Give the person's reply to a question."""
        if len(text) > _LONGEST_REPLY:
            raise BadParameter(f"A reply has at most {_LONGEST_REPLY:,} characters, and this one has {len(text):,}.")
        self._process.send(Typed(number, text))

    def close(self) -> None:
        """Leave the game; it is not recorded."""
        self._left = True
        self._process.kill()
        self._thread.join()

    def _follow(self) -> None:
        try:
            for message in self._process.messages():
                if isinstance(message, Told):
                    self.events.append(message.content)
                elif isinstance(message, Priced):
                    self.events.append({"event": "priced", "price": message.price})
                else:
                    self.events.append(self._keeper.keep(self.seated, message))
        except StratagemError as error:
            self.events.append({"event": "left" if self._left else "failed", "sentence": str(error)})
        self.is_open = False


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


class Tables:
    """Games of people by id."""

    def __init__(self, root: Path) -> None:
        self._keeper = Keeper(root)
        self._tables: OrderedDict[str, OpenTable] = OrderedDict()

    def open(self, name: str, seated: Seated) -> OpenTable:
        """Open a table."""
        if sum(table.is_open for table in self._tables.values()) >= _MOST_OPEN:
            raise BadParameter(f"{_MOST_OPEN} games are open already: leave one of them first.")
        for old in list(self._tables)[: max(0, len(self._tables) + 1 - _MOST_KEPT)]:
            if not self._tables[old].is_open:
                del self._tables[old]
        self._tables[name] = OpenTable(seated, self._keeper)
        return self._tables[name]

    def find(self, name: str) -> OpenTable:
        """Return the table of this id."""
        if name not in self._tables:
            raise UnknownName("table", name, ())
        return self._tables[name]

    def close(self) -> None:
        """Leave all games."""
        for table in list(self._tables.values()):
            table.close()
