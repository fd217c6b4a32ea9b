"""Base of engines that answer elsewhere: many requests at once, each retried where that may help.

A subclass sends one request and reads its reply. The rest is the same for models behind servers and for agents outside.
"""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial
from queue import SimpleQueue
from threading import Condition
from typing import Generic, NoReturn, Protocol, TypeVar

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.language.decoding.vocabulary import Vocabulary
from stratagem.language.engines.base import (
    Call,
    Capabilities,
    Chat,
    Listener,
    PolicyId,
    Prompt,
    Request,
    RequestAnswer,
    ScoreRequest,
    Scores,
)
from stratagem.language.engines.remote.background import Background, Closable, wait_until_ended
from stratagem.language.engines.remote.budget import BudgetSpent, CallCost, current_budget, largest_cost, pay_request
from stratagem.language.engines.remote.replies import ServerReply
from stratagem.language.engines.remote.retries import Failure, pause
from stratagem.language.engines.remote.scout import Scout
from stratagem.language.engines.remote.tally import EngineTally
from stratagem.language.engines.remote.terms import ServerFailed, Terms
from stratagem.language.engines.streaming import StreamingEngine

Outcome = tuple[Call, Failure | None]
"""Reply to a request, and the failure where there was none."""
_FIRST_TRIES = 3
"""Number of tries at an address that never answered: a wrong one does not get better."""
_REVOKED = (401, 402)
"""Statuses after which a server refuses everything: the key, or the credit on it, has ended."""


class LimitedConnection(Closable, Protocol):
    """Connection with a limit on the requests that are under way at once."""

    slots: asyncio.Semaphore


C = TypeVar("C", bound=LimitedConnection)


