"""Log of paid replies, written as they come, so that no request is sent twice."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from stratagem.engines.base import Call, PolicyId, Request, Tells
from stratagem.errors import BadRecord, StratagemError

FILE = "answers.jsonl"
"""File name in the folder of a record."""
Ask = Callable[[Sequence[Any]], Sequence[Call]]


class Answers:
    """Replies of non-deterministic engines by request; one line each, on disk before it is used."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._writing = threading.Lock()
        self._known = _read(self._path)

    def __len__(self) -> int:
        return len(self._known)

    def answer(self, requests: Sequence[Any], ask: Ask) -> list[Call]:
        """Answer each request: known replies are not asked for again, and new ones are written as they come."""
        known = {index: call for index, request in enumerate(requests) if (call := self._of(request)) is not None}
        fresh = [index for index in range(len(requests)) if index not in known]
        with self._listening([requests[index] for index in fresh]):
            asked = ask([requests[index] for index in fresh]) if fresh else []
        for index, call in zip(fresh, asked, strict=True):
            known[index] = call
            if _is_stored(requests[index]) and call.finish != "error" and digest(requests[index]) not in self._known:
                self._write(requests[index], call)
        return [known[index] for index in range(len(requests))]

    def _of(self, request: Any) -> Call | None:
        if not _is_stored(request):
            return None
        row = self._known.get(digest(request))
        return None if row is None else _call(request, row)

    @contextmanager
    def _listening(self, requests: Sequence[Any]) -> Iterator[None]:
        """Make engines report each reply as it arrives, not only with its batch."""
        engines = {request.engine for request in requests if _is_stored(request)}
        telling = [engine for engine in engines if isinstance(engine, Tells)]
        for engine in telling:
            engine.listener = self._write
        try:
            yield
        finally:
            for engine in telling:
                engine.listener = None

    def _write(self, request: Request, call: Call) -> None:
        name, row = digest(request), _row(call)
        line = json.dumps({"asked": name, **row}, ensure_ascii=True) + "\n"
        try:
            with self._writing, self._path.open("a", encoding="ascii") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StratagemError(f"{self._path} cannot be written: {error.strerror}.") from error
        self._known[name] = row


def _is_stored(request: Any) -> bool:
    return isinstance(request, Request) and not request.engine.capabilities.repeats


def digest(request: Request) -> str:
    """Return the key of a request: a digest of all that a reply depends on."""
    sampling = request.sampling
    asked = [
        request.engine.name,
        request.adapter,
        request.prompt.messages,
        request.key.value,
        request.max_new_tokens,
        [sampling.temperature, sampling.top_k, sampling.top_p],
    ]
    return blake2b(json.dumps(asked).encode(), digest_size=16).hexdigest()


def _row(call: Call) -> dict[str, Any]:
    return {
        "base": call.policy.base,
        "text": call.text,
        "finish": call.finish,
        "num_prompt": call.num_prompt,
        "num_reply": call.num_reply,
        "ms": call.ms,
    }


def _call(request: Request, row: dict[str, Any]) -> Call:
    return Call(
        policy=PolicyId(row["base"]),
        prompt=request.prompt,
        text=row["text"],
        sampling=request.sampling,
        finish=row["finish"],
        num_prompt=row["num_prompt"],
        num_reply=row["num_reply"],
        ms=row["ms"],
    )


_TYPES = {"asked": str, "base": str, "text": str, "finish": str, "num_prompt": int, "num_reply": int, "ms": float}


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Read the replies of a file; a torn last line is cut off, any other damage is refused."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror}.") from error
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        path.write_bytes(whole)
    return dict(_line(path, number, line) for number, line in enumerate(whole.splitlines(), 1))


def _line(path: Path, number: int, line: bytes) -> tuple[str, dict[str, Any]]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    sound = isinstance(row, dict) and all(type(row.get(name)) is kind for name, kind in _TYPES.items())
    if not sound or row["finish"] not in ("done", "length"):
        raise BadRecord(f"Line {number} of {path} is damaged: delete that line, and its answer is asked for again.")
    return row.pop("asked"), row
