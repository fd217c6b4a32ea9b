"""Zero-determinant strategies: they hold both players' long-run payoffs to a line, whatever the other does.

With the other playing anything, s_X - k_X = chi * (s_Y - k_Y) for the average payoffs of an endless game, where the
anchor (k_X, k_Y) is what one outcome pays. The probabilities follow from the payoffs of the game that is played, so an
asymmetric game is served too; not every game admits every chi, and `check` says which it does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.options import is_number, within
from stratagem.games.base import Game, Seat, View
from stratagem.games.matrix.rules import MatrixFacts, MatrixGame
from stratagem.players.base import Scripted, Traits
from stratagem.players.iterated import COOPERATE, DEFECT, cooperating

_HAIR = 1e-12
"""Rounding at a bound: a `chi` or a probability may be on the bound itself."""
Outcome = tuple[int, int]
"""Own action and the other's."""
OUTCOMES: tuple[Outcome, ...] = (
    (COOPERATE, COOPERATE),
    (COOPERATE, DEFECT),
    (DEFECT, COOPERATE),
    (DEFECT, DEFECT),
)
FourVector = tuple[float, ...]
"""Probability of cooperating after each of the four outcomes."""


@dataclass(frozen=True)
class ZeroDeterminant(Scripted[MatrixFacts]):
    """Base of both kinds; `phi` is the strength of the reaction, None the published share of the largest possible."""

    family = "ipd"
    traits = Traits(stochastic=True, memory=1)
    chi: float = 2.0
    phi: float | None = None

    def __post_init__(self) -> None:
        within(self, "chi", self.chi, 1.0)
        if self.phi is not None and not (is_number(self.phi) and self.phi > 0.0):
            raise BadParameter(f"{type(self).__name__} needs `phi` above 0, a number, not {self.phi!r}.")

    @property
    @abstractmethod
    def anchor(self) -> Outcome:
        """Outcome whose payoffs the line runs through."""

    @property
    @abstractmethod
    def strength(self) -> float:
        """Share of the largest possible `phi` that is used where none is given."""

    def strategy(self, view: View[MatrixFacts]) -> str | Mapping[str, float]:
        facts = view.facts
        if not facts.mine:
            return facts.labels[COOPERATE]
        last = facts.mine[-1], facts.theirs[-1]
        return cooperating(facts, self.four_vector(view.game, view.seat)[OUTCOMES.index(last)])

    def check(self, game: Game[Any]) -> None:
        """Refuse a game in which the line cannot be held from every seat, since seats rotate."""
        ranges = [_possible_chi(_gains(game, seat, self.anchor)) for seat in range(game.spec.seats)]
        least, most = max(1.0, *(low for low, _ in ranges)), min(high for _, high in ranges)
        if not least - _HAIR <= self.chi <= most + _HAIR:
            there = f"there `chi` is at least {least:.4g}{'' if most == inf else f' and at most {most:.4g}'}"
            why = there if least <= most else "no `chi` serves both seats there"
            raise BadParameter(f"{type(self).__name__} cannot hold chi={self.chi:g} in {game.spec.name}: {why}.")
        for seat in range(game.spec.seats):
            self.four_vector(game, seat)

    def four_vector(self, game: Game[Any], seat: Seat) -> FourVector:
        """Return the probabilities after CC, CD, DC and DD.

        1, 1, 0, 0 plus phi times the line's distance at that outcome.
        """
        slopes = [mine - self.chi * theirs for mine, theirs in _gains(game, seat, self.anchor)]
        largest = 1.0 / max(abs(slope) for slope in slopes) if any(slopes) else 0.0
        phi = self.strength * largest if self.phi is None else self.phi
        vector = [(own == COOPERATE) + phi * slope for (own, _), slope in zip(OUTCOMES, slopes, strict=True)]
        if phi == 0.0 or not all(-_HAIR <= p <= 1.0 + _HAIR for p in vector):
            raise BadParameter(
                f"{self.name} has no probabilities in {game.spec.name} from seat {seat}: "
                f"its `phi` is at most {largest:.4g}, where `chi` can be held at all."
            )
        return tuple(min(1.0, max(0.0, p)) for p in vector)


class ExtortZD(ZeroDeterminant):
    """Earns `chi` times the other's surplus over mutual defection; cooperates first (Press and Dyson 2012)."""

    @property
    def anchor(self) -> Outcome:
        return DEFECT, DEFECT

    @property
    def strength(self) -> float:
        return 0.5


class GenerousZD(ZeroDeterminant):
    """Bears `chi` times the other's loss against mutual cooperation; cooperates first (Stewart and Plotkin 2013)."""

    @property
    def anchor(self) -> Outcome:
        return COOPERATE, COOPERATE

    @property
    def strength(self) -> float:
        return 1.0


def _gains(game: Game[Any], seat: Seat, anchor: Outcome) -> list[tuple[float, float]]:
    """Return the payoffs of each outcome beyond the anchor, one's own and the other's."""
    if not isinstance(game, MatrixGame) or game.spec.family != "ipd":
        raise BadParameter(f"Zero-determinant players need a two-by-two game with cooperation, not {game.spec.name}.")
    payoffs = game.payoffs

    def pays(outcome: Outcome) -> tuple[float, float]:
        row, column = outcome if seat == 0 else outcome[::-1]
        return payoffs[row][column][seat], payoffs[row][column][1 - seat]

    mine, theirs = pays(anchor)
    return [(own - mine, other - theirs) for own, other in map(pays, OUTCOMES)]


def _possible_chi(gains: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the range of chi that leaves every probability between 0 and 1 for some phi; empty where least > most.

    After an own cooperation the slope must not be positive, after an own defection not negative.
    """
    least, most = -inf, inf
    for (own, _), (mine, theirs) in zip(OUTCOMES, gains, strict=True):
        sign = 1.0 if own == COOPERATE else -1.0
        a, b = sign * mine, sign * theirs
        if b > 0.0:
            least = max(least, a / b)
        elif b < 0.0:
            most = min(most, a / b)
        elif a > 0.0:
            return inf, -inf
    return least, most
