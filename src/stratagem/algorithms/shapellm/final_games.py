"""What everybody plays when all is learnt: games of several lengths, of which nothing is remembered afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from stratagem.algorithms.shapellm.figures import paid, visited
from stratagem.algorithms.shapellm.recipe import FinalEvaluationSettings
from stratagem.algorithms.shapellm.seat import Seat
from stratagem.games.base import Game, Json
from stratagem.games.key import Key
from stratagem.play.match import Match, Setup
from stratagem.play.scheduler import played


def tested(game: Game[Any], seats: Mapping[str, Seat], settings: FinalEvaluationSettings, key: Key) -> list[Json]:
    """A row for each length: pay a step by seat with its standard error over games, null actions, joint actions."""
    return [
        _row(one, seats, settings.episodes, key.at("rounds", one.spec.rounds or 0)) for one in _lengths(game, settings)
    ]


def _lengths(game: Game[Any], settings: FinalEvaluationSettings) -> list[Game[Any]]:
    """The game at every length, or as it is."""
    if settings.rounds and hasattr(game, "rounds"):
        return [replace(cast("Any", game), rounds=rounds) for rounds in settings.rounds]
    return [game]


def _row(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Json:
    episodes = played(_setups(game, seats, games, key))
    each = [paid([episode], list(seats)) for episode in episodes]
    figures = paid(episodes, list(seats)) | visited(game, episodes)
    for name in seats:
        figures[f"{name}/pay_error"] = _error([one[f"{name}/pay"] for one in each])
    return {"game": game.spec.name, "rounds": game.spec.rounds, "games": games, "figures": figures}


def _setups(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Iterator[Setup]:
    match = Match(game, [seat.player for seat in seats.values()])
    for number in range(games):
        at = key.at("game", number)
        yield Setup(id=f"test-{game.spec.rounds}/{number}", match=match, slots=tuple(range(len(seats))), key=at)


def _error(values: Sequence[float]) -> float:
    """The standard error of a mean over games."""
    known = [value for value in values if math.isfinite(value)]
    if len(known) < 2:
        return math.nan
    mean = math.fsum(known) / len(known)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1) / len(known))
