"""Index of the prompts of a game: the positions behind the messages that the prompt styles make.

A game is walked once, each state with a decision once, so there is an index of small games only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

from stratagem.endpoint.positions import Place
from stratagem.engines.base import Chat
from stratagem.errors import CannotCompute, StratagemError
from stratagem.games.base import Game, State
from stratagem.games.disguise.proof import every_state
from stratagem.prompting.base import Style

BUDGET = 20_000
"""Number of moves and outcomes of chance that are walked: some seconds."""


class PromptIndex:
    """Positions by prompt."""

    def __init__(
        self, game: Game[Any], styles: Mapping[str, Style], *, by_state_key: bool = False, budget: int = BUDGET
    ) -> None:
        """With `by_state_key` states that agree in their state keys and texts count as one."""
        self.game = game
        self._styles = styles
        self._by_state_key = by_state_key
        self._budget = budget
        self._known: dict[str, dict[Chat, list[Place]]] = {}
        self._lock = Lock()

    @property
    def obstacle(self) -> str:
        """Reason why there is no index, in one sentence; empty where there is one."""
        with self._lock:
            return "" if isinstance(self._places, list) else str(self._places)

    def find(self, chat: Chat) -> Sequence[Place]:
        """Return the positions whose prompt this is in any style; none where it is another text."""
        with self._lock:
            for name in self._styles:
                if name not in self._known:
                    self._known[name] = self._prompts(self._styles[name])
                if found := self._known[name].get(chat):
                    return found
        return ()

    @cached_property
    def _places(self) -> list[Place] | CannotCompute:
        """Views of all seats to act, each once."""
        known: dict[object, Place] = {}
        try:
            for state in every_state(self.game, self._budget, self._place_of):
                for seat in state.to_act:
                    view = state.view(seat)
                    known.setdefault((seat, repr(view.facts)), Place(view, state, "prompt"))
        except CannotCompute as error:
            return error
        return list(known.values())

    def _place_of(self, state: State[Any]) -> object:
        views = [state.view(seat) for seat in range(self.game.spec.seats)]
        if self._by_state_key:
            return state.round, state.to_act, *((view.state_key, view.situation) for view in views)
        return repr(state.dump())

    def _prompts(self, style: Style) -> dict[Chat, list[Place]]:
        found: dict[Chat, list[Place]] = {}
        for place in self._places if isinstance(self._places, list) else ():
            try:
                chat = tuple((message.role, message.content) for message in style.messages(place.view))
            except StratagemError:
                return {}  # a style of other games
            found.setdefault(chat, []).append(place)
        return found
