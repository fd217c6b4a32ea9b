"""Requests of the people at a table: each link reads what its place was told, and only a seat replies."""

from __future__ import annotations

from collections.abc import Mapping

from stratagem.base.errors import BadParameter
from stratagem.games.base import Json
from stratagem.show.viewer.asked import Leave, PersonReply
from stratagem.show.viewer.links import Link
from stratagem.show.viewer.parameters import number
from stratagem.show.viewer.replays import replay_of
from stratagem.show.viewer.studio import Visit
from stratagem.show.viewer.tables import TablePlace


def follow_table(visit: Visit, asked: Mapping[str, str]) -> Json:
    """Return what a place was told since the events that the page has seen."""
    place, start = _place(visit, asked.get("id", "")), number(asked, "seen", 0)
    is_open = place.table.is_open
    told = {"role": visit.link.role, "open": is_open, "events": place.events[start:], "start": start}
    return {**told, "links": _links(visit, place)} if visit.link.role == "operator" else told


def whole_game(visit: Visit, asked: Mapping[str, str]) -> Json:
    """Return the replay of a game that is over, without the names of its neighbours in the record."""
    table = visit.studio.tables.find(visit.link.table)
    if table.kept is None:
        raise BadParameter("The whole game is shown when it is over.")
    return {**replay_of(*table.kept), "previous": None, "next": None}


def give_reply(visit: Visit, body: Json) -> Json:
    """Give the reply of a seat to a question."""
    asked = PersonReply.read(body)
    place = _place(visit, asked.id)
    if place.seat is None:
        raise BadParameter("Who observes a game does not reply.")
    place.table.reply(place.seat, asked.number, asked.text)
    return {}


def leave_table(visit: Visit, body: Json) -> Json:
    """Close the seat of a link; the operator ends the game."""
    place = _place(visit, Leave.read(body).id)
    if visit.link.role == "operator":
        place.table.close()
    elif place.seat is not None:
        visit.studio.tables.links.revoke(visit.link)
        place.table.leave(place.seat)
    return {}


def _place(visit: Visit, name: str) -> TablePlace:
    if visit.link.role != "operator":
        return TablePlace(visit.studio.tables.find(visit.link.table), visit.link.seat)
    table = visit.studio.tables.find(name)
    return TablePlace(table, table.seated.seat)


def _links(visit: Visit, place: TablePlace) -> list[Json]:
    """Return the links that the operator may hand on; a seat that is taken has none any more."""
    links = visit.studio.tables.links.of_table(place.table.id)
    return [{"role": link.role, "seat": link.seat, "taken": link.is_used, "address": _address(link)} for link in links]


def _address(link: Link) -> str:
    is_spent = not link.token or (link.role == "seat" and link.is_used)
    return "" if is_spent else link.address
