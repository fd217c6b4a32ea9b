"""Question on a terminal whether to trust a folder; a module of its own, since every command may ask it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from stratagem.cli.console import errors
from stratagem.consent.needs import Need


def can_ask() -> bool:
    """Return whether somebody sits at this terminal."""
    return sys.stdin.isatty() and errors.is_terminal


def ask_to_trust(needs: Sequence[Need], folder: Path) -> bool:
    """Ask whether to trust a folder, after what its files would do; the console escapes control characters."""
    places = ", ".join(dict.fromkeys(str(need.place) for need in needs))
    errors.print(f"{places} would", markup=False, highlight=False)
    for need in dict.fromkeys(need._replace(text="") for need in needs):
        errors.print(f"  {need.phrase}", markup=False, highlight=False)
    errors.print(
        "What files in a trusted folder name is run, also when they have changed, with your rights.\n"
        f"Trust this folder? {folder} [y/N]",
        markup=False,
        highlight=False,
    )
    return sys.stdin.readline().strip().casefold() in ("y", "yes")
