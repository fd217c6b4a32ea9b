"""Routes of the pages, and the roles that may call each: the one place where this is decided."""

from __future__ import annotations

from collections.abc import Mapping

from stratagem.viewer.links import LinkRole

Roles = frozenset[LinkRole]
_OPERATOR: Roles = frozenset({"operator"})
_SEAT: Roles = _OPERATOR | {"seat"}
_OBSERVER: Roles = frozenset({"observer"})
_ANY: Roles = _SEAT | _OBSERVER
ROLES: Mapping[str, Roles] = {
    "/": _ANY,
    "/static/*": _ANY,
    "/faces/*": _OPERATOR | _OBSERVER,
    "/api/table": _ANY,
    "/api/whole": _OBSERVER,
    "/api/do/reply": _SEAT,
    "/api/do/leave": _SEAT,
    **dict.fromkeys(
        [
            "/pages/*",
            "/exports/*",
            "/api/checks",
            "/api/decisions",
            "/api/episode",
            "/api/episodes",
            "/api/game",
            "/api/job",
            "/api/library",
            "/api/line",
            "/api/live",
            "/api/overlay",
            "/api/pair",
            "/api/pairs",
            "/api/population",
            "/api/populations",
            "/api/position",
            "/api/regrets",
            "/api/report",
            "/api/run",
            "/api/subjects",
            "/api/whatifs",
            "/api/words",
            "/api/do/alternatives",
            "/api/do/cancel",
            "/api/do/export",
            "/api/do/note",
            "/api/do/policy",
            "/api/do/sit",
            "/api/do/teach",
            "/api/do/whatif",
        ],
        _OPERATOR,
    ),
}
"""Roles by path; `*` stands for the last part of one."""


def roles_of(path: str) -> Roles:
    """Return the roles that may ask for a path: the operator alone for one that has no entry."""
    folder = path.rpartition("/")[0]
    return ROLES.get(path) or ROLES.get(f"{folder}/*") or _OPERATOR
