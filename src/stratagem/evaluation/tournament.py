"""Everybody against everybody, themselves included: the cross-play matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

from stratagem.errors import BadParameter
from stratagem.evaluation.bouts import Bout, Table
from stratagem.evaluation.evaluate import raised
from stratagem.evaluation.statistics import Estimate, mean_of
from stratagem.games.base import Game
from stratagem.players.base import Player


@dataclass(frozen=True)
class CrossPlay:
    """`pay[row][column]` is what the row's player gets a round against the column's, in the game's own unit."""

    game: Game[Any]
    text: str
    players: tuple[str, ...]
    pay: tuple[tuple[Estimate, ...], ...]
    warnings: tuple[str, ...]

    def means(self) -> list[Estimate]:
        """Each player's mean against all others."""
        size = range(len(self.players))
        return [mean_of([self.pay[row][column] for column in size if column != row]) for row in size]

    def ranking(self) -> list[int]:
        """The players' indices, the best mean first."""
        means = self.means()
        return sorted(range(len(self.players)), key=lambda index: -means[index].mean)


def pairs(game: Game[Any], count: int) -> list[tuple[int, int]]:
    """Which bouts are played: with two seats one serves both players, with more each takes its turn as the hero."""
    if game.spec.seats == 2:
        return list(combinations_with_replacement(range(count), 2))
    return list(product(range(count), range(count)))


def tournament(
    game: Game[Any],
    text: str,
    players: Sequence[Player],
    table: Table,
    progress: Callable[[str], None] = lambda _: None,
) -> CrossPlay:
    """Play every pair on paired deals; with more than two seats the second player holds all seats but one."""
    names = tuple(player.name for player in players)
    if game.spec.seats < 2:
        raise BadParameter(f"{game.spec.name} has one seat, so nobody can meet anybody in it.")
    if len(set(names)) != len(names) or len(names) < 2:
        raise BadParameter("A tournament needs at least two players, each named once.")
    pay: dict[tuple[int, int], Estimate] = {}
    warnings: dict[str, None] = {}
    for row, column in pairs(game, len(players)):
        progress(f"{names[row]} against {names[column]}")
        bout = table.bout(game, players[row], players[column], ("opponents",))
        pay[row, column] = bout.pay(scaled=False)
        if game.spec.seats == 2 and row != column:
            pay[column, row] = bout.opponent_pay(scaled=False)
        warnings |= dict.fromkeys(_warnings(names[row], bout))
    size = range(len(names))
    matrix = tuple(tuple(pay[row, column] for column in size) for row in size)
    return CrossPlay(game, text, names, matrix, tuple(warnings))


def _warnings(name: str, bout: Bout) -> list[str]:
    return [f"{name}: {said}" for said in raised([bout])]
