"""Messages of a talk: who said what to whom, and what a seat may see of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from stratagem.base.visible import json_text
from stratagem.games.base import Seat

SILENT = "SILENT"
"""Action of a seat that sends no message."""
ALL = -1
"""Addressee of a message to every seat."""
MOVE = -1
"""Number of the exchange while the seats move."""
_LONGEST_KEY = 100
"""Largest number of characters of messages in a key; of longer ones it has a digest."""


class Message(NamedTuple):
    """Message of a seat in one exchange; an empty text is silence."""

    round: int
    """Number of the round, or of the phase, in which it was sent; 0 where rounds know nothing of each other."""
    sender: Seat
    to: Seat
    """Seat that reads it, or `ALL`; a silence that nobody sees is addressed to its sender."""
    text: str

    def seen_by(self, seat: Seat) -> bool:
        """Return whether a seat may see it."""
        return self.to in (ALL, seat) or self.sender == seat

    def key(self, seat: Seat, seats: int) -> str:
        """Return it as a part of an information set: seats are counted from the one that sees it."""
        to = "*" if self.to == ALL else (self.to - seat) % seats
        return f"{self.round}.{(self.sender - seat) % seats}>{to}{quote_text(self.text)}"


class TalkFacts(NamedTuple):
    """Knowledge of a seat: of the game, of the messages that it may see, and of where the talk stands."""

    seat: Seat
    inner: Any
    """Facts of the game without talk."""
    messages: tuple[Message, ...]
    round: int
    """Number that messages of now have."""
    exchange: int
    """Number of the exchange of messages in progress, or `MOVE`."""
    movers: tuple[Seat, ...]
    """Seats that move next."""
    wait: int
    """Number of occasions to talk that pass in silence before the next talk."""

    @property
    def of_round(self) -> tuple[Message, ...]:
        """Messages of this round, or of this phase."""
        return tuple(message for message in self.messages if message.round == self.round)


def key_of(messages: Iterable[Message], seat: Seat, seats: int) -> str:
    """Return messages as a part of an information set: as they are, or 128 bits of a digest where they are long."""
    text = "".join(f" {message.key(seat, seats)}" for message in messages)
    if len(text) <= _LONGEST_KEY:
        return text
    return f" heard {blake2b(text.encode(errors='surrogatepass'), digest_size=16).hexdigest()}"


def own_first(messages: Sequence[Message], seat: Seat, seats: int) -> Sequence[Message]:
    """Return the messages of each exchange in the order of the seats from the one that sees them on.

    Where not all seats speak in each exchange, the order stays.
    """
    exchanges = [messages[first : first + seats] for first in range(0, len(messages), seats)]
    if any([message.sender for message in some] != list(range(seats)) for some in exchanges):
        return messages
    return [message for some in exchanges for message in (*some[seat:], *some[:seat])]


def quote_text(text: str) -> str:
    """Write a text between quotation marks, so that no text can pass for the words around it.

    Characters that break a line or turn its direction are escaped, as in JSON.
    """
    return json_text(text)


class Naming:
    """Names of the seats in the texts of one seat."""

    def __init__(self, names: Sequence[str], seats: int) -> None:
        self.names = tuple(names) or tuple(f"player {seat}" for seat in range(seats))
        self.seats = seats

    def head(self, to: Seat) -> str:
        """Return the beginning of a message to a seat, or to all."""
        return f"TO {'ALL' if to == ALL else self.names[to]}: "

    def line(self, message: Message, seat: Seat) -> str:
        """Tell a message to a seat that may see it."""
        sender = "You" if message.sender == seat else self._other(message.sender)
        if not message.text:
            return f"{sender} said nothing."
        reader = "" if message.to == ALL or self.seats == 2 else f" to {self._reader(message.to, seat)}"
        return f"{sender} said{reader}: {quote_text(message.text)}"

    def _other(self, seat: Seat) -> str:
        name = "the other player" if self.seats == 2 else self.names[seat]
        return name[:1].upper() + name[1:]

    def _reader(self, to: Seat, seat: Seat) -> str:
        return "you" if to == seat else self.names[to]
