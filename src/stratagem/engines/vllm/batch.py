"""Requests in vLLM's batch, and those that wait for a slot of an adapter.

vLLM reads one token a pass in a reply. Where a guide forces a run of tokens, the reply leaves and enters again with the
run in its prompt, which is read in one pass; its earlier tokens come from the cache of prefixes.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from weakref import finalize

from stratagem.engines.vllm.adapters import Adapters
from stratagem.engines.vllm.rows import ReplyRow, Row, numbered
from stratagem.engines.vllm.runtime import Runtime
from stratagem.engines.vllm.settings import VLLMSettings
from stratagem.models.language_model import LanguageModel
from stratagem.models.merging import write_base

_RUN = 8
"""Number of forced tokens from which a reply enters again."""


class Batch:
    """Rows in progress; vLLM is started when the first one comes."""

    def __init__(self, lm: LanguageModel, settings: VLLMSettings, adapters: Adapters) -> None:
        self.lm = lm
        self.settings = settings
        self.adapters = adapters
        self.started: Runtime | None = None
        self._folder = Path(lm.folder) if lm.folder else None
        """Folder of the base's present weights; None where they are still to be written."""
        self._waiting: list[Row] = []
        self._live: dict[str, Row] = {}

    # --- weights

    @property
    def runtime(self) -> Runtime:
        """VLLM with the base's present weights."""
        if self.started is None:
            self.started = Runtime(self._folder or self._written(), self.lm.dtype, self.settings)
        return self.started

    def _written(self) -> Path:
        """Write the base's present weights into a folder of our own."""
        self._folder = Path(tempfile.mkdtemp(prefix="stratagem-vllm-base-"))
        finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        write_base(self.lm, self._folder)
        return self._folder

    def forget_base(self) -> None:
        """Stop vLLM, because the base's weights changed.

        vLLM could read weights anew in place, but 0.32 leaves a head that is tied to the embeddings as it was.
        """
        if self._folder is not None and self._folder != Path(self.lm.folder):
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        if self.started is not None:
            self.started.close()
            self.started = None
        self.adapters.forget_loaded()

    @property
    def idle(self) -> bool:
        """True if no row is in progress."""
        return not self._live and not self._waiting

    # --- rows

    def add(self, rows: Sequence[Row]) -> None:
        """Let rows begin as soon as there is a slot for their adapters; rows that begin alike come together."""
        self._waiting += sorted(rows, key=lambda row: (row.adapter, row.tokens))

    def step(self) -> list[Row]:
        """Run one pass, and return the rows that are over."""
        start = time.perf_counter()
        self._admit()
        live = list(self._live.values())
        over = list[Row]()
        for name, tokens, ended in self.runtime.step():
            row = self._live[name]
            for token in tokens:
                row.take(token)
            if row.over(self.runtime.longest):
                over.append(row)
                self._leave(name, ended)
            elif isinstance(row, ReplyRow) and len(row.reply.pending) >= _RUN:
                self._leave(name, ended)
                self._enter(row)
        ms = (time.perf_counter() - start) * 1000.0 / max(1, len(live))
        for row in live:
            if isinstance(row, ReplyRow):
                row.reply.ms += ms
        return over

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
        self._live[self.runtime.add(numbered(row), tokens, room, version)] = row
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
