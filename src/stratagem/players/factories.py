"""Factories of players whose modules load an engine, imported when they are first called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.players.base import Player


def perfect(**options: Any) -> Player:
    """Make perfect play."""
    from stratagem.players.solvers import Perfect  # loads an engine

    _check_options("perfect", options, Perfect)
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

    _check_options(name, options, COMMANDERS[name])
    return COMMANDERS[name](**options)


def cfr(tail: str) -> Player:
    """Make the player `cfr:TAIL`."""
    from stratagem.players.solvers import cfr  # as above

    return cfr(tail)


def openspiel(tail: str) -> Player:
    """Make the player `openspiel:TAIL`."""
    from stratagem.players.spiel_bot import registered_bot  # as above

    return registered_bot(tail)


def arena(player: Player) -> Player:
    """Make the player that asks a model as arenas do."""
    from stratagem.players.arena import ArenaPlayer  # as above

    return ArenaPlayer(player)


def search(*players: Player, **options: Any) -> Player:
    """Make the search around some players."""
    from stratagem.players.search import RolloutSearch  # as above
    from stratagem.players.search import search as made

    _check_options("search", options, RolloutSearch)
    return made(*players, **options)


def _check_options(owner: str, options: dict[str, Any], made: Callable[..., Player]) -> None:
    """Refuse an option that the player does not have; `players` are no option."""
    known = [name for name in signature(made).parameters if name != "players"]
    if unknown := [name for name in options if name not in known]:
        listed = ", ".join(known) or "none"
        raise BadParameter(f"{owner} has no option {', '.join(unknown)}; its options are {listed}.")


COMMANDERS: Mapping[str, Callable[..., Player]] = {
    "dumbbot": partial(commander, "dumbbot"),
    "dumbbot-ported-dipnet": partial(commander, "dumbbot-ported-dipnet"),
    "dumbbot-greedy": partial(commander, "dumbbot-greedy"),
    "dumbbot-tuned": partial(commander, "dumbbot-tuned"),
    "dumbbot-press": partial(commander, "dumbbot-press"),
    "hold": partial(commander, "hold"),
    "territorial": partial(commander, "territorial"),
    "defensive": partial(commander, "defensive"),
    "coordinated": partial(commander, "coordinated"),
}
"""Players by name."""
