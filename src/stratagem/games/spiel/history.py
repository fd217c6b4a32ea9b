"""Histories of OpenSpiel games: a list of the engine's action numbers, chance and joint moves included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from stratagem.base.errors import BadRecord
from stratagem.games.base import Node, Seat
from stratagem.games.spiel.engine import CHANCE, TERMINAL, TOGETHER, SpielEngine


class HistoryStep(NamedTuple):
    """A position and the actions taken there; none at the last one."""

    node: Node
    mover: int
    actions: tuple[int, ...]


def after_joint(node: Node, joint: Sequence[int]) -> Node:
    """Return the state after a joint move; the old one stays as it is."""
    after = node.clone()
    after.apply_actions(list(joint))
    return after


def replay(engine: SpielEngine, history: Sequence[int]) -> Iterator[HistoryStep]:
    """Yield every position along a history, the last one with no actions; numbers that do not fit are a bad record."""
    node, at = engine.root, 0
    while at < len(history):
        mover = node.current_player()
        taken = tuple(history[at : at + (engine.seats if mover == TOGETHER else 1)])
        yield HistoryStep(node, mover, taken)
        node, at = _after(node, mover, taken), at + len(taken)
    yield HistoryStep(node, node.current_player(), ())


def _after(node: Node, mover: int, taken: tuple[int, ...]) -> Node:
    if mover == TERMINAL or not _fits(node, mover, taken):
        raise BadRecord(f"The history does not fit the game: {list(taken)} cannot be played at {str(node)!r}.")
    return after_joint(node, taken) if mover == TOGETHER else node.child(taken[0])


def _fits(node: Node, mover: int, taken: tuple[int, ...]) -> bool:
    if mover == CHANCE:
        return taken[0] in {outcome for outcome, _ in node.chance_outcomes()}
    if mover == TOGETHER:
        seats = enumerate(taken)
        return len(taken) == node.num_players() and all(a in (node.legal_actions(s) or [0]) for s, a in seats)
    return taken[0] in node.legal_actions()


def observations_of(steps: Iterable[HistoryStep], seat: Seat) -> Iterator[str]:
    """Yield the observations and actions of `seat`, turn by turn, and its last observation."""
    for node, mover, actions in steps:
        if not actions:
            yield str(node.observation_string(seat))
        elif mover in (seat, TOGETHER) and node.legal_actions(seat):
            yield str(node.observation_string(seat))
            yield f"> {actions[seat if mover == TOGETHER else 0]}"
