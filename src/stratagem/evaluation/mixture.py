"""Mixture of players as one table: one of them is drawn for a whole game, and nobody sees which.

With perfect recall the same behaviour results from draws decision by decision: at an information set each player counts
by its share and by the probability that its own moves lead there (Kuhn 1953, Extensive games and the problem of
information). So the average over training, as fictitious play makes it, and the Nash mixture of a population have an
exploitability of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stratagem.evaluation.exact import Rows
from stratagem.games.base import Twin

Floats = NDArray[np.float64]


def mixed(twin: Twin, tables: Sequence[Rows], shares: Sequence[float]) -> Rows:
    """Return the table of a mixture of tables with these shares."""
    mixture = Rows()
    weights = np.asarray(shares, dtype=np.float64) / sum(shares)
    pending: list[tuple[Any, Floats]] = [(twin.spiel.new_initial_state(), np.tile(weights, (2, 1)))]
    while pending:
        node, reach = pending.pop()
        if node.is_terminal():
            continue
        if node.is_chance_node():
            pending.extend((node.child(action), reach) for action in node.legal_actions())
            continue
        seat, key = node.current_player(), node.information_state_string()
        rows = np.array([[p for _, p in table[key]] for table in tables])
        actions = [action for action, _ in tables[0][key]]
        mixture.setdefault(key, list(zip(actions, _drawn(reach[seat], weights, rows), strict=True)))
        pending.extend((node.child(action), _after(reach, seat, rows[:, n])) for n, action in enumerate(actions))
    return mixture


def _drawn(reach: Floats, weights: Floats, rows: Floats) -> list[float]:
    """Weigh the rows by each player's probability to reach them; an unreachable row does not matter."""
    counted = reach if reach.sum() > 0.0 else weights
    drawn: list[float] = (counted @ rows / counted.sum()).tolist()
    return drawn


def _after(reach: Floats, seat: int, probabilities: Floats) -> Floats:
    further = reach.copy()
    further[seat] *= probabilities
    return further
