"""Frames of a replay: what a board shows at the start and after each turn, as data; the page draws it.

A game without a face of its own is shown by the texts of its views.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from stratagem.games.base import Json, Seat, State
from stratagem.games.kuhn import KuhnState
from stratagem.games.matrix import MatrixState

Actions = Mapping[Seat, str | None]
Frame = Callable[[State[Any]], Json]
GRIDS = {
    "tic-tac-toe": "marks",
    "connect-four": "discs",
    "breakthrough": "pawns",
    "breakthrough-6x6": "pawns",
}
"""Kinds of pieces of the games whose situation begins with a grid."""


class Face(NamedTuple):
    """Face of a game: its name in the page, the frame of the first state, and the frame after a turn."""

    name: str
    begin: Frame
    after: Callable[[State[Any], State[Any], Actions], Json]
    """From the states before and after the turn, and the actions of the turn."""


def face_of(state: State[Any]) -> Face:
    """Choose the face of a game by one of its states."""
    if isinstance(state, KuhnState):
        return Face("kuhn", _kuhn, _kuhn_after)
    if isinstance(state, MatrixState):
        return _plain_face("matrix", _matrix)
    if state.game.spec.name in GRIDS:
        return _plain_face("grid", _grid)
    return _plain_face("text", _text)


def _plain_face(name: str, frame: Frame) -> Face:
    return Face(name, frame, lambda before, after, actions: frame(after))


def _kuhn(state: State[Any]) -> Json:
    """Return cards, betting line and chips of the hand in play."""
    assert isinstance(state, KuhnState)
    return _hand(state, state.line)


def _kuhn_after(before: State[Any], after: State[Any], actions: Actions) -> Json:
    """Return the hand that the turn was played in: the state after its end has the next one."""
    assert isinstance(before, KuhnState)
    assert isinstance(after, KuhnState)
    if after.line.startswith(before.line) and after.round == before.round:
        return _hand(before, after.line)
    facing = before.line.endswith("B")
    word = next(iter(actions.values())) or ("FOLD" if facing else "PASS")
    return _hand(before, before.line + word[0])


def _hand(state: KuhnState, line: str) -> Json:
    opener = state.round % 2
    chips = [1, 1]
    for turn, letter in enumerate(line):
        chips[(opener + turn) % 2] += letter in "BC"
    return {"cards": list(state.cards), "line": line, "opener": opener, "chips": chips, "hand": state.round}


def _matrix(state: State[Any]) -> Json:
    """Return the table of payoffs and the moves of the rounds that counted."""
    assert isinstance(state, MatrixState)
    game = state.game
    return {
        "payoffs": game.payoffs,
        "labels": [game.seat_labels(0), game.seat_labels(1)],
        "moves": list(zip(*state.moves, strict=True)),
        "rounds": game.rounds,
    }


def _grid(state: State[Any]) -> Json:
    """Return the rows of the board with their labels; the text of a view begins with them."""
    lines = state.view(0).situation.split("\n")
    columns = lines[0].split()
    rows = [line.split() for line in lines[1:]]
    board = [cells for cells in rows if len(cells) - len(columns) in (0, 1) and all(len(cell) == 1 for cell in cells)]
    labels = [cells[0] if len(cells) > len(columns) else "" for cells in board]
    return {
        "columns": columns,
        "rows": labels,
        "cells": [cells[-len(columns) :] for cells in board],
        "kind": GRIDS[state.game.spec.name],
    }


def _text(state: State[Any]) -> Json:
    """Return the situation of each seat in words."""
    return {"situations": [_situation(state, seat) for seat in range(state.game.spec.seats)]}


def _situation(state: State[Any], seat: Seat) -> str:
    return state.view(seat).situation
