"""Games that a stranger may have named: in a record, a run folder, a recipe or a page, and not on this command line.

A game allocates what its parameters say. So a name that the user has not given is checked before anything is made:
the parameters of our games against the largest values that they declare, and OpenSpiel's games by a limited trial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import isclass
from typing import Any, get_type_hints

from stratagem.base.consent.table import allow_named, is_given
from stratagem.base.errors import BadParameter
from stratagem.base.named_files import DESCRIPTION_SUFFIX
from stratagem.base.registry import parse_call
from stratagem.games.base import Game
from stratagem.games.catalogue import WRAPPERS, describe, game_factory, make_game
from stratagem.games.quiz.rules_quiz import split_kind
from stratagem.games.spiel.engine import check_text
from stratagem.games.spiel.parameter_files import check_files
from stratagem.games.spiel.trial import MEMORY, SECONDS, is_small

_LONGEST = 2000
"""Largest number of characters of a name."""
_DEEPEST = 3
"""Largest number of games within one another."""
NUMBER, LENGTH = 1e9, 64
"""Largest number, and largest number of elements, of a parameter for which the game declares nothing."""
_LISTS = 4
"""Largest depth of lists in lists."""
_HOW = "give its name in your own command or call, or trust the folder by `stratagem trust`"


def note_made(game: Game[Any]) -> None:
    """Take a game that the user gave, and the games within it, as named by the user."""
    allow_named([describe(game)])  # as results write it
    for inner in vars(game).values():
        if isinstance(inner, Game):
            note_made(inner)


def make_bounded_game(text: str | Game[Any]) -> Game[Any]:
    """Make the game of a name that a stranger may have given; see `make_game`."""
    if isinstance(text, str):
        check_bounds(text)
    return make_game(text)


def check_bounds(text: str, depth: int = 1) -> None:
    """Refuse a name that the user has not allowed, and whose game reads files or may be too large."""
    if is_given(text):
        return
    if len(text) > _LONGEST or depth > _DEEPEST:
        raise BadParameter(
            f"The name of the game {text[:60]!r}… has more than {_LONGEST} characters, or more than {_DEEPEST} games "
            "within one another."
        )
    prefix, colon, rest = text.partition(":")
    if colon and prefix == "spiel":
        _check_spiel(rest)
    elif colon and prefix == "rules":
        check_bounds(split_kind(rest)[1], depth + 1)
    else:
        _check_call(text, depth)


def _check_spiel(text: str) -> None:
    """Refuse a game of OpenSpiel whose file nobody named, or that does not pass its trial."""
    check_text(text)
    check_files(text)
    if not is_small(text):
        raise BadParameter(
            f"The game spiel:{text} cannot be made within {MEMORY >> 20} MiB and {SECONDS} seconds, beside those that "
            f"were made before, so a record, a recipe or a page cannot name it: {_HOW}."
        )


def _check_call(text: str, depth: int) -> None:
    call = parse_call(text)
    options, args = dict(call.kwargs), list(call.args)
    if call.name in WRAPPERS:
        inner = args.pop(0) if args else options.pop("game", None)
        if isinstance(inner, str):
            check_bounds(inner, depth + 1)
        factory: Callable[..., Any] = WRAPPERS[call.name]
    elif call.name.endswith(DESCRIPTION_SUFFIX):
        return  # the reader of descriptions has bounds for everybody
    elif args or options:
        factory = game_factory(call.name)
    else:
        return
    largest = largest_of(factory)
    for option, values in _declared_table(factory, "costly").items():
        if options.get(option) in values:
            raise BadParameter(
                f"{call.name} has {option}={options[option]} only where the user names it, since it takes long: {_HOW}."
            )
    for option, value in (*((f"{number}. parameter", value) for number, value in enumerate(args, 1)), *options.items()):
        check_value(call.name, option, value, largest.get(option))


def largest_of(factory: Callable[..., Any]) -> Mapping[str, float]:
    """Return the largest values that the game of a factory declares."""
    return _declared_table(factory, "largest")


def _declared_table(factory: Callable[..., Any], name: str) -> Mapping[str, Any]:
    """Return a table that the class of a factory's games declares."""
    while isinstance(factory, partial):
        factory = factory.func
    kind = factory if isclass(factory) else get_type_hints(factory).get("return")
    declared = getattr(kind, name, {})
    return declared if isinstance(declared, Mapping) else {}


def check_value(game: str, option: str, value: object, largest: float | None, depth: int = 0) -> None:
    """Refuse a number beyond the largest, in either direction, and a list with more elements than that.

    Numbers in lists have the bound of those for which nothing is declared.
    """
    most = NUMBER if largest is None or depth else largest
    if isinstance(value, int | float) and not -most <= value <= most:  # nan too
        raise BadParameter(
            f"{game} has `{option}` of at most {most:g} where a record, a recipe or a page names it, not "
            f"{_format_number(value)}: {_HOW}."
        )
    if isinstance(value, str) or not isinstance(value, Iterable):
        return
    items = [*value.keys(), *value.values()] if isinstance(value, Mapping) else list(value)
    length = LENGTH if largest is None else largest
    if len(items) > length or depth > _LISTS:
        raise BadParameter(
            f"{game} has `{option}` with at most {length:g} elements, and lists {_LISTS} deep, where a record, a "
            f"recipe or a page names it: {_HOW}."
        )
    for item in items:
        check_value(game, option, item, largest, depth + 1)


def _format_number(value: object) -> str:
    """Return a number in a few characters."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 20 else f"{text[:20]}…"
