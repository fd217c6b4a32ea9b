"""Solver: one sample is one episode, in which the evaluated model has a seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

from stratagem.connect.inspect.figures import Figures
from stratagem.connect.inspect.plan import InspectPlan
from stratagem.connect.inspect.shown import playthrough
from stratagem.connect.outside import Outside
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, Finish, Prompt, Request
from stratagem.players.base import Player
from stratagem.players.uniform import Random
from stratagem.playing.asking import answered_here, play_awaited
from stratagem.playing.records import episode_json
from stratagem.playing.scheduler import play

_FINISHES: dict[str, Finish] = {"max_tokens": "length", "model_length": "length", "content_filter": "filter"}
"""Reasons of a model to stop before its reply is complete."""
_SEED_BITS = 0x7FFF_FFFF
_MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


async def ask_model(model: Model, engine: Outside, request: Request) -> tuple[Call, ModelOutput]:
    """Ask a model; sampling options are those that inspect was given."""
    given = active_generate_config().seed if model is get_model() else model.config.seed
    config = GenerateConfig(seed=seed_of(request.key, given))
    output = await model.generate(messages_of(request.prompt), config=config)
    usage = output.usage
    call = engine.call(
        request,
        output.completion,
        finish=_FINISHES.get(output.stop_reason, "done"),
        num_prompt=usage.input_tokens if usage else 0,
        num_reply=usage.output_tokens if usage else 0,
        seconds=output.time or 0.0,
    )
    return call, output


def seed_of(key: Key, given: int | None) -> int | None:
    """Return the seed of one request: it follows from `--seed` and the place in the match.

    One seed for all requests would repeat one reply wherever a situation comes back. None without `--seed`.
    """
    return None if given is None else key.at("seed", given).value & _SEED_BITS


def messages_of(prompt: Prompt) -> list[ChatMessage]:
    """Return the messages of a prompt as inspect has them."""
    return [_MESSAGES[role](content=text) for role, text in prompt.messages]


ROLE = "opponent"
"""Role of the model that has the other seats."""
EPISODE, FIGURES = "episode", "figures"
"""Places in the store of a sample: what was played, and what the scorer reads."""


class SampleTable:
    """Episode of one sample, with the models that have seats in it."""

    def __init__(self, plan: InspectPlan, state: TaskState) -> None:
        self._plan, self._state = plan, state
        self._agent = get_model()
        self._engine = Outside(f"inspect:{self._agent}")
        self._opponent = plan.opponents[state.metadata["opponent"]]
        self._models: dict[object, Model] = {self._engine: self._agent}
        match = plan.match(self._engine.player(plan.style), self._other())
        self.setup = plan.setup(match, state.metadata["number"], state.epoch)
        state.messages = []

    def _other(self) -> Player:
        """Return the opponent; a model of inspect is asked as the agent is."""
        if self._opponent is not None:
            return self._opponent
        model = get_model(role=ROLE)
        engine = Outside(f"inspect:{model}")
        self._models[engine] = model
        return engine.player(self._plan.style)

    async def answers(self, requests: Sequence[Request]) -> list[Call]:
        """Answer the open requests of all seats at the same time."""
        if len(requests) == 1:  # `collect` would give it a span of its own
            return [await self._answer(requests[0])]
        calls: list[Call] = await collect(*[self._answer(request) for request in requests])
        return calls

    async def _answer(self, request: Request) -> Call:
        engine = request.engine
        if not isinstance(engine, Outside):
            return answered_here(request)
        call, output = await ask_model(self._models[engine], engine, request)
        if engine is self._engine:
            told = messages_of(request.prompt)
            known = {message.text for message in self._state.messages if message.role == "system"}
            self._state.messages += [m for m in told if m.role != "system" or m.text not in known]
            self._state.messages.append(output.message)
            self._state.output = output
        return call

    def chance_level(self) -> Figures | None:
        """Play the deal by random play; None where an opponent is a model of inspect, which would be asked for it."""
        if not self._plan.chance or (self._opponent is None and len(self.setup.slots) > 1):
            return None
        match = self._plan.match(Random(), self._opponent or Random())
        (episode,) = play([replace(self.setup, match=match)], detail=False)
        return Figures.of(episode, self._state.metadata["opponent"])


def _seat(plan: InspectPlan) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        table = SampleTable(plan, state)
        episode = await play_awaited(table.setup, table.answers)
        transcript().info(playthrough(episode), source="stratagem")
        state.store.set(EPISODE, episode_json(episode))
        figures = Figures.of(episode, state.metadata["opponent"], table.chance_level(), duel=plan.duel)
        state.store.set(FIGURES, figures.to_json())
        state.completed = True
        return state

    return solve


seat = solver(name="seat")(_seat)
"""Solver that seats the evaluated model in the episode of its sample."""
