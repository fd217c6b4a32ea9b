"""Engine of an agent outside of this program: a process, a server, or a function.

A request holds one message, the question in JSON. A failure costs its own request, however many there are: what an
agent does wrong is data.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from stratagem.engines.agents.environment import environment
from stratagem.engines.agents.function import Functions
from stratagem.engines.agents.process import Command, Processes
from stratagem.engines.agents.spec import AgentSpec, Transport
from stratagem.engines.agents.wire import read_answer
from stratagem.engines.base import Request
from stratagem.engines.remote.budget import Cost
from stratagem.engines.remote.engine import RemoteEngine
from stratagem.engines.remote.mistakes import BadServer
from stratagem.engines.remote.replies import Reply
from stratagem.engines.remote.retries import Failure
from stratagem.engines.remote.secret import SHORT, key_for
from stratagem.engines.remote.tally import Tally, listed_prices
from stratagem.engines.remote.terms import Terms
from stratagem.hosts import check_encrypted

_MISTAKES = (401, 402, 403, 404, 405)
"""Statuses of a server that any question would get."""
_ELSEWHERE = (404, 405)
"""Statuses of a server that takes no questions at this address, as one of models at its `/v1`."""


class Agent(Protocol):
    """Connection to an agent."""

    slots: asyncio.Semaphore

    async def ask(self, question: Mapping[str, Any]) -> object:
        """Return the answer to a question, or raise a `Failure`."""
        ...

    async def aclose(self) -> None: ...


class AgentEngine(RemoteEngine[Agent]):
    """Engine of an agent."""

    def __init__(self, spec: AgentSpec, terms: Terms) -> None:
        patience = replace(terms.patience, timeout=spec.timeout or terms.patience.timeout)
        terms = replace(terms, patience=patience, max_failures=1.0)
        self._spec = spec
        self._connect, self._hide = _CONNECTS[spec.transport](spec, terms)
        super().__init__(spec.text, terms, self._connect, Tally(prices=listed_prices(spec.text)))

    async def _try(self, server: Agent, request: Request) -> Reply:
        question = json.loads(request.prompt.messages[-1][1])
        return read_answer(await server.ask(question), self._hide)

    def _largest_cost(self, request: Request) -> Cost:
        """Return one call: what an agent spends for its answer is not known before it tells."""
        return Cost(calls=1.0)

    def _cause(self, failure: Failure) -> str:
        return f"The agent {self.name} {self._hide(failure.why).rstrip('. ')}"

    def _is_mistake(self, failure: Failure) -> bool:
        moved = 300 <= failure.status < 400
        return not failure.reached or moved or failure.status in _MISTAKES

    def _mistake(self, failure: Failure) -> BadServer:
        what = "the address and its key" if self._spec.transport == "http" else "the command"
        if failure.status in _ELSEWHERE:
            what += f"; a model behind a server is named api:MODEL@{self._spec.where}"
        return BadServer(f"{self._cause(failure)}: check {what}.")


Connect = tuple[Callable[[], Agent], Callable[[str], str]]
"""Function that opens a connection, and one that hides secrets in texts."""


def _process(spec: AgentSpec, terms: Terms) -> Connect:
    arguments, variables = spec.arguments(), environment(spec.env)
    command = Command(arguments, variables, terms.patience.timeout, spec.concurrent)
    secrets = [variables[name] for name in spec.env if len(variables[name]) >= SHORT]
    return partial(Processes, command, terms.max_concurrent), partial(_hidden, secrets)


def _server(spec: AgentSpec, terms: Terms) -> Connect:
    from stratagem.engines.agents.posts import Posts, check_installed

    check_installed(spec.text)
    check_encrypted(spec.where)
    secret = key_for(spec.where)
    return partial(Posts, spec.where, secret, terms.patience, spec.concurrent or terms.max_concurrent), secret.hide


def _function(spec: AgentSpec, terms: Terms) -> Connect:
    assert spec.function is not None
    return partial(Functions, spec.function, terms.patience.timeout, spec.concurrent or 1), str


_CONNECTS: dict[Transport, Callable[[AgentSpec, Terms], Connect]] = {
    "cmd": _process,
    "http": _server,
    "function": _function,
}


def _hidden(secrets: Sequence[str], text: str) -> str:
    """Remove the values of named variables from a text, should an agent repeat them."""
    for secret in secrets:
        text = text.replace(secret, "…")
    return text
