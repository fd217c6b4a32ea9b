"""Rules: games, their states and views, the choices of a seat, and keyed chance."""

from stratagem.games.base import Game, Part, RoundResult, Seat, Stakes, State, View
from stratagem.games.catalogue import describe, game_names, make_game
from stratagem.games.choices import Choices, Flat, Reply, Sheet, Slot
from stratagem.games.key import Chance, Key
from stratagem.games.safety.base import Safety, Weights
from stratagem.games.spec import GameSpec

__all__ = [
    "Chance",
    "Choices",
    "Flat",
    "Game",
    "GameSpec",
    "Key",
    "Part",
    "Reply",
    "RoundResult",
    "Safety",
    "Seat",
    "Sheet",
    "Slot",
    "Stakes",
    "State",
    "View",
    "Weights",
    "describe",
    "game_names",
    "make_game",
]
