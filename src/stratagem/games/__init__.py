"""Rules: games, their states and views, the choices of a seat, and keyed chance."""

from stratagem.games.base import ActionPart, Game, RoundResult, Seat, Stakes, State, View
from stratagem.games.catalogue import describe, game_names, make_game
from stratagem.games.choices import Choices, Flat, ParsedReply, Sheet, Slot
from stratagem.games.key import Chance, Key
from stratagem.games.package import GamePackage
from stratagem.games.safety.base import Safety, Weights
from stratagem.games.spec import GameSpec

__all__ = [
    "ActionPart",
    "Chance",
    "Choices",
    "Flat",
    "Game",
    "GamePackage",
    "GameSpec",
    "Key",
    "ParsedReply",
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
