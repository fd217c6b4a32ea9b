"""Links to the pages: each is a random secret that lets one role in, to the whole studio or to one table."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from stratagem.games.base import Seat
from stratagem.show.web.guard import is_secret

LinkRole = Literal["operator", "observer", "seat"]
TABLE_LINKS = "/at/"
"""Beginning of the paths of observers and seats; the id of the link follows."""
GRACE = 120.0
"""Seconds after the end of a game in which a seat may still read what it was told, such as its payoff."""


def _secret() -> str:
    return secrets.token_urlsafe(24)


@dataclass(eq=False)
class Link:
    """Capability of one role. The token is in the address, and the cookie that it is exchanged for is another secret.

    A link of a table has a path of its own, so that browsers keep its cookie apart from all others.
    """

    role: LinkRole
    table: str = ""
    """Id of the table; empty for the operator."""
    seat: Seat | None = None
    """Seat at the table; only a link of a seat has one."""
    token: str = field(default_factory=_secret)
    session: str = field(default_factory=_secret)
    id: str = ""
    """Name of the link in its path, which is no secret; empty for the operator."""
    until: float = inf
    """Time at which nothing is answered any more, by the monotonic clock."""
    is_used: bool = False
    """True if a browser has exchanged the token."""

    @property
    def path(self) -> str:
        """Path of its pages, to which the browser sends the cookie."""
        return f"{TABLE_LINKS}{self.id}/" if self.id else "/"

    @property
    def address(self) -> str:
        """Path with the token, which a person opens."""
        return f"{self.path}?token={self.token}"

    def knows(self, cookie: str) -> bool:
        """Return whether a cookie is that of this link."""
        return is_secret(cookie, self.session)

    def opens(self, token: str) -> bool:
        """Return whether a token is that of this link, and has not let another browser sit down before."""
        is_spent = self.role == "seat" and self.is_used
        return is_secret(token, self.token) and not is_spent

    def expire(self, until: float) -> None:
        """Take no token from now on, and no cookie after a time."""
        self.token, self.until = "", min(self.until, until)


class Links:
    """Links of all tables."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._links: dict[str, Link] = {}
        self.clock = clock

    def grant(self, role: LinkRole, table: str, seat: Seat | None = None) -> Link:
        """Make a new link of a table."""
        link = Link(role, table, seat, id=secrets.token_hex(8))
        self._links[link.id] = link
        return link

    def find(self, name: str) -> Link | None:
        """Return the link of this id, unless it is revoked."""
        link = self._links.get(name)
        return link if link is not None and self.clock() < link.until else None

    def of_table(self, table: str) -> list[Link]:
        """Return the links of a table that are not revoked."""
        return [link for link in list(self._links.values()) if link.table == table and self.find(link.id) is link]

    def end_seats(self, table: str) -> None:
        """Revoke the links of the seats of a table whose game has ended."""
        for link in self.of_table(table):
            if link.role == "seat":
                link.expire(self.clock() + GRACE)

    def revoke(self, link: Link) -> None:
        """Forget a link: neither its token nor its cookie opens anything."""
        self._links.pop(link.id, None)
