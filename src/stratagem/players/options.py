"""The check of an option that a player is made with, as games have it."""

from __future__ import annotations

from stratagem.options import within

__all__ = ["within"]
