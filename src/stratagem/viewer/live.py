"""Changes of the files that pages show, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from stratagem.play.store import shards
from stratagem.viewer.library import Library

PAUSE = 0.7
"""Seconds between two looks at the files."""
_FILES = ("metrics.jsonl", "status.json", "findings.json", "newest.json", "report.html", "view.json")


def changes(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """Return the names whose state differs."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def state_of(library: Library) -> dict[str, object]:
    """Return by name what changes when a run or a record does."""
    state: dict[str, object] = {
        f"run:{name}": tuple(_stamp(run.path / file) for file in _FILES) for name, run in library.runs.items()
    }
    return state | {f"record:{name}": len(shards(folder)) for name, folder in library.records.items()}


async def events(read: Callable[[], Library], pause: float = PAUSE) -> AsyncIterator[bytes]:
    """Yield an event with the names of what has changed, until the reader leaves."""
    before = await run_in_threadpool(lambda: state_of(read()))
    yield b": open\n\n"
    while True:
        await asyncio.sleep(pause)
        after = await run_in_threadpool(lambda: state_of(read()))
        if changed := changes(before, after):
            before = after
            yield f"event: changed\ndata: {json.dumps(changed)}\n\n".encode()
        else:
            yield b": nothing new\n\n"  # a broken connection is noticed by writing


class EventStream(StreamingResponse):
    """Response of events that ends in order when the server is closed."""

    media_type = "text/event-stream"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the reader leaves or the server is closed, which cancels this."""
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
