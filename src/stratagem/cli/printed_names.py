"""Names of players in the tables of `stratagem eval`: a long one is a number, which stands above the tables in full."""

from __future__ import annotations

from collections.abc import Iterator

from stratagem.api.console import Text
from stratagem.evaluation.evaluate import CHANCE, GameResult

LONGEST = 48
"""Number of characters from which a name is replaced by its number."""


def printed_name(name: str, result: GameResult) -> str:
    """Return the name without the family in the table's title; of a long name its number in brackets."""
    bare = _bare(name, result)
    long = _long_names(result)
    return f"[{long.index(bare) + 1}]" if bare in long else bare


def name_lines(result: GameResult) -> Iterator[Text]:
    """Yield a line for each number: the name that it stands for."""
    for number, name in enumerate(_long_names(result), 1):
        yield Text(f"  [{number}] is {name}")


def _long_names(result: GameResult) -> list[str]:
    """Return the long names of the players, of their opponents and of the players in disguise, each once."""
    names = [row.player for row in result.rows]
    names += [matchup.opponent for row in result.rows for matchup in row.matchups]
    names += [other.player for row in result.rows for other in row.in_other_words]
    bare = dict.fromkeys(_bare(name, result) for name in names)
    return [name for name in bare if len(name) > LONGEST]


def _bare(name: str, result: GameResult) -> str:
    bare = name.removeprefix(f"{result.game.spec.family}/")
    return "random (chance)" if bare == CHANCE else bare
