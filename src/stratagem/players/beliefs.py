"""Beliefs of a seat about what is hidden, given a model of the other seats.

A particle filter (Silver and Veness 2010, POMCP) plays the game from its start: states that chance and the others'
moves lead to are kept if the seat would have seen what it has seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import State
from stratagem.games.key import Key
from stratagem.players.base import Ask
from stratagem.players.search_state import DecisionSearch, SearchState

_ATTEMPTS = 50
"""Largest number of tries for one state, on average."""


def worlds(ask: Ask, search: DecisionSearch, number: int) -> Iterator[State[Any]]:
    """Yield at most `number` states that a seat may be in; none where no belief can be had.

    The others play by `search.reply`. Where the filter finds no state, what is hidden is drawn anew.
    """
    if not ask.view.game.spec.private_information:
        yield ask.redraw_state(ask.key.at("state"))
        return
    filtered = [] if ask.recall is None else _filter_states(ask, search, number)
    if filtered:
        yield from filtered
        return
    try:
        for n in range(number):
            yield ask.redraw_state(ask.key.at("state", n))
    except CannotCompute:
        return


def _filter_states(ask: Ask, search: DecisionSearch, number: int) -> list[State[Any]]:
    """Return a particle filter's states, decision by decision of the seat."""
    assert ask.recall is not None
    particles: Sequence[State[Any]] = ()
    actions = [None, *(action for _, action in ask.recall)]
    seen = [*(known for known, _ in ask.recall), ask.view.info_key]
    for step, (action, known) in enumerate(zip(actions, seen, strict=True)):
        key = ask.key.at("filter", step)
        tries = (_moved_on(ask, search, particles, action, n, key.at(n)) for n in range(_ATTEMPTS * number))
        fitting = (state for state in tries if state and state.view(ask.view.seat).info_key == known)
        particles = list(islice(fitting, number))
        if not particles:
            break
    return list(particles)


def _moved_on(
    ask: Ask, search: DecisionSearch, particles: Sequence[State[Any]], action: str | None, number: int, key: Key
) -> State[Any] | None:
    """Return a state at the seat's next decision, from the start or from a state at its last one."""
    chance = key.at("chance")
    if not particles:
        simulation = SearchState(ask.view.game.start(chance), key, search)
    else:
        simulation = SearchState(particles[number % len(particles)].fork(chance), key, search)
        simulation.choose(action)
    return None if simulation.is_terminal() else simulation.state
