"""Events of a described game, from which keys and situations are written, and the pieces and choices of a round."""

from __future__ import annotations

from typing import NamedTuple

from stratagem.games.base import Seat

ALL = -1
"""Seat of an event that all are told of, and of one that no seat does."""


class Event(NamedTuple):
    """Something that a seat has seen or done."""

    kind: str
    """One of: gets, opens, shows, plays, hides, pays, round."""
    seat: Seat
    """Seat that it is about; -1 where it is about none."""
    what: str
    step: int = -1
    """Number of the step in the description."""


class Choice(NamedTuple):
    """Action that a seat chose in a step of the present round."""

    step: int
    seat: Seat
    option: int


class Piece(NamedTuple):
    """Dealt card, die or value: its item, and its face among those of the item."""

    item: int
    face: int


class DescribedFacts(NamedTuple):
    """Knowledge of a seat: what it has seen and done, in order, and what it may choose now."""

    seat: Seat
    round: int
    first: Seat
    """Seat that is first in this round."""
    log: tuple[Event, ...]
    legal: tuple[str, ...]
