"""Requests of the pages that do something: their bodies, read strictly."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stratagem.base.settings import FiniteSettings

_TEXT = 4000
_ID = Field(min_length=1, max_length=1000)
_TURN = Field(ge=0, lt=1_000_000)
_SEAT = Field(ge=0, lt=100)
Names = dict[int, str]
"""Texts by seat."""


class OneJob(FiniteSettings):
    """A job by its id."""

    id: str = _ID
    """Id of the job."""


class AskedTurn(FiniteSettings):
    """A turn of an episode."""

    record: str = _ID
    """Name of the record."""
    episode: str = _ID
    """Id of the episode."""
    turn: int = _TURN
    """Turn."""


class AskedWhatIf(AskedTurn):
    """A turn that is played on, and what is changed there."""

    actions: Names = Field(default={})
    """Other actions by seat."""
    players: Names = Field(default={})
    """Other players by seat."""
    dice: Literal["recorded", "fresh"] = "recorded"
    """Draws of the game after the turn."""
    seed: int = Field(default=0, ge=0, lt=2**63)
    """Key of the dice and of the players' draws."""
    count: int = Field(default=20, ge=1, le=1000)
    """Number of branches of each arm."""
    accepted: int = Field(default=0, ge=0)
    """Number of calls of models that are accepted."""


class AskedAlternatives(AskedTurn):
    """A decision, and the player whose probabilities are asked for."""

    seat: int = _SEAT
    """Seat that decided."""
    player: str = Field(default="", max_length=_TEXT)
    """Player; empty for the recorded one."""
    accepted: int = Field(default=0, ge=0)
    """Number of calls of models that are accepted."""


class AskedExport(FiniteSettings):
    """A record as one file, or one episode of it."""

    record: str = _ID
    """Name of the record."""
    episode: str = Field(default="", max_length=1000)
    """Id of the only episode; all without it."""


class AskedPolicy(FiniteSettings):
    """A player, whose policy on the whole tree of a game is asked for."""

    game: str = Field(min_length=1, max_length=_TEXT)
    """Name of the game."""
    player: str = Field(min_length=1, max_length=_TEXT)
    """Player."""
    accepted: int = Field(default=0, ge=0)
    """Number of calls of models that are accepted."""


class TaughtTurn(AskedTurn):
    """A decision, and the action that should have been played."""

    seat: int = _SEAT
    """Seat that decided."""
    action: str = Field(max_length=_TEXT * 5)
    """Action to learn."""
    thought: str = Field(default="", max_length=_TEXT)
    """Reasoning before the action."""
    style: str = Field(default="plain", max_length=_TEXT)
    """Prompt style."""


class Sit(FiniteSettings):
    """A seat at a game, and the players of the other seats."""

    game: str = Field(default="", max_length=_TEXT)
    """Game; empty where a recorded one is played on."""
    record: str = Field(default="", max_length=1000)
    """Name of the record of the game that is played on."""
    episode: str = Field(default="", max_length=1000)
    """Id of the episode that is played on."""
    turn: int = Field(default=0, ge=0, lt=1_000_000)
    """Turn that is played on."""
    seat: int = _SEAT
    """Seat of the person."""
    players: Names = Field(default={})
    """Players of the other seats."""
    accepted: bool = False
    """True if the price of each decision is accepted."""


class Leave(FiniteSettings):
    """A table that is left."""

    id: str = Field(default="", max_length=1000)
    """Id of the table; only the operator names one, since a link of a seat has its own."""


class PersonReply(Leave):
    """Reply of a person at a table."""

    number: int = Field(ge=0)
    """Number of the question."""
    text: str
    """Reply."""
