"""Environment: one task is one episode, in which each role has a seat and is rewarded by its own payoffs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import verifiers.v1 as vf

from stratagem.connect.outside import Outside
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, Finish, Request
from stratagem.playing.asking import answered_here, play_awaited
from stratagem.playing.match import Match
from stratagem.playing.records import Episode
from stratagem.playing.seating import seat_deal
from stratagem_verifiers.config import MOST_SEATS, GameEnvConfig
from stratagem_verifiers.taskset import DealData

ROLES = tuple(f"player{place}" for place in range(MOST_SEATS))
"""Names of the roles by their places in the match."""
INFO = "stratagem"
"""Entry of a trace's `info` with what was played."""


class GameEnv(vf.Env[GameEnvConfig]):
    """Seats agents and players of Stratagem in a game."""

    def __init__(self, config: GameEnvConfig) -> None:
        super().__init__(config)
        self._game = config.taskset.made()
        self._style = config.taskset.look()
        self._opponents = config.seated(self._game)
        self._roles = ROLES[: config.num_agents(self._game)]

    async def setup(self, agents: vf.Agents) -> None:
        for role in self._roles:
            if getattr(self.config, role).model is not None:
                getattr(agents, role).trainable = False  # its tokens are not the policy's

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        engines = [Outside(role) for role in self._roles]
        match = Match(self._game, [*[engine.player(self._style) for engine in engines], *self._opponents])
        data, config = task.data, self.config.taskset
        name = f"{describe(self._game)}/{config.seed}"
        setup = seat_deal(match, data.deal, data.turn, Key(config.seed), name=name)
        async with AsyncExitStack() as stack:
            opened = [getattr(agents, role).interaction(_task_of(data)) for role in self._roles]
            talks = [await stack.enter_async_context(interaction) for interaction in opened]
            seats = dict(zip(engines, map(_Talk, talks), strict=True))

            async def answers(requests: Sequence[Request]) -> list[Call]:
                return list(await asyncio.gather(*[_answer(seats, request) for request in requests]))

            episode = await play_awaited(setup, answers)
        for place, talk in enumerate(talks):
            _reward(talk.trace, episode, place)


class _Talk:
    """Exchange with one agent, which may be over before the game is."""

    def __init__(self, interaction: Any) -> None:
        self._interaction = interaction
        self._over = False

    async def reply(self, engine: Outside, request: Request) -> Call:
        """Ask for a reply; one that a limit prevented is an illegal reply, and a failed model fails the episode."""
        if not self._over:
            asked = [{"role": role, "content": text} for role, text in request.prompt.messages]
            segment = await self._interaction.turn(asked)
            self._over = segment.terminated
        trace = self._interaction.trace
        if not self._over:
            call = trace.calls[-1]
            finish: Finish = "length" if call.finish_reason == "length" else "done"
            return engine.call(request, segment.last_reply, finish=finish)
        if trace.errors:
            raise vf.EnvError(f"{engine.name} failed: {trace.errors[-1].message}")
        return engine.call(request, f"The agent was stopped by {trace.stop_condition}.", finish="error")


async def _answer(seats: dict[Outside, _Talk], request: Request) -> Call:
    engine = request.engine
    return await seats[engine].reply(engine, request) if isinstance(engine, Outside) else answered_here(request)


def _task_of(data: DealData) -> vf.Task:
    """Return the task of one agent; its prompts come turn by turn."""
    return vf.Task(vf.TaskData(idx=data.idx, name=data.name))


def _reward(trace: vf.Trace, episode: Episode, place: int) -> None:
    """Reward an agent by its return, and note what was played."""
    seat = episode.seat_of(place)
    trace.record_reward("payoff", episode.payoffs[seat])
    trace.record_metrics(
        {
            "payoff_per_round": episode.per_round(seat),
            "turns": episode.num_decisions[seat],
            "illegal_turns": episode.num_illegal[seat],
        }
    )
    trace.info[INFO] = {
        "game": episode.game,
        "deal": episode.group,
        "seat": seat,
        "players": list(episode.players),
        "payoffs": list(episode.payoffs),
        "rounds": len(episode.rounds),
        "moves": [[row.seat, row.action] for row in episode.decisions],
    }
