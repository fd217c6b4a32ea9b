"""Python function as an agent: each question is answered on a thread of its own, or in the engine's loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from inspect import isawaitable, iscoroutinefunction
from threading import Thread
from typing import Any

from stratagem.language.engines.remote.replies import quote_start
from stratagem.language.engines.remote.retries import Failure

Function = Callable[[dict[str, Any]], Any]
"""Function from a question to an answer: an action, its lines, or an object with an `action`."""


class Functions:
    """Function with a limit on its concurrent calls; a call that is late runs on, and its answer is dropped."""

    def __init__(self, function: Function, timeout: float, concurrent: int) -> None:
        self._function, self._timeout = function, timeout
        self.slots = asyncio.Semaphore(concurrent)

    async def ask(self, question: Mapping[str, Any]) -> object:
        """Return the answer to a question, whatever it is."""
        try:
            async with asyncio.timeout(self._timeout) as limit:
                answer = await self._call_function(dict(question))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is data
            if limit.expired():  # a TimeoutError may also be the function's own
                raise Failure(f"gave no answer within {self._timeout:g} s", kind="timeout") from None
            raise Failure(f"raised {type(error).__name__}: {quote_start(_error_text(error))}") from None
        return {"action": answer} if isinstance(answer, str | list | tuple) else answer

    def _call_function(self, question: dict[str, Any]) -> Awaitable[object]:
        if is_async(self._function):
            return self._function(question)  # type: ignore[no-any-return]
        return asyncio.wrap_future(_on_thread(self._function, question))

    async def aclose(self) -> None:
        """Do nothing: threads of late calls end with the program."""


def is_async(function: Function) -> bool:
    """Return whether calls of a function are awaited."""
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _on_thread(function: Function, question: dict[str, Any]) -> Future[object]:
    """Call a function on a thread that no end of the program waits for."""
    future: Future[object] = Future()

    def work() -> None:
        try:
            answer = function(question)
            if isawaitable(answer):
                raise TypeError("it returns an awaitable, so define it with `async def`")
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the agent's own
            result: Exception = (
                error if isinstance(error, Exception) else RuntimeError(f"it raised {type(error).__name__}")
            )
            with suppress(InvalidStateError):  # nobody waits for it any more
                future.set_exception(result)
        else:
            with suppress(InvalidStateError):
                future.set_result(answer)

    Thread(target=work, name="stratagem-agent", daemon=True).start()
    return future


def _error_text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a broken __str__ is the agent's fault too
        return "an error that cannot be shown"
