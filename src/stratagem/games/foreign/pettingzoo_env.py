"""Environments of PettingZoo in which agents act in turn (AEC; checked with 1.27.0)."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Seat
from stratagem.games.foreign.environment import Environment


class PettingZooEnvironment(Environment):
    """Environment of a module of PettingZoo; actions are the numbers of its discrete action spaces."""

    package = "pettingzoo"

    def __init__(self, env: Any) -> None:
        self._env = env
        self._payoffs: list[float] = []

    @property
    def seats(self) -> int:
        return len(self._env.possible_agents)

    def reset(self, seed: int) -> None:
        self._env.reset(seed=seed)
        self._payoffs = [0.0] * self.seats

    @property
    def to_act(self) -> Seat | None:
        return self._env.possible_agents.index(self._env.agent_selection) if self._env.agents else None

    def shown(self, seat: Seat) -> str:
        agent = self._env.possible_agents[seat]
        if agent not in self._env.agents:
            return ""
        observed = self._env.observe(agent)
        if isinstance(observed, dict):
            observed = {name: value for name, value in observed.items() if name != "action_mask"}
        return str(observed)

    def legal(self) -> tuple[str, ...] | None:
        agent = self._env.agent_selection
        observed, info = self._env.observe(agent), self._env.infos[agent]
        mask = observed.get("action_mask") if isinstance(observed, dict) else None
        mask = info.get("action_mask") if mask is None else mask
        number = getattr(self._env.action_space(agent), "n", None)
        if number is None:
            return None
        return tuple(str(action) for action in range(int(number)) if mask is None or mask[action])

    def step(self, action: str) -> str:
        try:
            self._env.step(int(action))
        except (AssertionError, ValueError, IndexError) as error:
            return f"{type(error).__name__}: {error}"
        for seat, agent in enumerate(self._env.possible_agents):
            self._payoffs[seat] += float(self._env.rewards.get(agent, 0))
        while self._env.agents and self._is_done(self._env.agent_selection):
            self._env.step(None)
        return ""

    def _is_done(self, agent: str) -> bool:
        return bool(self._env.terminations[agent] or self._env.truncations[agent])

    @property
    def payoffs(self) -> tuple[float, ...]:
        return tuple(self._payoffs)

    @property
    def inner(self) -> Any:
        return self._env.unwrapped
