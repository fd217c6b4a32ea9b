"""Rules: games, their states and views, the choices of a seat, and keyed chance."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
_MODULES = {
    "catalogue": ("describe", "game_names", "make_game"),
    "choices": ("Choices", "Flat", "ParsedReply", "Sheet", "Slot"),
    "key": ("Chance", "Key"),
    "package": ("GamePackage",),
    "safety.base": ("Safety", "Weights"),
    "spec": ("GameSpec",),
}
"""Names of each module but `base`. A name is imported when it is asked for, since the catalogue imports every game."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        if not name.startswith("_") and find_spec(f"{__name__}.{name}"):  # a module, such as `stratagem.games.talk`
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = next((module for module, names in _MODULES.items() if name in names), "base")
    globals()[name] = found = getattr(import_module(f"{__name__}.{module}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
