"""Engine of an agent outside of this program: a process, a server, or a function.

A request holds one message, the question in JSON. A failure costs its own request, however many there are: what an
agent does wrong is data.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from stratagem.base.errors import BadParameter
from stratagem.base.hosts import check_encrypted
from stratagem.language.engines.agents.function import Functions
from stratagem.language.engines.agents.process import ProgramCommand, RestartingProcess
from stratagem.language.engines.agents.spec import AgentSpec, Transport
from stratagem.language.engines.agents.wire import malformed_answer, read_answer
from stratagem.language.engines.base import Request
from stratagem.language.engines.openai_engine import check_installed
from stratagem.language.engines.remote.budget import CallCost
from stratagem.language.engines.remote.engine import RemoteEngine
from stratagem.language.engines.remote.mistakes import BadServer
from stratagem.language.engines.remote.replies import ServerReply, parse_json, quote_start
from stratagem.language.engines.remote.retries import Failure, Patience
from stratagem.language.engines.remote.secret import SHORT, Secret, key_for
from stratagem.language.engines.remote.tally import EngineTally, listed_prices
from stratagem.language.engines.remote.terms import Terms

PASSED = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "PYTHONPATH",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
)
"""Variables that every process gets."""


def environment(named: Sequence[str]) -> dict[str, str]:
    """Return the variables of a process: those that it needs, and those that the user names."""
    if missing := [name for name in named if name not in os.environ]:
        raise BadParameter(
            f"The environment has no {missing[0]}, which `env` passes on to an agent: set it, or leave it out."
        )
    return {name: os.environ[name] for name in (*PASSED, *named) if name in os.environ}


class Posts:
    """Client of the server of an agent."""

    def __init__(self, url: str, secret: Secret, patience: Patience, max_concurrent: int) -> None:
        from stratagem.language.engines.remote.connection import Connection

        self._url, self._secret = url, secret
        self._connection = Connection(url, secret, patience, max_concurrent)
        self.slots: asyncio.Semaphore = self._connection.slots

    async def ask(self, question: Mapping[str, Any]) -> object:
        """Return the answer to a question, whatever it is."""
        body = await self._connection.post(self._url, dict(question))
        if (answer := parse_json(body)) is None:
            raise malformed_answer(
                f"gave an answer that is no JSON: {quote_start(self._secret.hide(body.decode('utf-8', 'replace')))}"
            )
        return answer

    async def aclose(self) -> None:
        await self._connection.aclose()


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
        super().__init__(spec.text, terms, self._connect, EngineTally(prices=listed_prices(spec.text)))

    async def _try(self, server: Agent, request: Request) -> ServerReply:
        question = json.loads(request.prompt.messages[-1][1])
        return read_answer(await server.ask(question), self._hide)

    def _largest_cost(self, request: Request) -> CallCost:
        """Return one call: what an agent spends for its answer is not known before it tells."""
        return CallCost(calls=1.0)

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
    command = ProgramCommand(arguments, variables, terms.patience.timeout, spec.concurrent)
    secrets = [variables[name] for name in spec.env if len(variables[name]) >= SHORT]
    return partial(RestartingProcess, command, terms.max_concurrent), partial(_hide_secrets, secrets)


def _server(spec: AgentSpec, terms: Terms) -> Connect:
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


def _hide_secrets(secrets: Sequence[str], text: str) -> str:
    """Remove the values of named variables from a text, should an agent repeat them."""
    for secret in secrets:
        text = text.replace(secret, "…")
    return text
