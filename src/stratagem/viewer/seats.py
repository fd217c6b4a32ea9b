"""Requests of the people at a table: each link reads what its place was told, and only a seat replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stratagem.errors import BadParameter
from stratagem.games.base import Json
from stratagem.viewer.asked import Leave, Reply
from stratagem.viewer.links import Link
from stratagem.viewer.parameters import number
from stratagem.viewer.replays import replay_of
from stratagem.viewer.tables import TablePlace, Tables


class SeatRequests:
    """Requests about tables by their links; the operator names a table, and all others have one."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def gets(self) -> dict[str, Callable[[Link, Mapping[str, str]], Json]]:
        """Return what is only read, by name."""
        return {"table": self._events, "whole": self._whole}

    def posts(self) -> dict[str, Callable[[Link, Json], Json]]:
        """Return what is done on request, by name."""
        return {"reply": self._reply, "leave": self._leave}

    def _events(self, link: Link, asked: Mapping[str, str]) -> Json:
        """Return what a place was told since the events that the page has seen."""
        place, start = self._place(link, asked.get("id", "")), number(asked, "seen", 0)
        is_open = place.table.is_open
        told = {"role": link.role, "open": is_open, "events": place.events[start:], "start": start}
        return {**told, "links": self._links(place)} if link.role == "operator" else told

    def _whole(self, link: Link, asked: Mapping[str, str]) -> Json:
        """Return the replay of a game that is over, without the names of its neighbours in the record."""
        table = self._tables.find(link.table)
        if table.kept is None:
            raise BadParameter("The whole game is shown when it is over.")
        return {**replay_of(*table.kept), "previous": None, "next": None}

    def _reply(self, link: Link, body: Json) -> Json:
        """Give the reply of a seat to a question."""
        asked = Reply.read(body)
        place = self._place(link, asked.id)
        if place.seat is None:
            raise BadParameter("Who observes a game does not reply.")
        place.table.reply(place.seat, asked.number, asked.text)
        return {}

    def _leave(self, link: Link, body: Json) -> Json:
        """Close the seat of a link; the operator ends the game."""
        place = self._place(link, Leave.read(body).id)
        if link.role == "operator":
            place.table.close()
        elif place.seat is not None:
            self._tables.links.revoke(link)
            place.table.leave(place.seat)
        return {}

    def _place(self, link: Link, name: str) -> TablePlace:
        if link.role != "operator":
            return TablePlace(self._tables.find(link.table), link.seat)
        table = self._tables.find(name)
        return TablePlace(table, table.seated.seat)

    def _links(self, place: TablePlace) -> list[Json]:
        """Return the links that the operator may hand on; a seat that is taken has none any more."""
        links = self._tables.links.of_table(place.table.id)
        return [
            {"role": link.role, "seat": link.seat, "taken": link.is_used, "address": _address(link)} for link in links
        ]


def _address(link: Link) -> str:
    is_spent = not link.token or (link.role == "seat" and link.is_used)
    return "" if is_spent else link.address
