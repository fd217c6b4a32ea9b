"""Check of one figure of a card, or of a part of its record."""

from __future__ import annotations

from typing import Literal, NamedTuple

Agreement = Literal["agrees", "differs", "not recomputed"]


class FigureCheck(NamedTuple):
    """Figure of a card, or a part of its record, with what was recomputed."""

    name: str
    agreement: Agreement
    card: float | None = None
    recomputed: float | None = None
    detail: str = ""
    """Field that differs, or the reason why nothing was recomputed."""
