"""Environments of TextArena (checked with 0.7.4)."""

from __future__ import annotations

import re
from typing import Any

from stratagem.games.base import Seat
from stratagem.games.foreign.environment import Environment

_LISTED = re.compile(r"(?:available|valid|legal|allowed|possible) (?:actions|moves)[^:\n]*:(.*)", re.IGNORECASE)
_ACTION = re.compile(r"\[[^\[\]]+\]")
_PLACEHOLDER = re.compile(r"\[\w+ [XN]\]|[<>]")
"""Pattern of a listed action that is no action yet, such as `[bet X]`."""
_REFUSED = "attempted an invalid move"


class TextArenaEnvironment(Environment):
    """Environment of `textarena.make`; actions are texts such as `[check]`, read from what the seat is shown."""

    package = "textarena"

    def __init__(self, env: Any, seats: int = 2) -> None:
        self._env, self._seats = env, seats
        self._shown: list[list[str]] = []
        self._over = False

    @property
    def seats(self) -> int:
        return self._seats

    def reset(self, seed: int) -> None:
        self._env.reset(num_players=self._seats, seed=seed)
        self._shown, self._over = [[] for _ in range(self._seats)], False
        self._read()

    @property
    def to_act(self) -> Seat | None:
        return None if self._over else int(self._env.state.current_player_id)

    def shown(self, seat: Seat) -> str:
        return "\n".join(self._shown[seat])

    def legal(self) -> tuple[str, ...] | None:
        assert self.to_act is not None
        listed = _LISTED.findall(self.shown(self.to_act))
        actions = dict.fromkeys(_ACTION.findall(listed[-1])) if listed else {}
        return tuple(action for action in actions if not _PLACEHOLDER.search(action)) or None

    def step(self, action: str) -> str:
        seat = self.to_act
        assert seat is not None
        self._over = bool(self._env.step(action)[0])
        if self._over:
            return str(self._env.state.game_info[seat].get("reason")) if self._is_invalid(seat) else ""
        new = self._read()
        return new if seat == self.to_act and _REFUSED in new else ""

    def _is_invalid(self, seat: Seat) -> bool:
        return bool(self._env.state.game_info[seat].get("invalid_move"))

    @property
    def payoffs(self) -> tuple[float, ...]:
        rewards = self._env.state.rewards or {}
        return tuple(float(rewards.get(seat, 0)) for seat in range(self._seats))

    @property
    def inner(self) -> Any:
        env = self._env
        while "env" in vars(env):
            env = env.env
        return env

    def _read(self) -> str:
        """Read what the seat to act is shown, and return it."""
        seat, said = self._env.get_observation()
        text = said if isinstance(said, str) else "\n".join(str(message[1]) for message in said)
        if self._shown[seat] and text.startswith(self._shown[seat][-1]):  # a wrapper that repeats what was said before
            self._shown[seat].pop()
        self._shown[seat].append(text)
        return text
