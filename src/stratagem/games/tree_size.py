"""Estimated number of nodes of a game tree, from random episodes (Knuth 1975)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, View
from stratagem.games.choices import Choices
from stratagem.games.key import Key

_ENOUGH = 1e30
"""Size at which an episode is broken off."""


class _Sizing:
    """Source of chance that draws by key, and multiplies the odds against its draws."""

    __slots__ = ("_key", "odds")

    def __init__(self, key: Key, odds: list[float]) -> None:
        self._key = key
        self.odds = odds

    def at(self, *path: int | str) -> _Sizing:
        """Return the source of one draw."""
        return _Sizing(self._key.at(*path), self.odds)

    def integer(self, bound: int) -> int:
        """Draw a whole number."""
        return self.choose((1.0,) * bound)

    def choose(self, weights: Sequence[float]) -> int:
        """Draw an index by weight."""
        index = self._key.choose(weights)
        self.odds[0] *= sum(weights) / weights[index]
        return index


def estimated_size(
    game: Game[Any], key: Key, num_samples: int = 100, *, one_round: bool = False, leaves: bool = True
) -> float:
    """Return the mean over random episodes of the odds against their nodes; of one round of the game if asked for.

    Without `leaves` only nodes with a decision count. Knuth 1975, Estimating the efficiency of backtrack programs.
    """
    sizes = [_sampled_size(game, key.at(number), one_round, leaves) for number in range(num_samples)]
    return sum(sizes) / num_samples


def list_choices(view: View[Any]) -> Choices:
    """Return the choices of a seat; refused where not all of them can be listed."""
    if view.choices.is_open:
        raise CannotCompute(f"{view.game.spec.name} has open text, so its tree has no end: give talk no `limit`.")
    return view.choices


def _sampled_size(game: Game[Any], key: Key, one_round: bool, leaves: bool) -> float:
    """Return the sum over the nodes of one random episode of the odds against reaching each."""
    odds, size = [1.0], 1.0
    state = game.start(_Sizing(key.at("chance"), odds))
    turn = 0
    while not state.over and size < _ENOUGH:
        actions: dict[Seat, str | None] = {}
        for seat in state.to_act:
            choices = list_choices(state.view(seat))
            actions[seat] = choices.sample(key.at("action", turn, seat))
            size += odds[0]
            odds[0] *= choices.count
        before = odds[0]
        if state.play(actions).closed and one_round:
            return size + leaves * before  # what was drawn for the next round is no part of this one
        turn += 1
    return size + leaves * odds[0]
