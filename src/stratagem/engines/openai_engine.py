"""A model behind a server that speaks OpenAI's chat protocol, as vLLM, llama.cpp, `transformers serve` and services do.

Replies are free text: the protocol has no masks and tells no scores of given words.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn

from stratagem.decoding.vocabulary import Vocabulary
from stratagem.engines.base import (
    Answered,
    Call,
    Capabilities,
    Chat,
    Listener,
    PolicyId,
    Prompt,
    Request,
    ScoreRequest,
    Scores,
)
from stratagem.engines.remote.background import Background, ended
from stratagem.engines.remote.hosts import check_encrypted
from stratagem.engines.remote.mistakes import bad_server, cause, is_mistake, lacks
from stratagem.engines.remote.protocol import Adjustments, adjustment, chat_body, check
from stratagem.engines.remote.replies import Reply, read_models, read_reply
from stratagem.engines.remote.retries import Failure, Patience, pause
from stratagem.engines.remote.secret import key_for
from stratagem.engines.remote.tally import Prices, Tally, prices_from_environment
from stratagem.engines.remote.terms import ServerFailed, current
from stratagem.engines.streaming import StreamingEngine
from stratagem.errors import BadParameter, CannotCompute, MissingExtra
from stratagem.models.reference import ModelRef, parse_model

Outcome = tuple[Call, Failure | None]
"""Reply to a request, and the failure where there was none."""
if TYPE_CHECKING:
    from stratagem.engines.remote.connection import Connection

_FIRST_TRIES = 2
"""Number of tries at an address that never answered: a wrong one does not get better."""
_REVOKED = (401, 402)
"""Statuses after which a server refuses everything: the key, or the credit on it, has ended."""
_LISTED = 10
"""Number of models that an error lists when the requested one is not there."""


class OpenAIEngine(StreamingEngine):
    """Engine of a server: many requests at once, each retried where that may help, each answered when it is there.

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
        super().__init__()
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
        self._absent: Failure | None = None  # why nobody is there, as the first of the open requests found
        self._failed: ServerFailed | None = None  # why the open requests are not sent any more
        self._sent: dict[int, Future[Outcome]] = {}
        self._arrived: SimpleQueue[int] = SimpleQueue()
        self._expected: set[int] = set()
        """Tickets whose requests may be sent."""
        self._unsure: dict[int, Outcome] = {}
        """Outcomes that came before the server answered any request: mistakes are told apart from bad luck later."""
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

    def submit(self, requests: Sequence[Request]) -> list[int]:
        for request in requests:
            check(request)
        return super().submit(requests)

    def _send(self, tickets: Collection[int]) -> None:
        """Send those of the tickets that wait.

        An interrupt may come after any line, so a request is not sent unless `_expected` has its ticket.
        """
        if not self._sent:
            self._absent = self._failed = None
        for ticket in tickets:
            if ticket in self._waiting:
                self._expected.add(ticket)
                future = self._server.start(partial(self._one, ticket=ticket, request=self._waiting[ticket]))
                self._sent[ticket] = future
                del self._waiting[ticket]
                future.add_done_callback(partial(self._arrive, ticket))

    def _arrive(self, ticket: int, _: Future[Outcome]) -> None:
        self._arrived.put(ticket)

    def poll(self, tickets: Collection[int], *, wait: bool = True) -> list[Answered]:
        self._send(tickets)
        while True:
            self._fetch(block=wait and not any(ticket in self._finished for ticket in tickets))
            if not wait or any(ticket in self._finished for ticket in tickets) or not self._sent:
                break
        ready = [ticket for ticket in tickets if ticket in self._finished]
        return [Answered(ticket, self._finished.pop(ticket)) for ticket in ready]

    def _work(self) -> dict[int, Call]:
        """Return nothing: the work is done elsewhere."""
        return {}

    def _fetch(self, *, block: bool) -> None:
        """Take the outcomes that have arrived; with `block`, at least one if any request is open."""
        while self._sent and (block or not self._arrived.empty()):
            ticket, block = self._arrived.get(), False
            future = self._sent.pop(ticket, None)
            self._expected.discard(ticket)
            if future is None or future.cancelled():
                continue  # it was cancelled
            self._unsure[ticket] = future.result()
        if self._spoke or not self._sent:
            self._judge()

    def _judge(self) -> None:
        """Accept the outcomes so far, or raise the mistake or the failure that they show."""
        outcomes, self._unsure = self._unsure, {}
        if not self._spoke:
            for _, failure in outcomes.values():
                self._refuse(failure)
        for _, failure in outcomes.values():
            if failure is not None:
                self._bear(failure)
        self._finished.update({ticket: call for ticket, (call, _) in outcomes.items()})

    def _abandon(self, tickets: Collection[int]) -> None:
        self._expected.difference_update(tickets)
        for ticket in tickets:
            self._unsure.pop(ticket, None)
            if (future := self._sent.pop(ticket, None)) is not None:
                future.cancel()
        self._server.run(lambda _: ended())

    async def _one(self, server: Connection, *, ticket: int, request: Request) -> Outcome:
        """Send one request in its slot, which it keeps between tries: a busy server is then asked less."""
        async with server.slots:
            if self._failed is not None:
                raise self._failed
            if ticket not in self._expected:
                raise asyncio.CancelledError
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
            self._fail(f"{cause(self._url, failure)}: it takes the key no longer, so nothing more is asked.")
        if not self._terms.bears(self.tally.num_errors, self.tally.num_requests + self._num_unanswered):
            share = self._terms.max_failures
            self._fail(
                f"{self.tally.num_errors} of {self.tally.num_requests} requests to {self._url} failed, more than the "
                f"share of {share:g} that is borne, so nothing more is asked; the last: {cause(self._url, failure)}."
            )

    @property
    def _num_unanswered(self) -> int:
        return sum(not future.done() for future in list(self._sent.values()))

    def _fail(self, sentence: str) -> NoReturn:
        self._failed = ServerFailed(sentence)
        raise self._failed

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
