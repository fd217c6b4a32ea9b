"""Exploitability of an agent by its audit, for a record that belongs to one."""

from __future__ import annotations

from stratagem.auditing.card import FILE, read_card
from stratagem.auditing.plan import RECORDS
from stratagem.errors import StratagemError
from stratagem.games.base import Json
from stratagem.viewer.library import Library


def audited(library: Library, record: str, player: str) -> Json | None:
    """Return the figure with its limits and the episode that shows it; None where the record is of no audit."""
    if not record:
        return None
    folder = library.record(record)
    card = folder.parent.parent / FILE
    if folder.parent.name != RECORDS or not card.is_relative_to(library.root) or not card.is_file():
        return None
    try:
        found = read_card(card)
    except StratagemError:
        return None
    if player.rpartition("@")[0] != found.agent:
        return None
    figures = [one for one in found.figures if one.name.endswith(".exploitability")]
    own = [one for one in figures if one.record == f"{RECORDS}/{folder.name}" or len(figures) == 1]
    if not own:
        return None
    names = ("value", "lower", "upper", "interval", "n", "episode", "unit")
    return {name: getattr(own[0], name) for name in names}
