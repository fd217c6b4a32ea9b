"""Every game by name, and the text that makes a game again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass
from functools import lru_cache
from typing import Any

from stratagem.base.errors import BadParameter, StratagemError, UnknownName, WrongKind
from stratagem.base.file_modules import BrokenFile, file_name_of
from stratagem.base.named_files import DESCRIPTION_SUFFIX, find_file, split_name
from stratagem.base.registry import NamedCall, Registry, parse_call
from stratagem.games.base import Game, State
from stratagem.games.choices import Choices
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.installed import GameRegistry, InstalledPart
from stratagem.games.key import Key
from stratagem.games.matrix.rules import MatrixGame
from stratagem.games.package import PartKind
from stratagem.games.packages import PACKAGES
from stratagem.games.quiz.rules_quiz import RulesQuiz, split_kind
from stratagem.games.spec import GameSpec
from stratagem.games.spiel import spiel
from stratagem.games.talk import Talk, talk_in

GAMES: dict[str, Callable[..., Game[Any]]] = {
    name: make for package in PACKAGES for name, make in package.games().items()
}
"""Games by name; keyword arguments are their parameters."""

WRAPPERS: dict[str, Callable[..., Game[Any]]] = {"talk": Talk}
"""Games around other games by name; the first argument is the game within."""


def _rules(tail: str) -> Game[Any]:
    """Return the quiz about the rules of a game."""
    kind, text = split_kind(tail)
    game = make_game(text)
    return RulesQuiz(asked=game, text=describe(game), kind=kind)


PREFIXES: dict[str, Callable[[str], Game[Any]]] = {"spiel": spiel, "rules": _rules}
"""Families of games whose names carry a raw tail after a colon."""

SEVERAL, STREAM = "draws", "stream"
"""Names that stand for several drawn games, where a list of games is taken: `games.drawn.distribution`."""

ENVIRONMENTS = ("textarena", "pettingzoo")
"""Prefixes of environments of other packages, which `games.foreign` audits."""

FORMS = (*(f"{name}(GAME)" for name in WRAPPERS), *(f"{name}:GAME" for name in PREFIXES))
"""Names that carry another name."""

REGISTRY = GameRegistry(GAMES, "stratagem.games", FORMS)
_wrappers: Registry[Game[Any]] = Registry("game", WRAPPERS, "", Game)


def game_names() -> list[str]:
    """Return every name that `make_game` knows, other packages' included."""
    return REGISTRY.names()


def game_factory(name: str) -> Callable[..., Game[Any]]:
    """Return the class or the function that makes the games of a name."""
    return REGISTRY.factory(name)


def installed_part(kind: PartKind, game: Game[Any]) -> InstalledPart | None:
    """Return a part of a game that its installed package declares; None of a game without such a declaration."""
    return REGISTRY.part(kind, game)


def make_game(text: str | Game[Any]) -> Game[Any]:
    """Make the game that a text names: `kuhn`, `ipd(rounds=20)`, `spiel:go(board_size=5)`, `mygame.py:Volunteer`.

    `mygame.toml` is a file that describes a game as data.

    A game is returned as it is. A name that is not of your own is made by `games.bounded.make_bounded_game`.
    """
    if isinstance(text, Game):
        _check_value(type(text).__name__, text)
        return text
    if not isinstance(text, str):
        raise WrongKind("game", "a name such as `kuhn` or `spiel:kuhn_poker`, or a `stratagem.games.Game`", text)
    prefix, colon, rest = text.partition(":")
    if colon and prefix in PREFIXES:
        return PREFIXES[prefix](rest)
    if prefix.casefold() in ENVIRONMENTS and colon:
        raise BadParameter(
            f"{text} is an environment of another package, which is audited by `stratagem verify-game` and not played."
        )
    call = _read_call(text)
    game = _wrappers.make(_around(call)) if call.name in WRAPPERS else REGISTRY.make(call)
    if named := split_name(call.name):
        _check_value(call.name, game)
        try:
            _check_begun(call.name, game)
        except StratagemError:
            raise
        except Exception as error:
            raise BrokenFile(call.name, find_file(named[0]), error) from error
    elif call.name not in GAMES and call.name not in WRAPPERS:
        _check_named(call.name, game)
    return game


