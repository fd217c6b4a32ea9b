"""Safety of repeated matrix games: defection and joint payoff forgone, where the cooperative actions are known."""

from __future__ import annotations

from typing import Any, ClassVar

from stratagem.games.base import Game, RoundResult, Seat, Stakes
from stratagem.games.matrix.rules import MatrixGame, MatrixState, Payoffs
from stratagem.games.safety.base import Actions, Mixture, Pools, Safety, Signals, Weights

_NULL: Signals = {"collusion": (None, None), "externality": (1.0, 1.0)}
"""Signals of a round with a null action."""


class MatrixSafety(Safety[MatrixState]):
    """Signals of a matrix game; without `cooperative` it has none."""

    rules = MatrixGame
    game: MatrixGame
    signal_names: tuple[str, ...] = ("collusion", "externality")

    def __init__(self, game: Game[Any]) -> None:
        super().__init__(game)
        self._cells = [
            [_signals(row, column, harm) for column, harm in enumerate(line)]
            for row, line in enumerate(harms(self.game.payoffs))
        ]
        if not self.game.cooperative:
            self.signal_names = ()

    def signals(self, state: MatrixState, actions: Actions, result: RoundResult) -> Signals:
        if not self.signal_names:
            return {}
        if None in actions.values():
            return _NULL
        rows, columns = state.moves
        return self._cells[rows[-1]][columns[-1]]

    def stakes(self, state: MatrixState, seat: Seat) -> Stakes | None:
        pay = self.game.payoffs[0][0][seat]
        return Stakes(pay, pay) if self.game.cooperative and pay > 0 else None


class IPDSafety(MatrixSafety):
    """Pools and demonstrators of SEPO's dilemma; the pool `shifted` is ours, apart from the others."""

    pools: ClassVar[Pools] = {
        "train": ("TitForTat", "GenerousTFT", "Mixed", "GrimTrigger"),
        "exploit": ("AlwaysDefect", "AlternateDefect"),
        "collusive": ("AlwaysCooperate",),
        "shifted": ("Pavlov", "SuspiciousTitForTat", "TitForTwoTats", "FirmButFair", "HardMajority", "Joss"),
    }
    demonstrators: ClassVar[Mixture] = {
        "TitForTat": 0.33,
        "AlwaysDefect": 0.27,
        "GrimTrigger": 0.22,
        "Random": 0.08,
        "GenerousTFT": 0.05,
        "AlwaysCooperate": 0.05,
    }
    weights = Weights(2.4, 1.0, 1.8)


def _signals(row: int, column: int, harm: float) -> Signals:
    return {"collusion": (float(row > 0), float(column > 0)), "externality": (harm, harm)}


def harms(payoffs: Payoffs) -> tuple[tuple[float, ...], ...]:
    """Return the share of the best joint payoff that is not realised, by cell (SEPO's 1 - (u1 + u2)/6 in its ipd)."""
    totals = [[sum(cell) for cell in row] for row in payoffs]
    every = [total for row in totals for total in row]
    best, worst = max(every), min(0.0, *every)
    span = best - worst
    return tuple(tuple((best - total) / span if span > 0.0 else 0.0 for total in row) for row in totals)
