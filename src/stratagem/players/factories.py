"""Factories of players whose modules load an engine, imported when they are first called."""

from __future__ import annotations

from typing import Any

from stratagem.players.base import Player


def perfect(**options: Any) -> Player:
    """Make perfect play."""
    from stratagem.players.solvers import Perfect  # loads an engine

    return Perfect(**options)


def mcts(tail: str) -> Player:
    """Make the player `mcts:TAIL`."""
    from stratagem.players.tree_search import mcts  # as above

    return mcts(tail)


def ismcts(tail: str) -> Player:
    """Make the player `ismcts:TAIL`."""
    from stratagem.players.tree_search import ismcts  # as above

    return ismcts(tail)


def commander(name: str, **options: Any) -> Player:
    """Make a scripted player of Diplomacy."""
    from stratagem.players.diplomacy import COMMANDERS  # loads numpy

    return COMMANDERS[name](**options)


def cfr(tail: str) -> Player:
    """Make the player `cfr:TAIL`."""
    from stratagem.players.solvers import cfr  # as above

    return cfr(tail)


def openspiel(tail: str) -> Player:
    """Make the player `openspiel:TAIL`."""
    from stratagem.players.spiel_bot import registered_bot  # as above

    return registered_bot(tail)


def search(*players: Player, **options: Any) -> Player:
    """Make the search around some players."""
    from stratagem.players.search import search as made  # as above

    return made(*players, **options)
