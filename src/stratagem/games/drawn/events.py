"""Events of a described game: what seats are told of, from which their keys and situations are written."""

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
