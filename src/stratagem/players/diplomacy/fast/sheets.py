"""A sheet of DumbBot's orders from the fast board, as it is written."""

from __future__ import annotations

import numpy as np

from stratagem.games.diplomacy.fast.array_board import ArrayBoard
from stratagem.games.diplomacy.fast.cells import BUILD, LOST, SUPPORT_HOLD, SUPPORT_MOVE, UNIT
from stratagem.games.diplomacy.fast.chart import NO, chart, names
from stratagem.games.diplomacy.fast.text import order_line
from stratagem.games.key import Key
from stratagem.players.diplomacy.appraisal import Appraisal
from stratagem.players.diplomacy.fast.bot import order_alone
from stratagem.players.diplomacy.fast.values import Longs, neighbourhood, weights_array


def write_sheet(board: ArrayBoard, power: str, key: Key, appraisal: type[Appraisal], strays: int) -> str | None:
    """Return the sheet that DumbBot writes with this key; None where one of its retreats is not possible."""
    cells = board.cells
    orders, possible = order_alone(
        chart(), neighbourhood(), cells, names().power[power], np.uint64(key.value), weights_of(appraisal), strays
    )
    if not possible:
        return None
    units = cells[LOST if board.kind == "R" else UNIT].tolist()
    return "\n".join(_line(units, p, columns) for p, columns in enumerate(orders.tolist()) if columns[0])


def _line(units: list[int], place: int, columns: list[int]) -> str:
    """Return the order of a province."""
    kind, whom, _, _ = columns
    helped = units[whom] if kind in (SUPPORT_HOLD, SUPPORT_MOVE) else NO
    return order_line(whom if kind == BUILD else units[place], columns, helped)


_known: dict[type[Appraisal], Longs] = {}
"""Weights by class of values."""


def weights_of(appraisal: type[Appraisal]) -> Longs:
    """Return the weights of a class of values, cached."""
    if appraisal not in _known:
        _known[appraisal] = weights_array(appraisal.seasons)
    return _known[appraisal]
