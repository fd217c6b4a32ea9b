"""Actions of a whole game: declared by the game, or found by a walk through all of its positions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import count, islice, product
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, State
from stratagem.games.choices import Choices, Sheet
from stratagem.games.enumeration import dump_of, outcomes, starts, walk_positions

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
    moves = count()

    def follow(state: State[Any]) -> Iterator[State[Any]]:
        choices = [state.view(seat).choices for seat in state.to_act]
        for actions in product(*(islice(one, BUDGET) for one in choices)):
            _check_budget(game, next(moves))
            branches = outcomes(state, dict(zip(state.to_act, actions, strict=True)))
            yield from (after for _, after, _ in branches if not after.over)

    found: dict[str, None] = {}
    first = (state for _, state in islice(starts(game), BUDGET + 1))
    for _, state in walk_positions(first, follow, _key):
        _check_budget(game, next(moves))
        found |= dict.fromkeys(line for seat in state.to_act for line in lines_of(state.view(seat).choices))
    return tuple(found)


def _check_budget(game: Game[Any], moves: int) -> None:
    """Refuse a game of more positions and moves than the budget."""
    if moves > BUDGET:
        raise CannotCompute(
            f"{game.spec.name} is too large to find all of its actions: declare them, in a method `all_actions`."
        )


def _key(state: State[Any]) -> object:
    """Return what fixes the future of a position; where the game does not say, the position itself."""
    if not state.game.spec.markov:
        return dump_of(state)
    return state.round, state.to_act, tuple(state.view(seat).state_key for seat in range(state.game.spec.seats))
