"""Every game by name, and the text that makes a game again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any

from stratagem.errors import BadParameter
from stratagem.games.auction import Auction
from stratagem.games.base import Game
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.kuhn import Kuhn
from stratagem.games.negotiation_v1 import Pie
from stratagem.games.negotiation_v2 import Division
from stratagem.games.public_goods import PublicGoods
from stratagem.games.quiz import Quiz
from stratagem.games.repeated import REPEATED
from stratagem.games.spiel import SPIEL_GAMES, spiel
from stratagem.registry import Call, Registry, parse_call

GAMES: dict[str, Callable[..., Game[Any]]] = {
    **REPEATED,
    "auction": Auction,
    "public-goods": PublicGoods,
    "negotiation-v1": Pie,
    "negotiation-v2": Division,
    "kuhn": Kuhn,
    "quiz": Quiz,
    "diplomacy": Diplomacy,
    **SPIEL_GAMES,
}
"""Games by name; keyword arguments are their parameters."""

PREFIXES: dict[str, Callable[[str], Game[Any]]] = {"spiel": spiel}
"""Families of games whose names carry a raw tail after a colon."""

_registry: Registry[Game[Any]] = Registry("game", GAMES, "stratagem.games")


def game_names() -> list[str]:
    """Return every name that `make_game` knows, other packages' included."""
    return _registry.names()


def make_game(text: str) -> Game[Any]:
    """Make the game that a text names: `kuhn`, `ipd(rounds=20)`, `spiel:go(board_size=5)`."""
    prefix, colon, rest = text.partition(":")
    if colon and prefix in PREFIXES:
        return PREFIXES[prefix](rest)
    return _registry.make(parse_call(text))


@lru_cache(maxsize=1024)
def describe(game: Game[Any]) -> str:
    """Return the text from which `make_game` makes this game again.

    Its name and every parameter that is not the default.
    """
    name = game.spec.name
    if name.partition(":")[0] in PREFIXES and ":" in name:
        return name
    if name not in _registry:
        name = "matrix"
    usual = _usual(name)
    options = [
        f"{field.name}={value!r}"
        for field in fields(game)  # type: ignore[arg-type]
        if (value := getattr(game, field.name)) != (field.default if usual is None else getattr(usual, field.name))
    ]
    return f"{name}({', '.join(options)})" if options else name


@lru_cache(maxsize=256)
def _usual(name: str) -> Game[Any] | None:
    """Return the game with all its defaults; None where a parameter has none."""
    try:
        return _registry.make(Call(name))
    except BadParameter:
        return None
