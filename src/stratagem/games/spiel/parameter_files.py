"""Parameters of OpenSpiel's games that name a file, which the engine reads with the rights of the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from stratagem.base.consent.table import may_read
from stratagem.base.errors import BadParameter

_TEXTS = """
betting bettingAbstraction bidding_rule blind blind_schedule boardCards fen firstPlayer forbidden_states gameversion
grid handReaches history initial_distribution initial_distribution_value maxRaises network numBoardCards
observation_type obstype payoff payoffs pile_sizes points_order positional_reward positional_reward_value raiseSize
returns_type scoring_type ship_sizes ship_values stack string_rep subgame
"""
TEXTS = frozenset(_TEXTS.split())
"""Parameters whose text names no file. Any other text may name one, so a parameter of a later OpenSpiel is refused."""


@lru_cache(maxsize=1024)
def files_in_game(text: str) -> tuple[str, ...]:
    """Return the values of a game's text that name files, those of games within it too."""
    import pyspiel

    try:
        return tuple(_files(pyspiel.game_parameters_from_string(text), pyspiel))
    except (RuntimeError, TypeError, ValueError) as error:  # no text of parameters at all
        raise BadParameter(f"OpenSpiel cannot read the name of the game {text[:100]!r}.") from error


def check_files(text: str) -> None:
    """Refuse a game whose file the user has not named."""
    for file in files_in_game(text):
        if not may_read(Path(file)):
            raise BadParameter(
                f"The game {text[:100]!r} would read the file {file!r}, which you have not named: if you trust it, add "
                f"`sg.allow({str(Path(file).resolve())!r})`."
            )


def _files(given: Mapping[str, Any], pyspiel: Any) -> Iterator[str]:
    kinds = {kind.short_name: kind.parameter_specification for kind in pyspiel.registered_games()}
    declared = kinds.get(str(given.get("name")), {})
    for option, value in given.items():
        if isinstance(value, Mapping):
            yield from _files(value, pyspiel)
        elif isinstance(value, str) and option not in {"name", *TEXTS} and isinstance(declared.get(option, ""), str):
            yield value