class RemoteEngine(StreamingEngine, Generic[C]):
    """Engine whose replies come from elsewhere, each when it is there.

    Until the first answered request, a place that cannot be used is an error. From then on a failure costs its own
    request only, until the share of failed requests is too large (`Terms.max_failures`) or the key is revoked.
    """

    capabilities = Capabilities(masks=False, scores=False, repeats=False)

    def __init__(self, name: str, terms: Terms, connect: Callable[[], C], tally: EngineTally) -> None:
        super().__init__()
        self.name = name
        self.tally = tally
        self._terms, self._patience = terms, terms.patience
        self._met = self._spoke = False
        self._scout: Scout | None = None
        self._absent: Failure | None = None  # why nobody is there, as the first of the open requests found
        self._failed: StratagemError | None = None  # why the open requests are not sent any more
        self._sent: dict[int, Future[Outcome]] = {}
        self._arrived: SimpleQueue[int] = SimpleQueue()
        self._num_arrived, self._news = 0, Condition()
        self._expected: set[int] = set()
        """Tickets whose requests may be sent."""
        self._unsure: dict[int, Outcome] = {}
        """Outcomes that came before any request was answered: mistakes are told apart from bad luck later."""
        self._server = Background(connect)
        self.listener: Listener | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    @abstractmethod
    async def _try(self, server: C, request: Request) -> ServerReply:
        """Send a request once and return the reply, or raise a `Failure`."""

    @abstractmethod
    def _cause(self, failure: Failure) -> str:
        """Describe a failure as a sentence without its end."""

    @abstractmethod
    def _is_mistake(self, failure: Failure) -> bool:
        """Return whether the same would happen to any request."""

    @abstractmethod
    def _mistake(self, failure: Failure) -> StratagemError | None:
        """Return the error that says how to correct a mistake; None where it is a failure like any other after all."""

    @property
    def vocabulary(self) -> Vocabulary:
        raise CannotCompute(f"{self.name} is elsewhere and does not tell its tokens: take a model of your own.")

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        raise CannotCompute(f"{self.name} is elsewhere and tells no probabilities: take a model of your own.")

    @property
    def ends(self) -> frozenset[int]:
        """Return nothing: there are texts, no tokens."""
        return frozenset()

    def begin(self, messages: Chat) -> Prompt:
        return Prompt(messages)

    def follow(self, call: Call, user: str) -> Prompt:
        """Return the prompt that extends a reply; an error is left out, since the model did not write it."""
        replies: Chat = () if call.failed else (("assistant", call.text),)
        return Prompt((*call.prompt.messages, *replies, ("user", user)))

    def _send(self, tickets: Collection[int]) -> None:
        """Send those of the tickets that wait.

        An interrupt may come after any line, so a request is not sent unless `_expected` has its ticket.
        """
        if not self._sent:
            self._absent = self._failed = self._scout = None
        for ticket in tickets:
            if ticket in self._waiting:
                self._expected.add(ticket)
                future = self._server.start(partial(self._one, ticket=ticket, request=self._waiting[ticket]))
                self._sent[ticket] = future
                del self._waiting[ticket]
                future.add_done_callback(partial(self._arrive, ticket))

    def _arrive(self, ticket: int, _: Future[Outcome]) -> None:
        self._arrived.put(ticket)
        with self._news:
            self._num_arrived += 1
            self._news.notify_all()

    def poll(self, tickets: Collection[int], *, wait: bool = True) -> list[RequestAnswer]:
        while True:
            with self._lock:
                self._send(tickets)
                known = self._num_arrived
                self._fetch()
                ready = [ticket for ticket in tickets if ticket in self._finished]
                if ready or not wait or not self._sent:
                    return [RequestAnswer(ticket, self._finished.pop(ticket)) for ticket in ready]
            with self._news:  # another thread may fetch what arrives, so each looks whether it was its own
                self._news.wait_for(lambda: self._num_arrived != known)  # noqa: B023 - it is called at once

    def _work(self) -> dict[int, Call]:
        """Return nothing: the work is done elsewhere."""
        return {}

    def _fetch(self) -> None:
        """Take the outcomes that have arrived."""
        while self._sent and not self._arrived.empty():
            ticket = self._arrived.get()
            future = self._sent.pop(ticket, None)
            self._expected.discard(ticket)
            if future is None or future.cancelled():
                continue  # it was cancelled
            self._unsure[ticket] = future.result()
        if self._spoke or not self._sent or (self._scout is not None and self._scout.failed):
            self._judge()

    def _judge(self) -> None:
        """Accept the outcomes so far, or raise the mistake or the failure that they show."""
        outcomes, self._unsure = self._unsure, {}
        failures = [failure for _, failure in outcomes.values() if failure is not None]
        doubtful = [] if self._spoke else [failure for failure in failures if self._is_mistake(failure)]
        if doubtful and (mistake := self._mistake(doubtful[0])) is not None:
            self._failed = mistake
        if self._scout is not None:
            self._scout.release()
        if self._failed is not None and doubtful:
            raise self._failed
        for failure in failures:
            self._bear(failure)
        self._finished.update({ticket: call for ticket, (call, _) in outcomes.items()})

    def _abandon(self, tickets: Collection[int]) -> None:
        self._expected.difference_update(tickets)
        for ticket in tickets:
            self._unsure.pop(ticket, None)
            if (future := self._sent.pop(ticket, None)) is not None:
                future.cancel()
        self._server.run(lambda _: wait_until_ended())

    async def _one(self, server: C, *, ticket: int, request: Request) -> Outcome:
        """Send one request in its slot, which it keeps between tries: a busy server is then asked less."""
        async with server.slots:
            if self._failed is not None:
                raise self._failed
            if ticket not in self._expected:
                raise asyncio.CancelledError
            start = time.perf_counter()
            try:
                reply, failure = await self._follow_scout(server, request), None
            except Failure as last:
                text, failure = f"{self._cause(last)}.", last
                reply = ServerReply(text=text, finish=last.kind, num_prompt=last.num_prompt, num_reply=last.num_reply)
                self._absent = None if last.reached else last
            ms = (time.perf_counter() - start) * 1e3
        self._count(_tally_reply(reply, failure))
        call = self._call(request, reply, ms)
        if failure is None and self.listener is not None:
            self.listener(request, call)
        if failure is not None and (self._spoke or not self._is_mistake(failure)):
            self._bear(failure)
        return call, failure

    def _bear(self, failure: Failure) -> None:
        """Stop where failures are too many, or no further request can succeed."""
        if failure.status in _REVOKED:
            self._fail(f"{self._cause(failure)}: it takes the key no longer, so nothing more is asked.")
        if not self._terms.bears(self.tally.num_errors, self.tally.num_requests + self._num_unanswered):
            share = self._terms.max_failures
            self._fail(
                f"{self.tally.num_errors} of {self.tally.num_requests} requests to {self._place} failed, and "
                f"`max_failures={share:g}` allows a smaller share, so nothing more is asked; the last: "
                f"{self._cause(failure)}."
            )

    @property
    def _place(self) -> str:
        """Where the requests go, for a sentence."""
        return self.name

    @property
    def _num_unanswered(self) -> int:
        return sum(not future.done() for future in list(self._sent.values()))

    def _fail(self, sentence: str) -> NoReturn:
        self._failed = ServerFailed(sentence)
        raise self._failed

    async def _follow_scout(self, server: C, request: Request) -> ServerReply:
        """Send one request first to a place that has not answered; the others wait until it is known to be there."""
        if self._spoke:
            return await self._persist(server, request)
        if self._scout is not None:
            await self._scout.wait()
            if self._failed is not None:
                raise self._failed
            return await self._persist(server, request)
        self._scout = scout = Scout()
        try:
            reply = await self._persist(server, request)
        except Failure as failure:
            scout.failed = self._is_mistake(failure)  # released by the judgement whether it is one
            if not scout.failed:
                scout.release()
            raise
        except BaseException:
            scout.release()
            raise
        scout.release()
        return reply

    async def _persist(self, server: C, request: Request) -> ServerReply:
        """Retry until there is a reply, or another try would not help."""
        turn = 1
        while True:
            if self._absent and not self._met:
                raise self._absent
            try:
                with self._scout.under_way() if self._scout is not None else nullcontext():
                    reply = await self._try_within_budget(server, request)
            except Failure as failure:
                self._met |= failure.reached
                if self._scout is not None and not self._is_mistake(failure):
                    self._scout.release()
                if failure.adjusted:
                    continue
                if not failure.again or turn >= self._tries(failure):
                    raise
                asked = failure.asked
            else:
                self._met = self._spoke = True
                return reply
            self._count(EngineTally(num_retries=1))
            await asyncio.sleep(pause(self._patience, turn, request.key, asked))
            turn += 1

    async def _try_within_budget(self, server: C, request: Request) -> ServerReply:
        """Try once within the budget of the command."""
        if (budget := current_budget()) is None:
            return await self._try(server, request)
        try:
            return await pay_request(budget, self._largest_cost(request), self.tally.prices, self._try(server, request))
        except BudgetSpent as spent:
            self._failed = spent
            raise

    def _largest_cost(self, request: Request) -> CallCost:
        """Return the largest cost of one try."""
        return largest_cost(request)

    def _tries(self, failure: Failure) -> int:
        """Return the number of tries; at an address that never answered, all requests of the batch give up together."""
        if failure.reached or self._met:
            return self._patience.tries
        return min(_FIRST_TRIES, self._patience.tries)

    def _count(self, more: EngineTally) -> None:
        self.tally = self.tally.plus(more)

    def _call(self, request: Request, reply: ServerReply, ms: float) -> Call:
        return Call(
            policy=PolicyId(self.name),
            prompt=request.prompt,
            text=reply.text,
            sampling=request.sampling,
            finish=reply.finish,
            num_prompt=reply.num_prompt,
            num_reply=reply.num_reply,
            ms=ms,
            alternatives=reply.alternatives,
            reasoning=reply.reasoning,
            answer_id=reply.answer_id,
        )


def _tally_reply(reply: ServerReply, failure: Failure | None) -> EngineTally:
    errors = int(failure is not None)
    return EngineTally(num_requests=1, num_errors=errors, num_prompt=reply.num_prompt, num_reply=reply.num_reply)
