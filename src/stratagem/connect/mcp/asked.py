"""Questions of an audit as tables: an agent observes and acts, and its answers go to the audit that waits for them.

The audit plays on a thread of its own and asks this queue; the agent comes by tools on other threads. A question is
opened for the agent when an earlier one is answered, so its time begins when the agent is told it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from math import inf
from threading import Condition, Event
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.connect.mcp.handles import TableHandles
from stratagem.connect.mcp.questions import AskedTable
from stratagem.connect.mcp.replies import TableReply, attempt_text, plain_reply, question_reply
from stratagem.connect.outside import Outside
from stratagem.language.engines.base import Call, Finish, Request, RequestAnswer
from stratagem.language.engines.outcomes import count_outcomes
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.playing.dispatch import Dispatcher

PATIENCE = 20.0
"""Seconds for which a call waits for the next question; clients give up after about a minute."""
_BESIDE = 0.01
"""Seconds between two looks at the engines of other players, where questions of the agent are open, too."""
_MOST_TABLES = 4096
"""Number of tables whose handles are known."""
_SAME_RULES = "The rules are those of the question before."
_FORGOTTEN = "it waits no longer for an answer"


class AskedTables:
    """Queue of the requests of an audit, and the tables at which its agent answers them."""

    def __init__(
        self,
        engine: Outside,
        *,
        planned: int,
        timeout: float,
        concurrent: int,
        idle: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`planned` is the largest number of decisions, `concurrent` of questions that the agent is told at once."""
        self._engine, self._planned = engine, planned
        self._timeout, self._concurrent, self._idle = timeout, concurrent, idle
        self._clock = clock
        self._news = Condition()
        self._inner = Dispatcher()
        """Requests of other players, such as a baseline that is a model."""
        self._beside: dict[int, int] = {}
        """Own tickets by those of the inner queue."""
        self._tickets = 0
        self._open: dict[int, AskedTable] = {}
        """Tables whose questions wait for answers, by their tickets."""
        self._ready: list[RequestAnswer] = []
        self._handles: TableHandles[AskedTable] = TableHandles(_MOST_TABLES, inf, clock)
        self._num_answered = 0
        self._called = clock()
        self._left = self._over = ""
        self.told_end = Event()
        """Set when the agent was told that the audit is over."""

    # The side of the audit.

    def submit(self, requests: Sequence[Any]) -> list[int]:
        with self._news:
            tickets = [self._tickets + place for place in range(len(requests))]
            self._tickets += len(requests)
            others = {}
            for ticket, request in zip(tickets, requests, strict=True):
                if isinstance(request, Request) and request.engine is self._engine:
                    self._ask(ticket, request)
                else:
                    others[ticket] = request
            self._beside |= dict(zip(self._inner.submit(list(others.values())), others, strict=True))
            self._news.notify_all()
        return tickets

    def poll(self) -> list[RequestAnswer]:
        while True:
            with self._news:
                self._give_up_late()
                if self._ready:
                    answered, self._ready = self._ready, []
                    count_outcomes(call for _, call in answered)
                    return answered
                if self._left:
                    raise ServerFailed(self._left)
                if not self._beside:
                    if not self._open:
                        return []
                    self._news.wait(self._pause())
                    continue
            if answered := [RequestAnswer(self._beside.pop(one), call) for one, call in self._poll_others()]:
                return answered

    def _poll_others(self) -> list[RequestAnswer]:
        answered = self._inner.poll(wait=not self._open)
        if not answered:
            time.sleep(_BESIDE)
        return answered

    def cancel(self) -> None:
        with self._news:
            for table in list(self._open.values()):
                self._close(table, _FORGOTTEN)
            self._ready.clear()
            self._beside.clear()
            self._inner.cancel()

    def leave(self, why: str) -> None:
        """Stop the audit, whose agent comes no more; the sentence says why."""
        with self._news:
            self._left = self._left or why
            self._over = self._over or why
            self._news.notify_all()

    def end(self, sentence: str) -> None:
        """Tell the agent that the audit is over."""
        with self._news:
            self._over = sentence
            self._news.notify_all()

    def _ask(self, ticket: int, request: Request) -> None:
        self._handles.check_room()
        table = self._open[ticket] = AskedTable(ticket, request, json.loads(request.prompt.messages[-1][1]))
        table.handle = self._handles.add(table)

    def _give_up_late(self) -> None:
        """Close the questions without an answer in time, and stop where the agent has not come for too long."""
        now = self._clock()
        for table in list(self._open.values()):
            if table.told_at is not None and now - table.told_at >= self._timeout:
                self._answer(table, f"The agent gave no answer within {self._timeout:g} s.", "timeout")
                self._close(table, f"there was no answer within {self._timeout:g} s, which counts as no reply")
        if self._open and now - self._called >= self._idle:
            self._left = self._over = f"{self._engine.name} has not called for {self._idle:g} s, so the audit stopped."

    def _pause(self) -> float:
        """Return the seconds until a question is late, or the agent has been away too long."""
        told = [table.told_at for table in self._open.values() if table.told_at is not None]
        ends = [self._called + self._idle, *(at + self._timeout for at in told)]
        return max(0.0, min(ends) - self._clock())

    # The side of the agent.

    @property
    def summary(self) -> str:
        """Purpose of the server, for an agent that has no table yet."""
        return (
            "This server asks you for decisions in games, one after another. open_table has the first question; the "
            "reply to act has the next one, at another table."
        )

    def open(self, game: str, seat: int | None) -> TableReply:
        """Return the next question, or the one that waits for an answer."""
        if game or seat is not None:
            raise BadParameter("Here the server chooses the game and the seat: call open_table without them.")
        return self._next("", "")

    def rules(self, handle: str) -> str:
        """Return the rules of the game of a table; an agent that asks for nothing else counts as away."""
        with self._news:
            return self._handles.find(handle).rules

    def observe(self, handle: str) -> TableReply:
        """Return what is asked at a table now; to look at a closed one only counts as away, too."""
        with self._news:
            table = self._handles.find(handle)
            if table.closed:
                return self._reply_without_question(handle)
            self._called = self._clock()
            return self._show(table, "")

    def act(self, handle: str, number: str, text: str) -> TableReply:
        """Answer a question, and return the next one."""
        with self._news:
            self._called = self._clock()
            self._give_up_late()
            table = self._handles.find(handle)
            table.check(number)
            self._answer(table, text, "done")
            self._close(table, "it is answered already")
            self._num_answered += 1
        return self._next("Your answer is taken.", table.rules)

    def _answer(self, table: AskedTable, text: str, finish: Finish) -> None:
        seconds = 0.0 if table.told_at is None else self._clock() - table.told_at
        call: Call = self._engine.call(table.request, text, finish=finish, seconds=seconds)
        self._ready.append(RequestAnswer(table.ticket, call))
        self._news.notify_all()

    def _close(self, table: AskedTable, what: str) -> None:
        del self._open[table.ticket]
        table.closed = what

    def _next(self, told: str, known_rules: str) -> TableReply:
        """Wait for a question to tell; where none comes soon, say so."""
        with self._news:
            self._called = self._clock()
            end = time.monotonic() + PATIENCE
            while not self._over:
                if (table := self._due()) is not None:
                    same = table.rules == known_rules
                    return self._show(table, told, _SAME_RULES if same else table.rules)
                if (left := end - time.monotonic()) <= 0.0:
                    break
                self._news.wait(left)
            return self._reply_without_question("", told)

    def _due(self) -> AskedTable | None:
        """Return the question to tell: a new one while few are told.

        An agent that is told one at a time and has lost its handle gets it again; of several agents each gets its own.
        """
        told = [table for table in self._open.values() if table.told_at is not None]
        if told and self._concurrent == 1:
            return told[0]
        new = (table for table in self._open.values() if table.told_at is None)
        return next(new, None) if len(told) < self._concurrent else None

    def _show(self, table: AskedTable, *before: str) -> TableReply:
        if table.told_at is None:
            table.told_at = self._clock()
            self._news.notify_all()  # the audit waits no longer than its time
        told = [*before, attempt_text(table.data["attempt"])]
        counts = {"answered": self._num_answered, "at_most": self._planned}
        return question_reply(table.handle, table.number, table.data, told, **counts)

    def _reply_without_question(self, handle: str, *told: str) -> TableReply:
        if self._over:
            self.told_end.set()
            return plain_reply(handle, "over", [*told, self._over], answered=self._num_answered)
        next_one = "Nothing more is asked at this table" if handle else "No question is open yet"
        return plain_reply(
            handle, "waiting", [*told, f"{next_one}: call open_table for the next one."], answered=self._num_answered
        )
