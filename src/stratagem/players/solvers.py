"""Players of solutions: equilibrium strategies by CFR+, and perfect play where nothing is hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.options import whole
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.games.solver import BUDGET, solve
from stratagem.games.spiel.facts import SpielFacts
from stratagem.players.base import Mix, Scripted, Traits
from stratagem.players.equilibrium import CFR_PLUS, average_policy, refuse_untabled
from stratagem.players.tree_search import positive


@dataclass(frozen=True, kw_only=True)
class CFR(Scripted[Any]):
    """Plays the average strategy of CFR+ (Tammelin 2014, arXiv:1407.5042), solved on first use, cached on disk."""

    iterations: int = 1000
    method: str = CFR_PLUS
    """Method of the solver: `cfr+`, `dcfr` or `cfr`."""
    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None)

    def __post_init__(self) -> None:
        whole("cfr", "iterations", self.iterations, 1)
        if self.method != CFR_PLUS:
            from stratagem.games.regret_solver import check_method  # loads numpy

            check_method(self.method)

    @property
    def name(self) -> str:
        return f"cfr:{self.iterations}" + (f":{self.method}" if self.method != CFR_PLUS else "")

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that CFR cannot solve, before it is played."""
        if game.spec.seats != 2 or game.spec.utility not in ("zero-sum", "constant-sum"):
            raise BadParameter(f"{self.name} solves two-player zero-sum games, unlike {game.spec.name}.")
        refuse_untabled(game, self.iterations, self.method)

    def strategy(self, view: View[Any]) -> Mix:
        """Return the row of this information set in the table."""
        mix = average_policy(view.game, self.iterations, self.method).get(view.info_key)
        if mix is None:
            raise CannotCompute(f"{self.name} solved no such situation of {view.game.spec.name}: {view.info_key!r}.")
        return mix


@dataclass(frozen=True, kw_only=True)
class Perfect(Scripted[Any]):
    """Mixes all optimal actions evenly; for small games of perfect information."""

    budget: int = BUDGET
    """Largest number of positions to look at in one decision."""
    traits: ClassVar[Traits] = Traits(stochastic=True)

    def __post_init__(self) -> None:
        whole("perfect", "budget", self.budget, 1)

    @property
    def name(self) -> str:
        return "perfect" if self.budget == BUDGET else f"perfect(budget={self.budget})"

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that is too large or hides something, before it is played."""
        state = game.start(Key(0))
        solve(game, self.budget).value(state, 0)

    def strategy(self, view: View[Any]) -> Mix:
        """Return the best actions by expectiminimax, evenly."""
        if not isinstance(view.facts, SpielFacts):
            raise CannotCompute(
                f"{self.name} plays OpenSpiel's games of perfect information, not {view.game.spec.name}."
            )
        best = solve(view.game, self.budget).best(view.facts.position())
        return dict.fromkeys(best, 1.0 / len(best))


def cfr(tail: str) -> CFR:
    """Make the player `cfr:ITERATIONS`, or `cfr:ITERATIONS:METHOD`."""
    iterations, _, method = tail.partition(":")
    return CFR(iterations=positive(iterations, "cfr"), method=method or CFR_PLUS)
