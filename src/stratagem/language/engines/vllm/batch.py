"""Requests in vLLM's batch, and those that wait for a slot of an adapter.

vLLM reads one token a pass in a reply. Where a guide forces a run of tokens, the reply leaves and enters again with the
run in its prompt, which is read in one pass; its earlier tokens come from the cache of prefixes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

from stratagem.language.engines.vllm.adapters import Adapters
from stratagem.language.engines.vllm.rows import ReplyRow, Row
from stratagem.language.engines.vllm.served_by import Output, Runtime


class VLLMBatch:
    """Rows in progress; vLLM is started, or its server is asked, when the first one comes."""

    def __init__(self, adapters: Adapters, start: Callable[[], Runtime]) -> None:
        self.adapters = adapters
        self.started: Runtime | None = None
        self._start = start
        self._waiting: list[Row] = []
        self._live: dict[str, Row] = {}

    @property
    def runtime(self) -> Runtime:
        """VLLM with the base's present weights."""
        if self.started is None:
            self.started = self._start()
        return self.started

    def stop(self) -> None:
        """Stop vLLM, because the base's weights changed."""
        if self.started is not None:
            self.started.close()
            self.started = None
        self.adapters.forget_loaded()

    @property
    def idle(self) -> bool:
        """True if no row is in progress."""
        return not self._live and not self._waiting

    def add(self, rows: Sequence[Row]) -> None:
        """Let rows begin as soon as there is a slot for their adapters; rows that begin alike come together."""
        self._waiting += sorted(rows, key=lambda row: (row.adapter, row.tokens))

    def step(self, *, wait: bool = True) -> list[Row]:
        """Run one pass, or wait for a server, and return the rows that are over."""
        start = time.perf_counter()
        self._admit()
        live = list(self._live.values())
        over = list[Row]()
        for output in self.runtime.step(wait=wait):
            row = self._live[output.name]
            self._take(row, output)
            if row.over(self.runtime.longest):
                over.append(row)
                self._leave(output.name, output.ended)
            elif row.has_run or output.ended:
                self._leave(output.name, output.ended)
                self._enter(row)
        ms = (time.perf_counter() - start) * 1000.0 / max(1, len(live))
        for row in live:
            if isinstance(row, ReplyRow):
                row.reply.ms += ms
        return over

    def _take(self, row: Row, output: Output) -> None:
        """Take new tokens, up to the end or a run of forced tokens: a server adds a token there, which ends it."""
        for place, token in enumerate(output.tokens):
            row.take(token, output.drawn[place] if output.drawn else None)
            if row.over(self.runtime.longest) or row.has_run:
                break

    def _admit(self) -> None:
        """Let waiting rows enter, in order, as far as there are slots for their adapters."""
        waiting, self._waiting = self._waiting, []
        for row in waiting:
            if not self._enter(row):
                self._waiting.append(row)

    def _enter(self, row: Row) -> bool:
        """Add a row to vLLM's batch; False if its adapter has no slot now."""
        version = None
        if row.adapter:
            busy = {other.adapter for other in self._live.values()}
            version = self.adapters.ready(row.adapter, busy, self.runtime)
            if version is None:
                return False
        tokens, room = row.begin(self.runtime.longest)
        self._live[self.runtime.add(row, tokens, room, version)] = row
        return True

    def _leave(self, name: str, ended: bool) -> None:
        del self._live[name]
        if not ended:
            self.runtime.abort([name])

    def cancel(self, rows: Collection[Row]) -> None:
        """Drop rows."""
        self._waiting = [row for row in self._waiting if row not in rows]
        for name in [name for name, row in self._live.items() if row in rows]:
            self._leave(name, ended=False)

    def clear(self) -> None:
        """Drop all rows."""
        self.cancel([*self._waiting, *self._live.values()])
