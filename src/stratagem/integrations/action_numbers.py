"""Actions as numbers, for environments whose action space is `Discrete(n)`: a number means one action all game long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from stratagem.errors import BadParameter
from stratagem.games.all_actions import all_actions_of
from stratagem.games.base import Game, View
from stratagem.games.spiel.facts import SpielFacts
from stratagem.games.spiel.rules import SpielRules


class ActionNumbers(Protocol):
    """Numbers of the actions of a game; of a sheet they are those of its lines."""

    size: int
    """Number of numbers."""

    def numbered(self, view: View[Any], options: Sequence[str]) -> Mapping[int, str]:
        """Return these options of a view by their numbers, in the same order."""
        ...


class LabelNumbers:
    """Number of an action: its index among all actions of the game."""

    def __init__(self, game: Game[Any]) -> None:
        self._labels = all_actions_of(game)
        self._numbers = {label: number for number, label in enumerate(self._labels)}
        self.size = len(self._labels)

    def numbered(self, view: View[Any], options: Sequence[str]) -> Mapping[int, str]:
        try:
            return {self._numbers[option]: option for option in options}
        except KeyError as error:
            raise BadParameter(
                f"{view.game.spec.name} offers {error.args[0]!r}, which is none of its `all_actions`: add it there."
            ) from error


class SpielNumbers:
    """Number of an action of an OpenSpiel game: that of OpenSpiel."""

    def __init__(self, game: SpielRules) -> None:
        self.size = int(game.engine.spiel.num_distinct_actions())

    def numbered(self, view: View[SpielFacts], options: Sequence[str]) -> Mapping[int, str]:
        ids = view.facts.menu.ids
        return {ids[option]: option for option in options}


def numbers_of(game: Game[Any]) -> ActionNumbers:
    """Return the numbers of a game's actions; refused where its actions cannot be listed."""
    return SpielNumbers(game) if isinstance(game, SpielRules) else LabelNumbers(game)
