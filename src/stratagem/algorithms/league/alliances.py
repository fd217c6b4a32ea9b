"""Alliance index: how far copies of a member spare each other in a game with one outsider, with standard errors."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from stratagem.evaluation.hostility import Hostility, alliance, hostility
from stratagem.evaluation.matchups import Matchup
from stratagem.games.base import Game, Json
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.talk import without_talk
from stratagem.play.records import Episode


def alliances(game: Game[Any], size: int, matchups: Mapping[tuple[int, int], Matchup]) -> Json:
    """Return for each member the index over all outsiders and its standard error, in Diplomacy.

    The error is that of the jackknife over deals; all outsiders meet a member on the same ones.
    """
    if not isinstance(without_talk(game), Diplomacy):
        return {"alliance": [], "alliance_errors": []}
    estimates = [_index_and_error(_by_deal(column, size, matchups), game.spec.seats) for column in range(size)]
    return {"alliance": [index for index, _ in estimates], "alliance_errors": [error for _, error in estimates]}


def _by_deal(column: int, size: int, matchups: Mapping[tuple[int, int], Matchup]) -> list[Hostility]:
    """Return the counts of each deal against copies of one member, over all outsiders."""
    counts = defaultdict[int, list[Hostility]](list)
    for row in range(size):
        for episode in matchups[row, column].episodes if row != column else ():
            counts[episode.key].append(_outsider_first(episode))
    return [_sum(deal) for deal in counts.values()]


def _index_and_error(deals: list[Hostility], seats: int) -> tuple[float | None, float | None]:
    """Return the index over all deals and its jackknife error; None where there is none."""
    copies = np.arange(seats) > 0
    whole = alliance(_sum(deals), copies) if deals else math.nan
    less = [alliance(_sum(deals[:n] + deals[n + 1 :]), copies) for n in range(len(deals))] if len(deals) > 1 else []
    error = math.nan
    if less:
        error = math.sqrt((len(less) - 1) * float(np.mean((np.array(less) - np.mean(less)) ** 2)))
    return _finite(whole), _finite(error)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _sum(counts: Iterable[Hostility]) -> Hostility:
    attacks, chances = zip(*counts, strict=True)
    return Hostility(np.sum(attacks, axis=0), np.sum(chances, axis=0))


def _outsider_first(episode: Episode) -> Hostility:
    """Return the counts of a game, ordered with the outsider first."""
    order = [episode.seat_of(slot) for slot in range(len(episode.slots))]
    counts = hostility(episode)
    return Hostility(counts.attacks[np.ix_(order, order)], counts.chances[np.ix_(order, order)])
