"""Our games as environments of PettingZoo (Terry et al. 2021, arXiv:2009.14471): `aec(game)` and `parallel(game)`.

An action is a number that means one action all game long. An observation has the situation of the seat in words, or in
another form of fixed size, and the mask of the legal actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stratagem.base.errors import BadParameter, IllegalAction, MissingExtra, WrongKind
from stratagem.connect.agents import MAX_LENGTH, Agents, AgentTable, table_of
from stratagem.connect.observations import CHARACTERS, BytesObservation, TensorObservation
from stratagem.connect.opponents import Opponents
from stratagem.connect.session import Deals
from stratagem.players.given import GameLike, PlayerLike, as_player

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ImportError as error:
    raise MissingExtra("An environment of PettingZoo", "pettingzoo") from error

__all__ = ["AECGame", "ParallelGame", "aec", "parallel"]


def aec(
    game: GameLike,
    *,
    opponents: Opponents | None = None,
    seed: int = 0,
    observation: str = "text",
    max_length: int = MAX_LENGTH,
) -> AECGame:
    """Return a game as an AEC environment: agents act one after another, also where they choose at once.

    Players of ours take the seats of `opponents`. `observation` is `text`, `bytes` or `tensor`.
    """
    return AECGame(table_of(game, opponents, observation, max_length), seed)


def parallel(
    game: GameLike,
    *,
    opponents: Opponents | None = None,
    seed: int = 0,
    observation: str = "text",
    max_length: int = MAX_LENGTH,
) -> ParallelGame:
    """Return a game of simultaneous moves as a parallel environment, with the options of `aec`."""
    table = table_of(game, opponents, observation, max_length)
    spec = table.match.game.spec
    if not spec.simultaneous:
        raise BadParameter(f"The seats of {spec.name} act one after another: make an AEC environment of it, by `aec`.")
    return ParallelGame(table, seed)


class _Spaces:
    """Parts that both kinds of environments share: names, spaces, deals."""

    render_mode = "ansi"

    def __init__(self, table: AgentTable, seed: int) -> None:
        super().__init__()
        self._table = table
        self._deals = Deals(seed)
        self._agents: Agents | None = None
        self.metadata = {
            "name": table.match.text,
            "render_modes": ["ansi"],
            "is_parallelizable": table.match.game.spec.simultaneous,
        }
        self.possible_agents = list(table.agents)
        self.agents: list[str] = []
        self.observation_spaces = {agent: _observation_space(table) for agent in table.agents}
        self.action_spaces = {agent: spaces.Discrete(table.numbers.size) for agent in table.agents}

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def number_of(self, player: PlayerLike, agent: str) -> int:
        """Return the number of the action that a player of ours takes in the place of an agent."""
        seated = as_player(player, self._table.match.game)
        return self.playing.number_of(agent, seated)

    @property
    def episode(self) -> Any:
        """Record of the episode as Stratagem keeps it."""
        return self.playing.session.episode

    @property
    def playing(self) -> Agents:
        """Agents of the episode that has begun."""
        if self._agents is None:
            raise IllegalAction("No episode has begun: call `reset` first.")
        return self._agents

    def _going_on(self) -> Agents:
        """Return the agents of an episode that is not over for all of them."""
        if self._agents is not None and not self.agents:
            raise IllegalAction("The episode is over: call `reset` for the next one.")
        return self.playing

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> Agents:
        if not isinstance(options or {}, Mapping):
            raise WrongKind("set of options", 'a mapping, as in {"deal": 3}', options)
        session = self._deals.session(self._table.match, seed, (options or {}).get("deal"))
        self._agents = Agents(self._table, session)
        self.agents = self.possible_agents[:]
        return self._agents

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: {"legal": dict(self.playing.legal(agent))} for agent in self.agents}

    def _render_agents(self, agents: tuple[str, ...]) -> str:
        shown = (f"{agent}:\n{self.playing.session.view(self._table.agents[agent]).situation}" for agent in agents)
        return "\n".join(shown)


def _observation_space(table: AgentTable) -> Any:
    form = table.observing
    seen: Any = spaces.Text(form.max_length, min_length=0, charset=CHARACTERS)
    if isinstance(form, BytesObservation):
        seen = spaces.Box(0, 255, (form.max_length,), np.uint8)
    elif isinstance(form, TensorObservation):
        seen = spaces.Box(-np.inf, np.inf, form.shape, np.float32)
    mask = spaces.Box(0, 1, (table.numbers.size,), np.int8)
    return spaces.Dict({form.key: seen, "action_mask": mask})


class AECGame(_Spaces, AECEnv):  # type: ignore[misc]  # PettingZoo is no dependency
    """A game in which agents act one after another."""

    def __init__(self, table: AgentTable, seed: int) -> None:
        super().__init__(table, seed)
        self.agent_selection = self.possible_agents[0]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the next deal, or the first of a seed; the option `deal` is the number of another one."""
        playing = self._begin(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._pay(playing)

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the observation of an agent."""
        return self.playing.observation(agent)

    def step(self, action: int | None) -> None:
        """Play the action of the agent whose turn it is."""
        playing, agent = self._going_on(), self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        playing.act(agent, action)
        self._cumulative_rewards[agent] = 0.0
        self._pay(playing)

    def render(self) -> str:
        """Return the situation of the agent whose turn it is."""
        return self._render_agents((self.agent_selection,))

    def close(self) -> None:
        """End the environment; there is nothing to release."""

    def _pay(self, playing: Agents) -> None:
        """Take over rewards, ends and the next agent."""
        self.rewards = playing.rewards()
        self.terminations = dict.fromkeys(self.agents, playing.session.over)
        self.infos = self._infos()
        self.agent_selection = next(iter(playing.to_act or self.agents))
        self._accumulate_rewards()
        self._deads_step_first()


class ParallelGame(_Spaces, ParallelEnv):  # type: ignore[misc]  # as above
    """A game in which all agents that have something to choose act at once.

    An agent with nothing to choose has an empty mask, and its action is ignored.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin the next deal, or the first of a seed; the option `deal` is the number of another one."""
        self._begin(seed, options)
        return self._observations(), self._infos()

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        """Play the actions of all agents."""
        playing = self._going_on()
        acting = playing.to_act
        if not isinstance(actions, Mapping):
            raise WrongKind("set of actions", "a mapping from agents to numbers", actions)
        if missing := [agent for agent in acting if agent not in actions]:
            raise IllegalAction(f"The agents {', '.join(acting)} are to act, and {missing[0]} has no action.")
        for agent in acting:
            playing.check(agent, actions[agent])
        for agent in acting:
            playing.act(agent, actions[agent])
        ends = dict.fromkeys(self.agents, playing.session.over)
        result = self._observations(), playing.rewards(), ends, dict.fromkeys(self.agents, False), self._infos()
        if playing.session.over:
            self.agents = []
        return result

    def render(self) -> str:
        """Return the situations of all agents."""
        return self._render_agents(tuple(self.agents))

    def close(self) -> None:
        """End the environment; there is nothing to release."""

    def _observations(self) -> dict[str, Any]:
        return {agent: self.playing.observation(agent) for agent in self.agents}
