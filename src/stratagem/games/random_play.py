"""Random play: at each turn every seat to act draws one of its choices by a key of the turn and the seat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, State, View
from stratagem.games.key import Key

_EPISODES, _LONGEST = 100, 200
"""Episodes, and turns of each, in which a seat must have acted once."""


class RandomTurn(NamedTuple):
    """Turn of random play: what the seats to act see, and what they draw."""

    views: Mapping[Seat, View[Any]]
    actions: Mapping[Seat, str]

    def decisions(self) -> Iterator[tuple[View[Any], str]]:
        """Yield the view and the action of each seat."""
        return ((view, self.actions[seat]) for seat, view in self.views.items())


def random_turns(state: State[Any], key: Key, most: int | None = None) -> Iterator[RandomTurn]:
    """Yield the turns from a state on, each before it is played, until the end or up to a number of turns."""
    for turn in count() if most is None else range(most):
        if state.over:
            return
        views = {seat: state.view(seat) for seat in state.to_act}
        actions = {seat: view.choices.sample(key.at(turn, seat)) for seat, view in views.items()}
        yield RandomTurn(views, actions)
        state.play(actions)


def random_views(state: State[Any], key: Key, most: int | None = None) -> Iterator[View[Any]]:
    """Yield what the seats to act see in random play."""
    for turn in random_turns(state, key, most):
        yield from turn.views.values()


def acting_view(game: Game[Any], seat: Seat) -> View[Any]:
    """Return a view in which a seat has a choice: the first one of random play."""
    for episode in range(_EPISODES):
        key = Key(episode)
        for view in random_views(game.start(key.at("chance")), key, _LONGEST):
            if view.seat == seat:
                return view
    raise CannotCompute(f"In {game.spec.name} seat {seat} does not act in {_EPISODES} episodes of random play.")
