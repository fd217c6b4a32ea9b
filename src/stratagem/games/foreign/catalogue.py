"""Environments by name: `textarena:KuhnPoker-v0`, `pettingzoo:tictactoe_v3`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from stratagem.base.errors import BadParameter, StratagemError, UnknownName
from stratagem.base.options import whole
from stratagem.base.registry import parse_call
from stratagem.games.foreign.environment import Environment
from stratagem.games.foreign.game import ForeignGame
from stratagem.games.foreign.translations import TRANSLATIONS
from stratagem.games.key import Key

_VERSION = re.compile(r"[-_]v\d+.*$")


class MissingPackage(StratagemError):
    """Package of an environment that is not installed."""

    def __init__(self, package: str, install: str, error: ImportError) -> None:
        reason = f"{error}".rstrip(".")
        super().__init__(f"{package} cannot be loaded ({reason}): pip install {install}.")


def _textarena(name: str, options: Mapping[str, Any]) -> Environment:
    from stratagem.games.foreign.textarena_env import TextArenaEnvironment

    try:
        textarena: Any = import_module("textarena")
    except ImportError as error:
        raise MissingPackage("textarena", "textarena", error) from error
    registry = textarena.envs.registration.ENV_REGISTRY
    if name not in registry:
        raise UnknownName("environment of textarena", name, [known for known in registry if known.endswith("-v0")])
    players = options.get("num_players", 2)
    whole("textarena", "num_players", players, 1)
    own = {option: value for option, value in options.items() if option != "num_players"}
    return TextArenaEnvironment(textarena.make(name, **own), players)


def _pettingzoo(name: str, options: Mapping[str, Any]) -> Environment:
    from stratagem.games.foreign.pettingzoo_env import PettingZooEnvironment

    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    path = name if "/" in name else f"classic/{name}"
    if not re.fullmatch(r"\w+/\w+", path):
        raise BadParameter(f"{name!r} is no environment of pettingzoo: write it as pettingzoo:classic/tictactoe_v3.")
    try:
        module = import_module(f"pettingzoo.{path.replace('/', '.')}")
    except ImportError as error:
        if error.name and error.name.startswith("pettingzoo.") and (known := _modules(path.partition("/")[0])):
            raise UnknownName("environment of pettingzoo", path, known) from error
        raise MissingPackage(f"pettingzoo:{path}", f"'pettingzoo[{path.partition('/')[0]}]'", error) from error
    return PettingZooEnvironment(module.env(**options))


def _modules(family: str) -> list[str]:
    """Return the environments of a family of PettingZoo's; none where it is not installed."""
    try:
        folder = import_module(f"pettingzoo.{family}").__path__
    except ImportError:
        return []
    return [f"{family}/{module.name}" for module in iter_modules(folder) if _VERSION.search(module.name)]


PACKAGES: dict[str, Callable[[str, Mapping[str, Any]], Environment]] = {
    "textarena": _textarena,
    "pettingzoo": _pettingzoo,
}
"""Packages by the prefix of their environments."""


def is_foreign(text: str) -> bool:
    """Return whether a text names an environment of another package."""
    package, colon, _ = text.partition(":")
    return bool(colon) and package.strip().casefold() in PACKAGES


def make_foreign(text: str) -> ForeignGame:
    """Make the environment that a text names, with options in brackets."""
    package, _, rest = text.strip().partition(":")
    package = package.casefold()
    call = parse_call(rest)
    if call.args:
        raise BadParameter(f"Give the options of {call.name} by name, as in {text.partition('(')[0]}(option=value).")
    if "render_mode" in call.kwargs:
        raise BadParameter(f"An audit shows no pictures, which would slow it down: leave render_mode out of {text}.")
    translation = TRANSLATIONS.get(f"{package}:{_VERSION.sub('', call.name.rpartition('/')[2])}")

    def make(**options: Any) -> Environment:
        return PACKAGES[package](call.name, {**call.kwargs, **options})

    game = ForeignGame(text, make, translation)
    _check_begun(game)
    return game


def _check_begun(game: ForeignGame) -> None:
    """Refuse an environment that cannot be begun, or of which nothing says which actions are legal."""
    try:
        state = game.start(Key(0))
        for seat in state.to_act:
            state.view(seat)
    except StratagemError:
        raise
    except Exception as error:  # an environment of another package may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise BadParameter(f"{game.name} cannot be begun: {reason}.") from error
