"""Exact payoffs against those of the episodes that were played beside them: where they differ, one of the two is wrong.

An exact figure asks a player for its probabilities, and play asks it for moves. If the two ask in other words, or one
has a fault, the mean of the deals lies outside its error. The statistic is Student's t over deals. All comparisons of
an evaluation share an error rate of one in a thousand (Bonferroni), since each false alarm costs a search for a fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

from stratagem.games.base import Game
from stratagem.measure.matchups import Matchup, payoff_of
from stratagem.measure.statistics import Estimate, students_p

ERROR_RATE = 0.001
"""Probability of any false alarm in an evaluation."""
LEAST_DEALS = 30
"""Smallest number of deals; of fewer, skewed payoffs would often give an alarm."""


class Disagreement(NamedTuple):
    """Exact payoff of a player that play does not confirm, a round."""

    player: str
    opponent: str
    exact: float
    played: Estimate
    p: float
    """Two-sided p, times the number of comparisons."""

    def __str__(self) -> str:
        return (
            f"{self.player} has a payoff of {self.exact:.3f} a round against {self.opponent} by the probabilities that "
            f"both state, and {self.played} in {self.played.n} deals of play "
            f"(p = {self.p:.1g}): the exact figures and play differ."
        )


def disagreements(game: Game[Any], rows: Iterable[tuple[str, Sequence[Matchup]]]) -> list[Disagreement]:
    """Compare exact and played payoffs of all players, each with its matchups."""
    pairs = [pair for player, matchups in rows for pair in _compare_player(game, player, matchups)]
    adjusted = [pair._replace(p=min(1.0, pair.p * len(pairs))) for pair in pairs]
    return [pair for pair in adjusted if pair.p < ERROR_RATE]


def _compare_player(game: Game[Any], player: str, matchups: Sequence[Matchup]) -> Iterator[Disagreement]:
    for matchup in matchups:
        if not matchup.expectations:
            continue
        exact, played = matchup.payoff(scaled=False).mean, played_payoff(matchup)
        if played.n >= LEAST_DEALS and played.se is not None:
            # where hardly any deal differs from the others the standard error is too small, down to 0 where none does
            error = max(played.se, _reach(game, matchup) / played.n)
            p = students_p(Estimate(played.mean - exact, error, played.n))
            if p is not None:
                yield Disagreement(player, matchup.opponent, exact, played, p)


def played_payoff(matchup: Matchup) -> Estimate:
    """Return the agent's mean payoff a round in the episodes that were played."""
    return replace(matchup, expectations=()).payoff(scaled=False)


def _reach(game: Game[Any], matchup: Matchup) -> float:
    """Return by how much the payoffs a round of two deals can differ; as seen, where the rules give no bound."""
    low, high = game.spec.bounds
    if isfinite(high - low) and game.spec.rounds:
        return (high - low) / game.spec.rounds
    paid = [payoff_of(episode, episode.seat_of(0), scaled=False) for episode in matchup.episodes]
    return max(paid) - min(paid)
