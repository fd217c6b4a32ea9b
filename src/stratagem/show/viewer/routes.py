"""Routes of the pages: what each page asks for, what it may do, and the roles that may call each.

A new page is one line here, and one in `VIEWS` of `static/views.js`, beside a file on each side: a module with its
answers, and an ES module that draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stratagem.games.base import Json
from stratagem.show.viewer.actions import (
    cancel_job,
    follow_job,
    game_of,
    list_what_ifs,
    open_table,
    position_of,
    start_alternatives,
    start_export,
    start_policy,
    start_what_if,
    teach_action,
)
from stratagem.show.viewer.answers import content_of, episode, episodes, run_of, words
from stratagem.show.viewer.checks.catalogue import show_checks
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.links import LinkRole
from stratagem.show.viewer.notes import write_note
from stratagem.show.viewer.overlay import overlay
from stratagem.show.viewer.pairs import pair, pairs
from stratagem.show.viewer.population import population, populations
from stratagem.show.viewer.regrets import list_regrets, show_line
from stratagem.show.viewer.report_pages import report_page
from stratagem.show.viewer.searching import search_decisions
from stratagem.show.viewer.seats import follow_table, give_reply, leave_table, whole_game
from stratagem.show.viewer.studio import Visit
from stratagem.show.viewer.subjects import list_subjects

Asked = Mapping[str, str]
"""Parameters of a request."""
Roles = frozenset[LinkRole]
ANSWERS, ACTIONS = "/api/", "/api/do/"
"""Beginnings of the paths of answers, and of those that do something: nothing else but reading is possible."""


@dataclass(frozen=True)
class PageRoute:
    """Requests of one page, by the last part of their paths. One that several pages make stands with the first."""

    answers: Mapping[str, Callable[[Library, Asked], Json]] = field(default_factory=dict)
    """Answers from what the folder holds."""
    follows: Mapping[str, Callable[[Visit, Asked], Json]] = field(default_factory=dict)
    """Answers about what goes on: jobs and tables."""
    actions: Mapping[str, Callable[[Visit, Json], Json]] = field(default_factory=dict)
    """Actions on request."""


PAGES: Mapping[str, PageRoute] = {
    "/": PageRoute({"library": content_of}),
    "/run": PageRoute({"run": run_of}, actions={"note": write_note}),
    "/runs": PageRoute({"overlay": overlay}),
    "/report": PageRoute({"report": report_page}),
    "/games": PageRoute({"episodes": episodes}, {"job": follow_job}, {"export": start_export, "cancel": cancel_job}),
    "/replay": PageRoute(
        {"episode": episode, "words": words, "position": position_of, "whatifs": list_what_ifs, "line": show_line},
        actions={"whatif": start_what_if, "alternatives": start_alternatives, "teach": teach_action},
    ),
    "/pairs": PageRoute({"pairs": pairs, "pair": pair}),
    "/decisions": PageRoute({"decisions": search_decisions}),
    "/checks": PageRoute({"checks": show_checks}),
    "/policy": PageRoute({"subjects": list_subjects, "regrets": list_regrets}, actions={"policy": start_policy}),
    "/population": PageRoute({"populations": populations, "population": population}),
    "/play": PageRoute(
        {"game": game_of},
        {"table": follow_table, "whole": whole_game},
        {"sit": open_table, "reply": give_reply, "leave": leave_table},
    ),
}
"""Pages by their addresses in the browser."""
_OPERATOR: Roles = frozenset({"operator"})
_SEAT: Roles = _OPERATOR | {"seat"}
_OBSERVER: Roles = frozenset({"observer"})
_ANY: Roles = _SEAT | _OBSERVER
_GUESTS: Mapping[str, Roles] = {
    "/": _ANY,
    "/static/*": _ANY,
    "/faces/*": _OPERATOR | _OBSERVER,
    "/api/table": _ANY,
    "/api/whole": _OBSERVER,
    "/api/do/reply": _SEAT,
    "/api/do/leave": _SEAT,
}
"""Roles of the routes that links of a table open."""


def _paths(page: PageRoute) -> list[str]:
    read = [f"{ANSWERS}{name}" for name in (*page.answers, *page.follows)]
    return [*read, *(f"{ACTIONS}{name}" for name in page.actions)]


ROLES: Mapping[str, Roles] = {
    **dict.fromkeys(("/pages/*", "/exports/*", "/api/live"), _OPERATOR),
    **{path: _OPERATOR for page in PAGES.values() for path in _paths(page)},
    **_GUESTS,
}
"""Roles by path; `*` stands for the last part of one."""


def roles_of(path: str) -> Roles:
    """Return the roles that may ask for a path: the operator alone for one that has no entry."""
    folder = path.rpartition("/")[0]
    return ROLES.get(path) or ROLES.get(f"{folder}/*") or _OPERATOR
