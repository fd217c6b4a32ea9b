"""Search of any game by OpenSpiel's information-set MCTS (Cowling, Powley and Whitehouse 2012).

Chance is drawn anew in each simulation, by key. Seats whose play is known can be left out of the search: they draw from
a model. Of seats that choose at once one explores in a simulation, and the others draw from their visit counts, as in
Smooth UCT (Heinrich and Silver 2015): if all follow UCB1 their choices run in step, and a dominated action can win.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, State, View
from stratagem.games.key import Key
from stratagem.players.uniform import LISTABLE

Reply = Callable[[State[Any], Seat, Key], str | None]
"""Draw of an action for a seat that does not search."""
Menu = Callable[[State[Any], Seat], Sequence[str]]
"""Actions of a seat that a search considers."""
EXPLORATION = 1.0
"""Constant of UCB1, in units of the spread of returns."""
_EPISODES = 32


def list_all_actions(state: State[Any], seat: Seat) -> Sequence[str]:
    """Return all actions of a seat, or refuse where they are too many."""
    view = state.view(seat)
    if view.choices.count > LISTABLE:
        raise CannotCompute(
            f"{view.game.spec.name} has {view.choices.count} actions at once, and a search lists at most {LISTABLE}."
        )
    return tuple(view.choices)


class SearchNode(NamedTuple):
    """Node of a search: the seat to move, and all that it knows."""

    seat: Seat
    known: tuple[object, ...]

    def current_player(self) -> Seat:
        """Return the seat to move."""
        return self.seat

    def information_state_string(self) -> tuple[object, ...]:
        """Return what the seat knows."""
        return self.known


class DecisionSearch:
    """Search for one decision of a seat; with `reply` it is the only seat that searches."""

    def __init__(
        self,
        view: View[Any],
        key: Key,
        simulations: int,
        *,
        reply: Reply | None = None,
        sees_all: bool = False,
        menu: Menu = list_all_actions,
        one_round: bool = False,
    ) -> None:
        """`sees_all` lets each seat know what every seat knows; `one_round` ends simulations with the round."""
        import numpy as np
        from open_spiel.python.algorithms import ismcts

        self.view, self.key, self.simulations = view, key, simulations
        self.reply, self.sees_all, self.one_round = reply, sees_all, one_round
        self._menu = menu
        self._menus: dict[SearchNode, Sequence[str]] = {}
        seats = range(view.game.spec.seats)
        others = [seat for seat in seats if seat != view.seat] if reply is None else []
        # where several seats choose at once one explores; every second time it is the seat whose action is searched
        self._explorers = [seat for other in others for seat in (view.seat, other)] or [view.seat]
        draws = np.random.RandomState(key.at("search").integer(1 << 32))
        exploration = EXPLORATION * spread(view.game, one_round=one_round)
        self._bot = ismcts.ISMCTSBot(None, Playouts(), exploration, simulations, random_state=draws)

    def action(self, world: Callable[[int], State[Any]]) -> str:
        """Return the most visited action; `world(n)` is the state in which simulation n starts, a copy to play on."""
        if self.view.choices.count == 1:
            return self.view.choices.first
        root = None
        for n in range(self.simulations):
            state = world(n)
            view = state.view(self.view.seat)
            if view.info_key != self.view.info_key:
                raise CannotCompute(f"{view.game.spec.name} redraws a state into another information set.")
            root = root or self.place(state, view)
            self.simulate(state, n)
        assert root is not None
        return self._most_visited(root) if root in self._menus else self.view.choices.sample(self.key.at("unseen"))

    def simulate(self, state: State[Any], n: int) -> None:
        """Run simulation n from a state, a copy to play on."""
        explorer = self._explorers[n % len(self._explorers)]
        self._bot.run_simulation(SearchState(state, self.key.at(n), self, explorer, one_round=self.one_round))

    def table(self, least: int) -> dict[tuple[Seat, object], str]:
        """Return the most visited action by seat and information set, where there are `least` visits an action."""
        totals = {place: sum(self.visits(place).values()) for place in self._menus}
        known = [place for place, menu in self._menus.items() if totals[place] >= least * len(menu)]
        by_visits = sorted(known, key=lambda place: totals[place])  # of equal ones in several rounds the last stays
        return {(place.seat, place.known[1]): self._most_visited(place) for place in by_visits}

    def _most_visited(self, place: SearchNode) -> str:
        """Return the action with the most visits; ties are drawn."""
        visits, actions = self.visits(place), self._menus[place]
        best = [n for n in range(len(actions)) if visits.get(n, 0) == max(visits.values(), default=0)]
        return actions[best[self.key.at("tie").integer(len(best))]]

    def place(self, state: State[Any], view: View[Any]) -> SearchNode:
        """Return the node of a seat to move."""
        known = [view.info_key]
        if self.sees_all:
            known += [state.view(seat).info_key for seat in range(view.game.spec.seats) if seat != view.seat]
        return SearchNode(view.seat, (state.round, *known))

    def visits(self, place: SearchNode) -> Mapping[int, int]:
        """Return the number of visits by action."""
        node = self._bot.lookup_node(place)
        return {} if node is None else {number: child.visits for number, child in node.child_info.items()}

    def actions(self, place: SearchNode, state: State[Any]) -> Sequence[str]:
        """Return the actions considered at a node."""
        if place not in self._menus:
            self._menus[place] = self._menu(state, place.seat)
        return self._menus[place]


class SearchState:
    """State of a simulation, with the methods of a `pyspiel.State` that the search calls."""

    __slots__ = (
        "_chosen",
        "_draws",
        "_explorer",
        "_key",
        "_one_round",
        "_place",
        "_search",
        "_totals",
        "state",
        "view",
    )

    def __init__(
        self, state: State[Any], key: Key, search: DecisionSearch | None, explorer: Seat = 0, *, one_round: bool = False
    ) -> None:
        """Without `search` nobody searches; `explorer` explores where several seats choose at once."""
        self.state = state
        self._one_round = one_round
        self.view: View[Any] | None = None
        """View of the seat to move; None at the end."""
        self._search = search
        self._explorer = explorer
        self._key = key
        self._draws = 0
        self._chosen: dict[Seat, str | None] = {}
        self._totals = [0.0] * state.game.spec.seats
        self._place: SearchNode | None = None
        self.advance()

    def advance(self) -> None:
        """Play on to the next seat that searches."""
        state = self.state
        while not state.over:
            for seat in state.to_act:
                if seat not in self._chosen:
                    self.view, self._place = state.view(seat), None
                    if self._chooses(seat):
                        return
                    self._chosen[seat] = self._reply(self.view)
            result = state.play(self._chosen)
            self._totals = [total + payoff for total, payoff in zip(self._totals, result.payoffs, strict=True)]
            self._chosen = {}
            if result.closed and self._one_round:
                break
        self.view = None

    def _chooses(self, seat: Seat) -> bool:
        """Return whether the search chooses for a seat."""
        if self._search is None:
            return False
        if self._search.reply is not None:
            return seat == self._search.view.seat
        return len(self.state.to_act) == 1 or seat == self._explorer

    def _reply(self, view: View[Any]) -> str | None:
        """Draw from the model, else by visit counts, else at random."""
        search = self._search
        if search is None:
            return view.choices.sample(self.draw())
        if search.reply is not None:
            return search.reply(self.state, view.seat, self.draw())
        visits = search.visits(self.place)
        if not visits:
            return view.choices.sample(self.draw())
        return self._actions()[list(visits)[self.draw().choose(list(visits.values()))]]

    def draw(self) -> Key:
        """Return the key of the next draw."""
        self._draws += 1
        return self._key.at("draw", self._draws)

    @property
    def place(self) -> SearchNode:
        """Node of the seat to move."""
        if self._place is None:
            assert self._search is not None
            assert self.view is not None
            self._place = self._search.place(self.state, self.view)
        return self._place

    def choose(self, action: str | None) -> None:
        """Choose for the seat to move."""
        assert self.view is not None
        self._chosen[self.view.seat] = action
        self.advance()

    def play_out(self) -> list[float]:
        """Play to the end at random, or all seats by the model if there is one, and return the payoffs."""
        reply = None if self._search is None else self._search.reply
        while (view := self.view) is not None:
            key = self.draw()
            self.choose(view.choices.sample(key) if reply is None else reply(self.state, view.seat, key))
        return self._totals

    def current_player(self) -> Seat:
        """Return the seat to move."""
        return self.place.seat

    def information_state_string(self) -> tuple[object, ...]:
        """Return what the seat to move knows."""
        return self.place.known

    def legal_actions(self) -> list[int]:
        """Return the numbers of the actions."""
        return list(range(len(self._actions())))

    def apply_action(self, number: int) -> None:
        """Choose by number."""
        self.choose(self._actions()[number])

    def _actions(self) -> Sequence[str]:
        assert self._search is not None
        return self._search.actions(self.place, self.state)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.view is None

    def is_chance_node(self) -> bool:
        """Return False: chance is drawn as the game is played."""
        return False

    def returns(self) -> list[float]:
        """Return the payoffs since the start of the simulation."""
        return self._totals


class Playouts:
    """Evaluator that plays to the end."""

    def evaluate(self, state: SearchState) -> list[float]:
        """Return the payoffs."""
        return state.play_out()

    def prior(self, state: SearchState) -> list[tuple[int, float]]:
        """Return even odds for all actions."""
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]


def spread(game: Game[Any], *, one_round: bool = False) -> float:
    """Return the difference between the largest and the smallest return of a seat in a few random episodes."""
    try:
        hash(game)
    except TypeError:
        return _spread(game, one_round)
    return _known_spread(game, one_round)


def _spread(game: Game[Any], one_round: bool) -> float:
    episodes = [SearchState(game.start(key), key, None, one_round=one_round) for key in map(Key, range(_EPISODES))]
    returns = [value for episode in episodes for value in episode.returns()]
    return (max(returns) - min(returns)) or 1.0  # 0 would leave the search without exploration


_known_spread = lru_cache(maxsize=64)(_spread)
