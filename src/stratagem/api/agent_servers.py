"""Open servers for agents that call us: tables of games, and an audit that waits for answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from stratagem.api.audits import Audit, carry_out_audit, how_to_go_on
from stratagem.api.stopped import going_on
from stratagem.measure.audit.condition import Condition
from stratagem.measure.audit.pace import decisions_of
from stratagem.measure.audit.plan import AuditPlan

if TYPE_CHECKING:
    from stratagem.connect.mcp.asked import AskedTables
    from stratagem.connect.mcp.tools import TableSource

_LAST_WORD = 10.0
"""Seconds in which an agent over HTTP may still hear that the audit is over."""
_DELIVERY = 0.3
"""Seconds for the answer to the last call."""


class AgentServer(Protocol):
    """Server that an agent calls: standard streams, or an address."""

    @property
    def url(self) -> str: ...

    def wait(self) -> None: ...

    def close(self) -> None: ...


class TableServer:
    """Tables that are open, until the client leaves or the server is closed."""

    has_result = False

    def __init__(self, server: AgentServer, games: Sequence[str], seed: int, closing: Callable[[], None]) -> None:
        """`closing` writes what was not yet recorded."""
        self._server, self._games, self._closing = server, games, closing
        self.url = server.url
        self.seed = seed
        """Seed of the deals: another server with it deals the same ones in the same order."""

    def first_lines(self) -> list[str]:
        """Return what a person is told at first."""
        return [f"Tables of {', '.join(self._games)} at {self.url}, with the deals of seed {self.seed}."]

    def wait(self) -> None:
        """Wait until the client has left, or the server is closed."""
        self._server.wait()

    def close(self) -> None:
        """Close the server; unfinished games are dropped."""
        self._server.close()
        self._closing()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AuditServer:
    """Audit that asks the agent which calls this server."""

    has_result = True

    def __init__(
        self,
        plan: AuditPlan,
        conditions: Sequence[Condition],
        folder: Path,
        tables: AskedTables,
        opened: Callable[[TableSource, Callable[[], None]], AgentServer],
        *,
        stays: bool,
        progress: bool,
    ) -> None:
        """`opened` opens the server, and calls its second argument when the client has left.

        A server that `stays` ends with its client, one over HTTP soon after the audit.
        """
        self._stays = stays
        self._folder, self._tables, self._plan = folder, tables, plan
        self._result: Audit | None = None
        self._error: BaseException | None = None
        self._server = opened(tables, lambda: tables.leave("The agent left before the audit was over."))
        self.url = self._server.url

        def work() -> None:
            try:
                self._result = carry_out_audit(plan, conditions, folder, queue=lambda: tables, progress=progress)
                tables.end("The audit is over: nothing more is asked. Thank you.")
            except BaseException as error:  # noqa: BLE001 - whoever waits gets it
                self._error = error
                tables.end("The audit has stopped: nothing more is asked now.")
            finally:
                self._ended.set()

        self._ended = Event()
        self._thread = Thread(target=work, name="stratagem-audit", daemon=True)
        self._thread.start()

    def first_lines(self) -> list[str]:
        """Return what a person is told at first."""
        return [f"Audit of at most {decisions_of(self._plan):,} decisions at {self.url}, into {self._folder}."]

    def wait(self) -> Audit:
        """Wait until the audit is over and the agent has heard of it; return its card."""
        with going_on(how_to_go_on(self._folder)):
            self._ended.wait()  # Python 3.11 takes a thread for ended whose `join` is interrupted, as by ^C
            if self._error is not None:
                raise self._error
            self._say_goodbye()
        assert self._result is not None
        return self._result

    def _say_goodbye(self) -> None:
        """Leave the agent time to hear that the audit is over."""
        if self._stays:
            self._server.wait()
        elif self._tables.told_end.wait(_LAST_WORD):
            time.sleep(_DELIVERY)

    def close(self) -> None:
        """Stop the audit, if it is not over, and close the server."""
        self._tables.leave("The audit was stopped.")
        self._thread.join()
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
