"""Scheduler: one deterministic loop for every game; a table goes on as soon as its own requests are answered.

What a table does follows from its setup alone, so it does not matter which other tables are played beside it, in what
order answers come back, or in which process it is played.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence

from stratagem.base.errors import BadParameter
from stratagem.games.base import Seat
from stratagem.playing.dispatch import Dispatcher, RequestQueue
from stratagem.playing.match import Setup
from stratagem.playing.records import Episode
from stratagem.playing.table import Table


def play(
    setups: Iterable[Setup], queue: RequestQueue | None = None, *, live: int = 256, detail: bool = True
) -> Generator[Episode, None, None]:
    """Play every setup and yield its episode when it is over; at most `live` tables are open at a time.

    Without `detail` episodes hold totals only, no decisions. `queue` answers requests; None is their own engines.
    """
    if live < 1:
        raise BadParameter(f"At least one table must be open at a time: `live` cannot be {live}.")
    room = _Room(queue or Dispatcher())
    try:
        for setup in setups:
            table = Table(setup, detail=detail)
            if table.advance():
                yield table.episode
            else:
                room.wait(table)
            while room.num_open >= live:
                yield from room.go_on()
        while room.num_open:
            yield from room.go_on()
    finally:
        room.close()


class _Room:
    """Tables with open requests."""

    def __init__(self, queue: RequestQueue) -> None:
        self._queue = queue
        self._tables: dict[int, Table] = {}
        """Tables by identity, in the order in which they were opened."""
        self._asked: dict[int, tuple[Table, Seat]] = {}
        self._unsent: list[tuple[Table, Seat, object]] = []

    @property
    def num_open(self) -> int:
        """Number of tables that wait for answers."""
        return len(self._tables)

    def seat(self, tables: Sequence[Table]) -> Iterator[Episode]:
        """Let tables go on up to their next requests; yield the episodes that are over."""
        for table in tables:
            if table.advance():
                self._tables.pop(id(table), None)
                yield table.episode
            else:
                self.wait(table)

    def wait(self, table: Table) -> None:
        """Take a table's new requests; they are sent with those of the others."""
        self._tables[id(table)] = table
        self._unsent += [(table, seat, request) for seat, request in table.new_requests()]

    def go_on(self) -> Iterator[Episode]:
        """Send the new requests together, wait for some answers, and let their tables go on."""
        unsent, self._unsent = self._unsent, []
        tickets = self._queue.submit([request for _, _, request in unsent])
        self._asked |= {ticket: (table, seat) for ticket, (table, seat, _) in zip(tickets, unsent, strict=True)}
        answered: dict[int, Table] = {}
        for ticket, call in self._queue.poll():
            table, seat = self._asked.pop(ticket)
            table.answer(seat, call)
            answered[id(table)] = table
        yield from self.seat(list(answered.values()))

    def close(self) -> None:
        """Forget the open requests."""
        self._queue.cancel()
