"""Log of paid replies, written as they come, so that no request is sent twice."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, get_args

from stratagem.base.errors import BadRecord
from stratagem.base.files import telling
from stratagem.language.engines.base import FAILED, Alternative, Call, Finish, PolicyId, Request, RequestAnswer, Tells
from stratagem.language.engines.outcomes import count_outcomes
from stratagem.playing.dispatch import RequestQueue

FILE = "answers.jsonl"
"""File name in the folder of a record."""


class Answers:
    """Replies of non-deterministic engines by request; one line each, on disk before it is used."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._writing = threading.Lock()
        self._known = _read(self._path)

    def __len__(self) -> int:
        return len(self._known)

    def find_reply(self, request: Any) -> Call | None:
        """Return the logged reply to a request; None where there is none, or the engine repeats itself for free."""
        row = self._known.get(digest(request)) if _is_stored(request) else None
        return None if row is None else _call(request, row)

    def add(self, request: Any, call: Call) -> None:
        """Log a reply, unless it is known already, free, or an error."""
        if _is_stored(request) and not call.failed and digest(request) not in self._known:
            self._write(request, call)

    def _write(self, request: Request, call: Call) -> None:
        name, row = digest(request), _row(call)
        line = json.dumps({"asked": name, **row}, ensure_ascii=True) + "\n"
        with telling(self._path), self._writing, self._path.open("a", encoding="ascii") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._known[name] = row


class LoggedQueue:
    """Queue of requests whose replies are logged; known ones are not asked for again."""

    def __init__(self, queue: RequestQueue, log: Answers) -> None:
        self._queue, self._log = queue, log
        self._tickets = count()
        self._known: list[RequestAnswer] = []
        self._open: dict[int, tuple[int, Any]] = {}
        """Own ticket and request by the ticket of the queue."""
        self._telling: set[Tells] = set()

    def submit(self, requests: Sequence[Any]) -> list[int]:
        tickets = [next(self._tickets) for _ in requests]
        fresh = dict[int, Any]()
        for ticket, request in zip(tickets, requests, strict=True):
            if (call := self._log.find_reply(request)) is None:
                fresh[ticket] = request
            else:
                self._known.append(RequestAnswer(ticket, call))
        self._listen(fresh.values())
        theirs = self._queue.submit(list(fresh.values()))
        self._open |= dict(zip(theirs, fresh.items(), strict=True))
        return tickets

    def poll(self) -> list[RequestAnswer]:
        known, self._known = self._known, []
        if known:
            count_outcomes(call for _, call in known)
            return known
        result = []
        for theirs, call in self._queue.poll():
            ticket, request = self._open.pop(theirs)
            self._log.add(request, call)
            result.append(RequestAnswer(ticket, call))
        return result

    def cancel(self) -> None:
        self._queue.cancel()
        for engine in self._telling:
            engine.listener = None
        self._open.clear()
        self._known.clear()

    def _listen(self, requests: Iterable[Any]) -> None:
        """Make engines log each reply as it arrives, even before it is asked for."""
        for request in requests:
            if _is_stored(request) and isinstance(request.engine, Tells):
                request.engine.listener = self._log.add
                self._telling.add(request.engine)


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
        sampling.values(),
        *([sampling.sampler] if sampling.sampler else []),
        *([request.extra_body] if request.extra_body else []),
        *([request.alternatives] if request.alternatives else []),
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
        **({"reasoning": call.reasoning} if call.reasoning else {}),
        **({"answer_id": call.answer_id} if call.answer_id else {}),
        **({"alternatives": _store_positions(call)} if call.alternatives else {}),
    }


def _store_positions(call: Call) -> list[list[list[Any]]]:
    """Return the tokens of each position, a character for each byte, with their log-probabilities."""
    return [[[one.token.decode("latin-1"), one.logprob] for one in position] for position in call.alternatives]


def _alternatives(position: list[Any]) -> Iterator[Alternative]:
    for token, logprob in position:
        yield Alternative(token.encode("latin-1"), logprob)


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
        reasoning=row.get("reasoning", ""),
        answer_id=row.get("answer_id", ""),
        alternatives=tuple(tuple(_alternatives(position)) for position in row.get("alternatives", ())),
    )


_ENDS = frozenset(get_args(Finish)) - FAILED
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
        with telling(path):
            path.write_bytes(whole)
    return dict(_line(path, number, line) for number, line in enumerate(whole.splitlines(), 1))


def _line(path: Path, number: int, line: bytes) -> tuple[str, dict[str, Any]]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    sound = isinstance(row, dict) and all(type(row.get(name)) is kind for name, kind in _TYPES.items())
    sound = sound and all(isinstance(row.get(name, ""), str) for name in ("reasoning", "answer_id"))
    sound = sound and _are_alternatives(row.get("alternatives", []))
    if not sound or row["finish"] not in _ENDS:
        raise BadRecord(f"Line {number} of {path} is damaged: delete that line, and its answer is asked for again.")
    return row.pop("asked"), row


def _are_alternatives(told: object) -> bool:
    """Return whether these are lists of tokens, each with a log-probability."""
    positions = told if isinstance(told, list) else [None]
    pairs = [pair for position in positions for pair in (position if isinstance(position, list) else [None])]
    return all(
        isinstance(pair, list) and [type(part) for part in pair] == [str, float] and max(pair[0], default="") < "\u0100"
        for pair in pairs
    )
