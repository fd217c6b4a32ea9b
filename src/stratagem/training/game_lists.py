"""Lists of games in recipes: distributions stand as their games, and validation is apart from training by digest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator

from stratagem.base.errors import StratagemError
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.drawn.distribution import GameStream, expand_games, is_stream
from stratagem.games.drawn.drawing import draw_game
from stratagem.games.drawn.seeded import DrawnGame


def _expand(games: tuple[str, ...]) -> tuple[str, ...]:
    try:
        for game in filter(is_stream, games):
            GameStream.read(game)
        return tuple(expand_games(games))
    except StratagemError as error:
        raise ValueError(str(error).rstrip(".")) from error


GameNames = Annotated[tuple[str, ...], AfterValidator(_expand)]
"""Names of games, in which `draws(FAMILY, COUNT, seed=S)` stands as the names of its games."""


def named_games(games: Sequence[str], apart: Sequence[str] = ()) -> list[Game[Any]]:
    """Make the games of a list; a stream stands as the games of its first iteration."""
    made: list[Game[Any]] = []
    for text in games:
        if is_stream(text):
            first = GameStream.read(text).games_of(0).games(apart=drawn_digests(apart))
            made += [make_bounded_game(one.name) for one in first]
        else:
            made.append(make_bounded_game(text))
    return made


def drawn_digests(games: Sequence[str]) -> frozenset[str]:
    """Return the canonical digests of the drawn games of a list, by which games are told apart whatever their seeds."""
    found = (make_bounded_game(text) for text in games if text.startswith("drawn"))
    return frozenset(
        draw_game(game.seed, game.family, game.size).digest for game in found if isinstance(game, DrawnGame)
    )


def check_apart(training: Sequence[str], setting: str, held_out: Sequence[str]) -> None:
    """Refuse games of an evaluation that training meets, by their digest; a stream leaves them out by itself."""
    for game in held_out:
        if is_stream(game):
            raise ValueError(f"`{setting}` has {game}, and only training takes a stream: write draws(...) there")
        if drawn_digests([game]) & drawn_digests([one for one in training if not is_stream(one)]):
            raise ValueError(f"`{setting}` has {game}, which training meets: name another seed")
