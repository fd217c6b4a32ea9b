"""Final evaluation of ShapeLLM: games of several lengths between the final policies, without learning."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from stratagem.algorithms.shapellm.metrics import joint_action_metrics, payoff_metrics
from stratagem.algorithms.shapellm.recipe import FinalEvaluationSettings
from stratagem.algorithms.shapellm.seat import Seat
from stratagem.games.base import Game, Json
from stratagem.games.key import Key
from stratagem.play.match import Match, Setup
from stratagem.workers.shards import played


def final_rows(game: Game[Any], seats: Mapping[str, Seat], settings: FinalEvaluationSettings, key: Key) -> list[Json]:
    """Return a row for each length: payoff per step by seat with standard error, null actions, joint actions."""
    return [
        _row(variant, seats, settings.episodes, key.at("rounds", variant.spec.rounds or 0))
        for variant in _lengths(game, settings)
    ]


def _lengths(game: Game[Any], settings: FinalEvaluationSettings) -> list[Game[Any]]:
    """Return the game at every length of the settings, or the game itself."""
    if settings.rounds:
        return [replace(cast("Any", game), rounds=rounds) for rounds in settings.rounds]
    return [game]


def _row(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Json:
    episodes = played(_setups(game, seats, games, key))
    each = [payoff_metrics([episode], list(seats)) for episode in episodes]
    figures = payoff_metrics(episodes, list(seats)) | joint_action_metrics(game, episodes)
    for name in seats:
        figures[f"{name}/pay_error"] = _error([metrics[f"{name}/pay"] for metrics in each])
    return {"game": game.spec.name, "rounds": game.spec.rounds, "games": games, "figures": figures}


def _setups(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Iterator[Setup]:
    match = Match(game, [seat.player for seat in seats.values()])
    for number in range(games):
        at = key.at("game", number)
        yield Setup(id=f"test-{game.spec.rounds}/{number}", match=match, slots=tuple(range(len(seats))), key=at)


def _error(values: Sequence[float]) -> float:
    """Return the standard error of the mean over games."""
    known = [value for value in values if math.isfinite(value)]
    if len(known) < 2:
        return math.nan
    mean = math.fsum(known) / len(known)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1) / len(known))
