"""Agent behind an address: each question is the body of a POST request, and its answer the body of the response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stratagem.engines.agents.wire import malformed
from stratagem.engines.openai_engine import check_installed
from stratagem.engines.remote.replies import parsed, quoted
from stratagem.engines.remote.retries import Patience
from stratagem.engines.remote.secret import Secret

if TYPE_CHECKING:
    import asyncio

__all__ = ["Posts", "check_installed"]


class Posts:
    """Client of the server of an agent."""

    def __init__(self, url: str, secret: Secret, patience: Patience, max_concurrent: int) -> None:
        from stratagem.engines.remote.connection import Connection

        self._url, self._secret = url, secret
        self._connection = Connection(url, secret, patience, max_concurrent)
        self.slots: asyncio.Semaphore = self._connection.slots

    async def ask(self, question: Mapping[str, Any]) -> object:
        """Return the answer to a question, whatever it is."""
        body = await self._connection.post(self._url, dict(question))
        if (answer := parsed(body)) is None:
            raise malformed(
                f"gave an answer that is no JSON: {quoted(self._secret.hide(body.decode('utf-8', 'replace')))}"
            )
        return answer

    async def aclose(self) -> None:
        await self._connection.aclose()
