"""Cross-play of a record: payoffs a round of everybody against everybody, and ratings, with intervals over deals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.algorithms.league.ratings import Score, elo
from stratagem.games.base import Json
from stratagem.measure.statistics import Estimate, ratio
from stratagem.playing.store import read_columns, shards
from stratagem.show.viewer.episode_index import stamp
from stratagem.show.viewer.runs import finite

MOST = 30
"""Largest number of players of a matrix."""
_COLUMNS = ("id", "game", "players", "slots", "payoffs", "rounds", "group", "purpose", "finished")
_LEFT_OUT = ("probe", "warm_up")
"""Purposes of episodes that are no games of a population."""


class CrossplayEpisode(NamedTuple):
    """Episode of two players, one of which may hold several seats."""

    first: str
    second: str
    paid: float
    """Mean return of the seats of the first player."""
    given: float
    """Mean return of the seats of the second player."""
    num_rounds: int
    deal: str


def games_of(folder: Path) -> dict[str, list[CrossplayEpisode]]:
    """Return by game the episodes of a record in which one or two players sat."""
    games: dict[str, list[CrossplayEpisode]] = {}
    for number in shards(folder):
        for game, played in _shard(folder, number, *stamp(folder, number)):
            games.setdefault(game, []).append(played)
    return games


@lru_cache(maxsize=4096)
def _shard(folder: Path, number: int, modified: int, size: int) -> tuple[tuple[str, CrossplayEpisode], ...]:
    rows = read_columns(folder, "episodes", number, _COLUMNS).to_pylist()
    taken = (row for row in rows if row["finished"] and row["purpose"] not in _LEFT_OUT)
    return tuple((row["game"], played) for row in taken if (played := _read_episode(row)) is not None)


def _read_episode(row: dict[str, Any]) -> CrossplayEpisode | None:
    """Read an episode; a player of several seats has the mean payoff of its seats."""
    names = list(dict.fromkeys(row["players"]))
    if len(names) > 2 or len(row["players"]) < 2:
        return None
    first, second = names[0], names[-1]
    seats = [[pay for name, pay in zip(row["players"], row["payoffs"], strict=True) if name == one] for one in names]
    paid = [sum(pays) / len(pays) for pays in seats]
    return CrossplayEpisode(first, second, paid[0], paid[-1], max(1, len(row["rounds"])), row["group"] or row["id"])


def cross_play(games: Sequence[CrossplayEpisode], unit: str) -> Json:
    """Return the matrix of the players with the most games, their ratings, and how many were left out."""
    counts = Counter(name for one in games for name in {one.first, one.second})
    names = [name for name, _ in counts.most_common(MOST)]
    matrix = [[_cell(games, row, column) for column in names] for row in names]
    among = [one for one in games if one.first in names and one.second in names]
    order = sorted(range(len(names)), key=lambda at: -_mean(matrix[at], at))
    return {
        "players": [names[at] for at in order],
        "payoff": [[_json(matrix[row][column]) for column in order] for row in order],
        "ratings": ratings(among),
        "unit": unit,
        "left_out": len(counts) - len(names),
    }


def _cell(games: Iterable[CrossplayEpisode], row: str, column: str) -> Estimate | None:
    """Estimate the row's payoff a round against the column's; one deal is one observation."""
    met = [one for one in games if {one.first, one.second} == {row, column}]
    paid = [(one.paid if one.first == row else one.given, one) for one in met]
    if row == column:
        paid = [((one.paid + one.given) / 2, one) for one in met]
    if not paid:
        return None
    return ratio(paid, lambda item: item[0], lambda item: item[1].num_rounds, lambda item: item[1].deal)


def _mean(row: Sequence[Estimate | None], own: int) -> float:
    """Return the mean payoff against all others; of nobody, as little as can be."""
    others = [one.mean for place, one in enumerate(row) if one is not None and place != own]
    return sum(others) / len(others) if others else float("-inf")


def _json(estimate: Estimate | None) -> Json | None:
    if estimate is None:
        return None
    return {"mean": finite(estimate.mean), "se": finite(estimate.se), "n": estimate.n, "exact": estimate.exact}


def ratings(games: Iterable[CrossplayEpisode]) -> list[Json]:
    """Return Elo ratings from the games of two players with their 95 % intervals, the best first."""
    scores = [
        Score(one.first, one.second, (1 + (one.paid > one.given) - (one.paid < one.given)) / 2, deal=one.deal)
        for one in games
        if one.first != one.second
    ]
    return [
        {"name": one.name, "elo": one.elo, "low": one.low, "high": one.high, "games": one.games} for one in elo(scores)
    ]
