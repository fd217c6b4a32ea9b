"""Positions of a request: a state that the caller sends, or the position that its prompt shows.

For prompts a game is walked once, each state with a decision once, so there is an index of small games only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Literal, NamedTuple

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.connect.endpoint.refusal import RefusedRequest
from stratagem.games.base import Game, Json, Seat, State, View
from stratagem.games.disguise.proof import every_state
from stratagem.games.key import Key
from stratagem.language.engines.base import Chat
from stratagem.language.prompting.base import Style

Found = Literal["state", "prompt"]
_PARAM = "stratagem"


class SeatPosition(NamedTuple):
    """Position of a seat that is to act."""

    view: View[Any]
    state: State[Any]
    """State with this view; where something is hidden and only a prompt was sent, one of several."""
    found: Found


def read_position(game: Game[Any], data: Json, seat: Seat) -> SeatPosition:
    """Return the position that a caller sends: a state as `State.dump` returns it, and the seat that is to act."""
    try:
        state = game.load(data, Key(0))
        acts = seat in state.to_act
        if acts:
            view = state.view(seat)
            _ = view.choices.count, view.state_key, view.situation
    except StratagemError as error:
        raise RefusedRequest(str(error), param=_PARAM) from None
    except Exception as error:  # noqa: BLE001 - a state that fits no game breaks its rules in any way
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise RefusedRequest(
            f"This is no state of {game.spec.name} ({said}): send what State.dump returns.", param=_PARAM
        ) from None
    if not acts:
        seats = ", ".join(map(str, state.to_act)) or "none, for the game is over"
        raise RefusedRequest(f"Seat {seat} is not to act in this state; to act: {seats}.", param=_PARAM)
    return SeatPosition(view, state, "state")


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
        self._known: dict[str, dict[Chat, list[SeatPosition]]] = {}
        self._lock = Lock()

    @property
    def obstacle(self) -> str:
        """Reason why there is no index, in one sentence; empty where there is one."""
        with self._lock:
            return "" if isinstance(self._places, list) else str(self._places)

    def find(self, chat: Chat) -> Sequence[SeatPosition]:
        """Return the positions whose prompt this is in any style; none where it is another text."""
        with self._lock:
            for name in self._styles:
                if name not in self._known:
                    self._known[name] = self._prompts(self._styles[name])
                if found := self._known[name].get(chat):
                    return found
        return ()

    @cached_property
    def _places(self) -> list[SeatPosition] | CannotCompute:
        """Views of all seats to act, each once."""
        known: dict[object, SeatPosition] = {}
        try:
            for state in every_state(self.game, self._budget, self._place_of):
                for seat in state.to_act:
                    view = state.view(seat)
                    known.setdefault((seat, repr(view.facts)), SeatPosition(view, state, "prompt"))
        except CannotCompute as error:
            return error
        return list(known.values())

    def _place_of(self, state: State[Any]) -> object:
        views = [state.view(seat) for seat in range(self.game.spec.seats)]
        if self._by_state_key:
            return state.round, state.to_act, *((view.state_key, view.situation) for view in views)
        return repr(state.dump())

    def _prompts(self, style: Style) -> dict[Chat, list[SeatPosition]]:
        found: dict[Chat, list[SeatPosition]] = {}
        for place in self._places if isinstance(self._places, list) else ():
            try:
                chat = tuple((message.role, message.content) for message in style.messages(place.view))
            except StratagemError:
                return {}  # a style of other games
            found.setdefault(chat, []).append(place)
        return found
