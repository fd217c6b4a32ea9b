"""Names that a shell completes: from the tables of names, without a library of models, and without running a file.

The parser keeps those that begin with the word so far. Where there is none, shells complete paths.
"""

from __future__ import annotations

from collections.abc import Iterable

import typer

from stratagem.base.errors import StratagemError
from stratagem.base.named_files import SUFFIX
from stratagem.base.visible import visible
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import game_names

_GAME = ("game", "suite")
"""Parameters that name the game of a command."""


def games() -> list[str]:
    """Return the games."""
    return _words(game_names())


def suites() -> list[str]:
    """Return the suites and the games."""
    from stratagem.measure.suites import suite_names

    return _words([*suite_names(), *game_names()])


def players(context: typer.Context) -> list[str]:
    """Return the players of the game that the command names so far, or those of all games."""
    from stratagem.players.catalogue import PLAYERS, WRAPPERS, player_names
    from stratagem.players.patterns import PATTERNS

    whole = [pattern for pattern in PATTERNS if pattern == pattern.casefold() and "(" not in pattern]
    # after an option without its value, the words before it are left over
    texts = [*(str(context.params[name]) for name in _GAME if context.params.get(name)), *context.args]
    try:
        own = player_names(make_bounded_game(texts[0])) if texts and SUFFIX not in texts[0] else []
    except StratagemError:
        own = []  # a suite, or a name that is none
    return _words([*(own or [name.rpartition("/")[2] for name in PLAYERS if name not in WRAPPERS]), *whole])


def recipes() -> list[str]:
    """Return the shipped recipes."""
    from stratagem.training.shipped import recipe_names

    return _words(recipe_names())


def styles() -> list[str]:
    """Return the prompt styles."""
    from stratagem.language.prompting.catalogue import style_names

    return _words(style_names())


def models() -> list[str]:
    """Return the language models that need no more than a name."""
    from stratagem.language.models.reference import NAMED

    return _words(NAMED)


def metrics() -> list[str]:
    """Return the metrics."""
    from stratagem.measure.metrics import METRICS

    return _words(METRICS)


def engines() -> list[str]:
    """Return the engines."""
    from stratagem.language.engines.catalogue import engines as known

    return _words(known.names())


def trackers() -> list[str]:
    """Return the trackers of metrics."""
    from stratagem.training.runs.trackers.catalogue import tracker_names

    return _words(tracker_names())


def _words(names: Iterable[str]) -> list[str]:
    """Return each name once; one that is no single word of visible characters is left out."""
    return [name for name in dict.fromkeys(names) if name == visible(name) and not set(name) & set(" \n'\"")]
