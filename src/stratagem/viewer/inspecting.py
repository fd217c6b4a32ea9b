"""Answers about policies: which there are, their information sets, and the line of play that exploits one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stratagem.games.base import Json
from stratagem.viewer.audited import audited
from stratagem.viewer.checks.catalogue import checks_of
from stratagem.viewer.library import Library
from stratagem.viewer.listing import LONGEST_PAGE
from stratagem.viewer.parameters import given, number, share
from stratagem.viewer.regrets import exploiting_line, regrets_page
from stratagem.viewer.replays import told
from stratagem.viewer.searching import Search, searched
from stratagem.viewer.subjects import subject_of, subjects_of

_WORST = 10
"""Information sets of a page where a request does not say."""
_MOST = 200
_PAGE = 50
"""Decisions of a page where a request does not say."""


def _subjects(library: Library, asked: Mapping[str, str]) -> Json:
    return subjects_of(library, asked.get("game", ""))


def _regrets(library: Library, asked: Mapping[str, str]) -> Json:
    limit = max(1, min(number(asked, "limit", _WORST), _MOST))
    page = regrets_page(subject_of(library, asked), asked.get("order") or "regret", number(asked, "offset", 0), limit)
    return {**page, "audit": audited(library, asked.get("record", ""), asked.get("player", ""))}


def _line(library: Library, asked: Mapping[str, str]) -> Json:
    return told(exploiting_line(subject_of(library, asked), number(asked, "set", 0)))


def _decisions(library: Library, asked: Mapping[str, str]) -> Json:
    limit = max(1, min(number(asked, "limit", _PAGE), LONGEST_PAGE))
    wanted = Search(
        illegal=asked.get("illegal", "") == "1",
        surprise=share(asked, "surprise"),
        regret=share(asked, "regret"),
        step=number(asked, "step", 0) if asked.get("step") else None,
        order=asked.get("order") or "record",
        **{name: asked.get(name, "") for name in ("player", "game", "purpose", "outcome", "how", "signal")},
    )
    return searched(library.record(given(asked, "record")), wanted, offset=number(asked, "offset", 0), limit=limit)


def _checks(library: Library, asked: Mapping[str, str]) -> Json:
    folder = library.record(given(asked, "record"))
    return checks_of(folder, library.run_of(folder))


ANSWERS: Mapping[str, Callable[[Library, Mapping[str, str]], Json]] = {
    "subjects": _subjects,
    "regrets": _regrets,
    "line": _line,
    "decisions": _decisions,
    "checks": _checks,
}
"""Answers by the name of their address."""
