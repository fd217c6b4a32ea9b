"""Tournament: everybody against everybody, themselves included, as a cross-play matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.garbage import rare_collection
from stratagem.games.base import Game
from stratagem.measure.agreement import disagreements
from stratagem.measure.evaluate import error_messages
from stratagem.measure.matchups import Evaluator, Matchup, mean_payoff
from stratagem.measure.statistics import Estimate
from stratagem.players.base import Player

_EPISODES = 2048
"""Number of episodes that are played at once."""


@dataclass(frozen=True)
class CrossPlay:
    """Cross-play matrix.

    `payoff[row][column]` is the row player's payoff a round against the column's, in the game's unit.
    """

    game: Game[Any]
    text: str
    players: tuple[str, ...]
    payoff: tuple[tuple[Estimate, ...], ...]
    means: tuple[Estimate, ...]
    """Mean payoff of each player against all others."""
    warnings: tuple[str, ...]

    def ranking(self) -> list[int]:
        """Indices of the players, the best mean first."""
        return sorted(range(len(self.players)), key=lambda index: -self.means[index].mean)


def pairs(game: Game[Any], count: int) -> list[tuple[int, int]]:
    """Return the pairs to play.

    With two seats one pair serves both players, with more each takes its turn as the agent.
    """
    if game.spec.seats == 2:
        return list(combinations_with_replacement(range(count), 2))
    return list(product(range(count), range(count)))


@rare_collection()
def tournament(
    game: Game[Any],
    text: str,
    players: Sequence[Player],
    evaluator: Evaluator,
    progress: Callable[[str], None] = lambda _: None,
) -> CrossPlay:
    """Play every pair on paired deals; with more than two seats the second player holds all seats but one."""
    names = tuple(player.name for player in players)
    if game.spec.seats < 2:
        raise BadParameter(f"{game.spec.name} has one seat, so nobody can meet anybody in it.")
    if len(set(names)) != len(names) or len(names) < 2:
        raise BadParameter("A tournament needs at least two players, each named once.")
    played: dict[tuple[int, int], Matchup] = {}
    warnings: dict[str, None] = {}
    for some in _batches(pairs(game, len(players)), evaluator.episodes):
        progress(f"{names[some[0][0]]} against {names[some[0][1]]} and {len(some) - 1} more pairs")
        met = evaluator.meet(game, [(players[row], players[column], ("opponents",)) for row, column in some])
        for (row, column), matchup in zip(some, met, strict=True):
            played[row, column] = _light(matchup)
            if game.spec.seats == 2 and row != column:
                played[column, row] = played[row, column].cross_seats()
            warnings |= dict.fromkeys(_warnings(names[row], matchup))
    size = range(len(names))
    matrix = tuple(tuple(played[row, column].payoff(scaled=False) for column in size) for row in size)
    rows = [(names[row], [played[row, column] for column in size if row <= column]) for row in size]
    warnings |= dict.fromkeys(map(str, disagreements(game, rows)))
    others = ([played[row, column] for column in size if column != row] for row in size)
    means = tuple(mean_payoff(matchups, scaled=False) for matchups in others)
    return CrossPlay(game, text, names, matrix, means, tuple(warnings))


def _light(matchup: Matchup) -> Matchup:
    """Return a matchup without its decisions, of which a tournament has very many."""
    return replace(matchup, episodes=tuple(replace(episode, decisions=[]) for episode in matchup.episodes))


def _batches(met: Sequence[tuple[int, int]], episodes: int) -> Iterator[Sequence[tuple[int, int]]]:
    """Cut the pairs into batches that are played at once; the number of workers does not matter."""
    size = max(1, _EPISODES // episodes)
    return (met[start : start + size] for start in range(0, len(met), size))


def num_batches(game: Game[Any], count: int, episodes: int) -> int:
    """Return the number of batches of a tournament of `count` players."""
    return sum(1 for _ in _batches(pairs(game, count), episodes))


def _warnings(name: str, matchup: Matchup) -> list[str]:
    return [f"{name}: {message}" for message in error_messages([matchup])]
