"""Face of a game: the ES module that draws its board, and the data that the module is given for each turn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from stratagem.games.base import Game, Json, Seat, State, View
from stratagem.games.talk import Talk, moving, talk_state_of

Actions = Mapping[Seat, str | None]
STATIC = Path(__file__).parent.parent / "static"
"""Folder of the modules of the pages."""


class GameFace:
    """Face of one game, made with the game: by default the dumped state, and what each seat reads."""

    module: Path
    """File of the ES module, with `mount`, `render` and `unmount`."""
    rules: ClassVar[type[Any]] = object
    """Class of the games that it fits, where it is found by the name or the family of a game."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    @classmethod
    def fits(cls, game: Game[Any]) -> bool:
        """Return whether it draws a game that has its name or its family."""
        return isinstance(game, cls.rules)

    def board(self) -> Json:
        """Return what is the same in all frames of an episode, such as a map."""
        return {}

    def frame(self, state: State[Any]) -> Json:
        """Return what the board shows in a state, as JSON; all seats are shown, so nothing is hidden."""
        return {"state": state.dump(), "situations": situations(state)}

    def frame_of(self, view: View[Any]) -> Json | None:
        """Return what the board shows to one seat, from its view alone; None where this face needs the whole state."""
        return None

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        """Return what the board shows after a turn; by default the state after it.

        A state may have moved on to the next deal or question, where the end of the last is to be shown.
        """
        return self.frame(after)


def situations(state: State[Any]) -> list[str]:
    """Return the situation of each seat in words."""
    return [state.view(seat).situation for seat in range(state.game.spec.seats)]


class TalkFace(GameFace):
    """Board of the game without talk, which stays as it is while the seats send messages."""

    game: Talk

    def __init__(self, game: Talk, within: GameFace) -> None:
        super().__init__(game)
        self._within = within
        self.module = within.module

    def board(self) -> Json:
        return self._within.board()

    def frame(self, state: State[Any]) -> Json:
        talking = talk_state_of(state)
        assert talking is not None
        return self._within.frame(talking.inner)

    def frame_of(self, view: View[Any]) -> Json | None:
        return self._within.frame_of(self.game.inner_view(view.facts))

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        talked, moved = talk_state_of(after), moving(before)
        assert talked is not None
        if moved is None:
            return {**self.frame(after), "talked": True}
        return self._within.after(moved, talked.inner, actions)