def _read_call(text: str) -> NamedCall:
    """Read the name of one game; a file of data is the game that it describes."""
    call = parse_call(text)
    if call.name in (SEVERAL, STREAM):
        raise BadParameter(
            f"{text} names several games, and one is needed here, such as `drawn(seed=1, family=cards)`."
        )
    if call.name.endswith(DESCRIPTION_SUFFIX):
        if odd := [*map(repr, call.args), *(name for name in call.kwargs if name != "wording")]:
            raise BadParameter(
                f"{call.name} is a game as its file describes it: its one option is wording, not {odd[0]}."
            )
        return NamedCall("described", call.args, {**call.kwargs, "file": call.name})
    return call


def _check_named(name: str, game: Game[Any]) -> None:
    """Refuse a game of a package that calls itself by a name of no game: its records could not be read."""
    if not isinstance(game, Game):
        raise BadParameter(f"{name} makes {type(game).__name__}, which is no game.")
    _check_value(name, game)
    own = describe(game).partition("(")[0]
    if own not in REGISTRY and own not in WRAPPERS and own.partition(":")[0] not in PREFIXES:
        raise BadParameter(
            f"The game {name} is {own!r} in its spec, and no game is registered by this name: let the `name` of the "
            "spec be that of the entry point."
        )


def _around(call: NamedCall) -> NamedCall:
    """Make the game within, which the first argument names."""
    options = dict(call.kwargs)
    inner = call.args[0] if call.args else options.pop("game", None)
    if inner is None or len(call.args) > 1:
        raise BadParameter(f"{call.name} goes around one other game: write {call.name}(GAME, option=value).")
    return NamedCall(call.name, (), {"game": make_game(inner), **options})


def _check_value(name: str, game: Game[Any]) -> None:
    """Refuse a game of a file that is no value: equal games play alike, and are named by their parameters."""
    if not is_dataclass(type(game)):
        raise BadParameter(f"{name} has no parameters to be named by: write @dataclass(frozen=True) above its class.")
    try:
        hash(game)
    except TypeError as error:
        raise BadParameter(
            f"{name} has a parameter that can change ({error}): declare it with @dataclass(frozen=True), and make its "
            "lists tuples in __post_init__."
        ) from error


@lru_cache(maxsize=256)
def _check_begun(name: str, game: Game[Any]) -> None:
    """Refuse a game of a file without a spec, a state or choices, before it is asked for them."""
    if not isinstance(game.spec, GameSpec):
        raise BadParameter(f"{name} has {game.spec!r} as its spec: it must be a GameSpec.")
    if not issubclass(getattr(game, "state", object), State):
        raise BadParameter(f"{name} has no state: write state = MyState in its class, with a subclass of State.")
    state = game.start(Key(0))
    for seat in state.to_act[:1]:
        if not isinstance(choices := state.view(seat).choices, Choices):
            raise BadParameter(f"{name} has {choices!r} as the choices of seat {seat}: they must be a Flat or a Sheet.")


@lru_cache(maxsize=1024)
def describe(game: Game[Any]) -> str:
    """Return the text from which `make_game` makes this game again.

    Its name and every parameter that is not the default.
    """
    name = file_name_of(type(game)) or game.spec.name
    if isinstance(game, MatrixGame) and not _is_of_name(game, name):
        name = "matrix"
    if name.partition(":")[0] in PREFIXES and ":" in name:
        return name
    if isinstance(game, WrittenGame) and game.file:
        return f"{game.file}(wording={game.wording})" if game.wording is not None else game.file
    if (talk := talk_in(game)) is not None:
        named = [f"{option}={value!r}" for option, value in talk.options.items()]
        return f"talk({', '.join([describe(talk.game), *named])})"
    usual = usual_of(name)
    options = [
        f"{field.name}={_write_value(field, value)}"
        for field in fields(game)  # type: ignore[arg-type]
        if (value := getattr(game, field.name))
        != (field.default if usual is None else getattr(usual, field.name, field.default))
    ]
    return f"{name}({', '.join(options)})" if options else name


def _write_value(field: Field[Any], value: object) -> str:
    """Return the text of a parameter's value: of two equal numbers, that of the declared type."""
    return repr(float(value) if field.type in ("float", float) and isinstance(value, int) else value)


def _is_of_name(game: MatrixGame, name: str) -> bool:
    """Return whether the game registered by a name takes the parameters of this one."""
    return name in REGISTRY and (type(game) is not MatrixGame or isinstance(usual_of(name), MatrixGame))


@lru_cache(maxsize=256)
def usual_of(name: str) -> Game[Any] | None:
    """Return the game with all its defaults; None where a parameter has none, or the game no name."""
    try:
        return REGISTRY.make(NamedCall(name))
    except (BadParameter, UnknownName):
        return None
