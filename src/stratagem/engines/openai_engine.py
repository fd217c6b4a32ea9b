"""A model behind a server that speaks OpenAI's chat protocol, as vLLM, llama.cpp, `transformers serve` and services do.

Replies are free text: the protocol has no masks and tells no scores of given words.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from stratagem.decoding.vocabulary import Vocabulary
from stratagem.engines.base import Call, Capabilities, Chat, Listener, PolicyId, Prompt, Request, ScoreRequest, Scores
from stratagem.engines.remote.background import Background
from stratagem.engines.remote.hosts import check_encrypted
from stratagem.engines.remote.mistakes import bad_server, cause, is_mistake, lacks
from stratagem.engines.remote.protocol import Adjustments, adjustment, chat_body, check
from stratagem.engines.remote.replies import Reply, read_models, read_reply
from stratagem.engines.remote.retries import Failure, Patience, pause
from stratagem.engines.remote.secret import key_for
from stratagem.engines.remote.tally import Prices, Tally, prices_from_environment
from stratagem.engines.remote.terms import ServerFailed, current
from stratagem.errors import BadParameter, CannotCompute, MissingExtra
from stratagem.models.reference import ModelRef, parse_model

if TYPE_CHECKING:
    from stratagem.engines.remote.connection import Connection

_FIRST_TRIES = 2
"""Number of tries at an address that never answered: a wrong one does not get better."""
_REVOKED = (401, 402)
"""Statuses after which a server refuses everything: the key, or the credit on it, has ended."""
_LISTED = 10
"""Number of models that an error lists when the requested one is not there."""


class OpenAIEngine:
    """Engine of a server: many requests at once, in order, each retried where that may help.

    Until the first answered request, a server that cannot be used is an error. From then on a failure costs its own
    request only, until the share of failed requests is too large (`Terms.max_failures`) or the key is revoked.
    """

    capabilities = Capabilities(masks=False, scores=False, repeats=False)

    def __init__(
        self,
        ref: ModelRef | str,
        *,
        max_concurrent: int | None = None,
        patience: Patience | None = None,
        max_failures: float | None = None,
        prices: Prices | None = None,
    ) -> None:
        ref = parse_model(ref) if isinstance(ref, str) else ref
        if ref.url is None:
            raise BadParameter(f"{ref} is not behind a server: say api:MODEL@URL.")
        check_encrypted(ref.url)
        given: dict[str, Any] = {"max_concurrent": max_concurrent, "patience": patience, "max_failures": max_failures}
        self._terms = replace(current(), **{name: value for name, value in given.items() if value is not None})
        if find_spec("openai") is None or find_spec("httpx2") is None:
            raise MissingExtra(f"The model {ref}", "api")
        from stratagem.engines.remote.connection import Connection

        self.name = str(ref)
        self.tally = Tally(prices=prices or prices_from_environment(ref.where))
        self._model, self._url = ref.where, ref.url
        self._patience = self._terms.patience
        self._secret = key_for(ref.url)
        self._adjustments: Adjustments = frozenset()
        self._met = self._spoke = False
        self._absent: Failure | None = None  # why nobody is there, as the first request of a batch found
        self._server = Background(
            partial(Connection, ref.url, self._secret, self._patience, self._terms.max_concurrent)
        )
        self.listener: Listener | None = None

    def __repr__(self) -> str:
        return f"OpenAIEngine({self.name})"

    @property
    def vocabulary(self) -> Vocabulary:
        raise CannotCompute(
            f"{self.name} is behind a server, which does not tell its tokens: take a model of your own."
        )

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        raise CannotCompute(f"{self.name} is behind a server, which tells no probabilities: take a model of your own.")

    @property
    def ends(self) -> frozenset[int]:
        """Raise an error: a server gives texts, no tokens."""
        return frozenset()

    def begin(self, messages: Chat) -> Prompt:
        return Prompt(messages)

    def follow(self, call: Call, user: str) -> Prompt:
        """Return the prompt that extends a reply; an error is left out, since the model did not write it."""
        replies: Chat = () if call.finish == "error" else (("assistant", call.text),)
        return Prompt((*call.prompt.messages, *replies, ("user", user)))

    def answer(self, requests: Sequence[Request]) -> list[Call]:
        for request in requests:
            check(request)
        self._absent = None
        self._asked = self.tally.num_requests + len(requests)
        outcomes = self._server.run(lambda server: self._all(server, requests))
        if not self._spoke:
            for _, failure in outcomes:
                self._refuse(failure)
        for _, failure in outcomes:
            if failure is not None:
                self._bear(failure)
        return [call for call, _ in outcomes]

    async def _all(self, server: Connection, requests: Sequence[Request]) -> list[tuple[Call, Failure | None]]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(server, request)) for request in requests]
        except* ServerFailed as several:
            raise several.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _one(self, server: Connection, request: Request) -> tuple[Call, Failure | None]:
        """Send one request in its slot, which it keeps between tries: a busy server is then asked less."""
        async with server.slots:
            start = time.perf_counter()
            try:
                reply, failure = await self._persist(server, request), None
            except Failure as last:
                reply, failure = Reply(text=f"{cause(self._url, last)}.", finish="error"), last
                self._absent = None if last.reached else last
            ms = (time.perf_counter() - start) * 1e3
        errors = int(failure is not None)
        self._count(Tally(num_requests=1, num_errors=errors, num_prompt=reply.num_prompt, num_reply=reply.num_reply))
        call = self._call(request, reply, ms)
        if failure is None and self.listener is not None:
            self.listener(request, call)
        if failure is not None and (self._spoke or not is_mistake(failure, self._model)):
            self._bear(failure)
        return call, failure

    def _bear(self, failure: Failure) -> None:
        """Stop where failures are too many, or no further request can succeed."""
        if failure.status in _REVOKED:
            raise ServerFailed(f"{cause(self._url, failure)}: it takes the key no longer, so nothing more is asked.")
        if not self._terms.bears(self.tally.num_errors, self._asked):
            share = self._terms.max_failures
            raise ServerFailed(
                f"{self.tally.num_errors} of {self.tally.num_requests} requests to {self._url} failed, more than the "
                f"share of {share:g} that is borne, so nothing more is asked; the last: {cause(self._url, failure)}."
            )

    async def _persist(self, server: Connection, request: Request) -> Reply:
        """Retry until there is a reply, or another try would not help."""
        turn = 0
        while True:
            turn += 1
            if self._absent and not self._met:
                raise self._absent
            try:
                return await self._try(server, request)
            except Failure as failure:
                if not failure.again or turn >= self._tries(failure):
                    raise
                asked = failure.asked
            self._count(Tally(num_retries=1))
            await asyncio.sleep(pause(self._patience, turn, request.key, asked))

    async def _try(self, server: Connection, request: Request) -> Reply:
        """Try once, with other parameters where the server refuses one."""
        adjustments = self._adjustments
        try:
            reply = read_reply(await server.chat(chat_body(self._model, request, adjustments)), self._secret.hide)
        except Failure as failure:
            self._met |= failure.reached
            needed = adjustment(failure)
            if needed is None or needed in adjustments:
                raise
            self._adjustments |= {needed}
            return await self._try(server, request)
        self._met = self._spoke = True
        return reply

    def _tries(self, failure: Failure) -> int:
        """Return the number of tries; at an address that never answered, all requests of the batch give up together."""
        if failure.reached or self._met:
            return self._patience.tries
        return min(_FIRST_TRIES, self._patience.tries)

    def _count(self, more: Tally) -> None:
        self.tally = self.tally.plus(more)

    def _call(self, request: Request, reply: Reply, ms: float) -> Call:
        return Call(
            policy=PolicyId(self.name),
            prompt=request.prompt,
            text=reply.text,
            sampling=request.sampling,
            finish=reply.finish,
            num_prompt=reply.num_prompt,
            num_reply=reply.num_reply,
            ms=ms,
        )

    def _refuse(self, failure: Failure | None) -> None:
        """Raise a mistake that the user can correct."""
        if failure is not None and is_mistake(failure, self._model):
            models = self._models() if lacks(failure, self._model) else []
            raise bad_server(self._url, failure, self._secret, self._model, models)

    def _models(self) -> list[str]:
        """Return the first models that the server lists; none where it does not."""
        try:
            return read_models(self._server.run(lambda server: server.models()), self._secret.hide, _LISTED)
        except Failure:
            return []
