"""Actions of a whole game: declared by the game, or found by a walk through all of its positions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, State
from stratagem.games.choices import Choices, Sheet
from stratagem.games.enumeration import outcomes, starts

BUDGET = 20_000
"""Largest number of moves of a walk: about a second."""


@lru_cache(maxsize=64)
def all_actions_of(game: Game[Any]) -> tuple[str, ...]:
    """Return the actions of all positions of a game, in a fixed order."""
    return game.all_actions() or _walk_actions(game)


@lru_cache(maxsize=64)
def declared_actions(game: Game[Any]) -> frozenset[str]:
    """Return the actions that a game declares; none where they are to be found."""
    return frozenset(game.all_actions())


def lines_of(choices: Choices) -> Iterator[str]:
    """Yield the actions of a set; of a sheet its lines, and the empty text where a slot may stay empty."""
    if not isinstance(choices, Sheet):
        yield from choices
        return
    for slot in choices.slots:
        yield from slot.options
    if choices.fill < len(choices.slots):
        yield ""


def _walk_actions(game: Game[Any]) -> tuple[str, ...]:
    """Return the actions of all positions, in the order in which a walk by breadth meets them."""
    found: dict[str, None] = {}
    for moves, actions in enumerate(_actions_met(game)):
        if moves > BUDGET:
            raise CannotCompute(
                f"{game.spec.name} is too large to find all of its actions: declare them, in a method `all_actions`."
            )
        found |= dict.fromkeys(actions)
    return tuple(found)


def _actions_met(game: Game[Any]) -> Iterator[tuple[str, ...]]:
    """Yield the actions of each position once, and nothing for each move."""
    known: set[object] = set()
    waiting = deque(state for _, state in islice(starts(game), BUDGET + 1))
    while waiting:
        state = waiting.popleft()
        if state.over or (key := _key(state)) in known:
            continue
        known.add(key)
        choices = [state.view(seat).choices for seat in state.to_act]
        yield tuple(line for one in choices for line in lines_of(one))
        for actions in product(*(islice(one, BUDGET) for one in choices)):
            yield ()
            waiting += (after for _, after, _ in outcomes(state, dict(zip(state.to_act, actions, strict=True))))


def _key(state: State[Any]) -> object:
    """Return what fixes the future of a position; where the game does not say, the position itself."""
    if not state.game.spec.markov:
        return repr(state.dump())
    return state.round, state.to_act, tuple(state.view(seat).state_key for seat in range(state.game.spec.seats))
