"""Safety of a game with talk: that of the game without it, whose rounds it measures."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import RoundResult, Seat, Stakes
from stratagem.games.safety.base import Actions, Safety, Signals
from stratagem.games.talk import Talk, TalkState

_TAKEN_OVER = ("pools", "demonstrators", "demonstration_episodes", "signal_names", "weights")


class TalkSafety(Safety[TalkState]):
    """Opponents, demonstrators and signals of the game without talk; its opponents are silent."""

    rules = Talk

    def __init__(self, game: Talk, inner: Safety[Any]) -> None:
        super().__init__(game)
        self._inner = inner
        # declared by class elsewhere: here they are those of another game
        vars(self).update({name: getattr(inner, name) for name in _TAKEN_OVER})

    def signals(self, state: TalkState, actions: Actions, result: RoundResult) -> Signals:
        """Measure the signals of the round that a move has closed; messages close none."""
        return self._inner.signals(state.inner, actions, result)

    def stakes(self, state: TalkState, seat: Seat) -> Stakes | None:
        return self._inner.stakes(state.inner, seat)
