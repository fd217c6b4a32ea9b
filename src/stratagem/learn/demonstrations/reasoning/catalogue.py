"""Registry of reasoning by family of games and demonstrator."""

from __future__ import annotations

from typing import Any

from stratagem.base.errors import BrokenEntry
from stratagem.games.base import View
from stratagem.games.catalogue import installed_part
from stratagem.games.key import Key
from stratagem.games.packages import PACKAGES
from stratagem.learn.demonstrations.reasoning.base import Reasoners, draw_wording

VERSION = 1
"""Version of the wordings, raised when a text changes; data sets record it."""

REASONERS: dict[str, Reasoners] = {
    family: reasoners for package in PACKAGES for family, reasoners in package.parts("reasons").items()
}
"""Reasoners by family of games."""


def reasoning(demonstrator: str, view: View[Any], action: str, key: Key) -> str:
    """Draw a wording of the demonstrator's reasons for an action; empty for a demonstrator without reasons."""
    own = installed_part("reasons", view.game)
    reasoners = REASONERS.get(view.game.spec.family, {}) if own is None else own.part
    reasoner = reasoners.get(demonstrator)
    try:
        return draw_wording(reasoner(view, action), key) if reasoner else ""
    except Exception as error:
        if own is None:
            raise  # a defect of ours keeps its traceback
        raise BrokenEntry("reasoning", own.entry, error, demonstrator) from error
