"""Players of drawn games that need no knowledge of a family: the solution of the game, and a best response to it.

They are demonstrators for SFT, since every drawn game is solved: `[sft] teacher = "GameSolution"`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, View
from stratagem.games.drawn.events import DescribedFacts
from stratagem.games.tree_cache import tree_of
from stratagem.players.base import Mix, Player, Scripted, Traits

if TYPE_CHECKING:
    from stratagem.games.tree import Floats, GameTree

Rows = Mapping[tuple[Seat, str], Mix]
"""Probabilities of the actions by seat and information set."""


class SolvedPlayer(Scripted[DescribedFacts]):
    """Player whose rows follow from the solution of the whole game."""

    family = "drawn"
    rows: Callable[[Game[Any]], Rows]

    def strategy(self, view: View[DescribedFacts]) -> Mix:
        mix = type(self).rows(view.game).get((view.seat, view.info_key))
        if mix is None:
            raise CannotCompute(f"{self.name} has solved no such situation: {view.info_key!r}.")
        return mix


def _rows_of(tree: GameTree, policy: Floats) -> Rows:
    rows: dict[tuple[Seat, str], Mix] = {}
    for number, known in enumerate(tree.information_sets):
        first, after = tree.slots[number], tree.slots[number + 1]
        shares = zip(known.actions, policy[first:after].tolist(), strict=True)
        mix = {action: share for action, share in shares if share > 0.0}
        if rows.setdefault((known.seat, known.view.info_key), mix) != mix:
            raise CannotCompute("The keys of the views do not tell the information sets of this game apart.")
    return rows


@lru_cache(maxsize=64)
def solution_rows(game: Game[Any]) -> Rows:
    """Return the solution of a game: an equilibrium, or the policy with the lowest NashConv that was found."""
    from stratagem.games.drawn.solution import solve_drawn  # loads numpy

    tree = tree_of(game, one_round=True)
    return _rows_of(tree, solve_drawn(tree).policy)


@lru_cache(maxsize=64)
def response_rows(game: Game[Any]) -> Rows:
    """Return a best response of each seat to the solution in the other seats."""
    import numpy as np

    from stratagem.games.drawn.solution import scale_form, solve_drawn

    tree = tree_of(game, one_round=True)
    scaled = scale_form(tree)
    figures = scaled.all_figures(solve_drawn(tree, scaled).policy)
    policies = []
    for one, found in zip(scaled.form.seats, figures, strict=True):
        policies.append(np.zeros(len(one.order)))
        policies[-1][found.best] = 1.0
    return _rows_of(tree, scaled.form.join(policies))


@dataclass(frozen=True)
class GameSolution(SolvedPlayer):
    """Plays the solution of the game: an equilibrium, or the policy with the lowest NashConv that was found."""

    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None)
    rows = staticmethod(solution_rows)


@dataclass(frozen=True)
class SolutionResponse(SolvedPlayer):
    """Plays a best response to the solution in the other seats."""

    traits: ClassVar[Traits] = Traits(memory=None)
    rows = staticmethod(response_rows)


PLAYERS: Mapping[str, Callable[[], Player]] = {"GameSolution": GameSolution, "SolutionResponse": SolutionResponse}
