"""JSON of requests and answers: bodies up to a size, and answers that any text of a model fits in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from stratagem.base.errors import BadParameter
from stratagem.games.base import Json
from stratagem.show.web.guard import JSON_KIND, is_json


class BadBody(BadParameter):
    """Body of a request that cannot be read."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class PlainJSON(JSONResponse):
    """Answer in JSON."""

    def render(self, content: Any) -> bytes:
        """Encode the content."""
        return to_json(content).encode()


def to_json(content: Any) -> str:
    """Return content as JSON in ASCII: texts of models may hold halves of characters, which have no other encoding.

    What is no finite number is null.
    """
    try:
        return json.dumps(content, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):  # another kind of mapping or sequence, or a nan: the copy costs more than the text
        return json.dumps(_finite(content), allow_nan=False, separators=(",", ":"))


async def read_body(request: Request, most: int) -> bytes:
    """Read the body of a request up to a number of bytes; it is refused before more of it is kept."""
    if not is_json(request.headers):
        raise BadBody(f"The content type of a request is {JSON_KIND}.", 415)
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > most:
                raise BadBody(f"The body of a request has at most {_size(most)}.", 413)
    except ClientDisconnect:
        raise BadBody("The body of the request has no end.") from None  # nobody reads this
    return bytes(body)


def parse_object(data: bytes) -> Json:
    """Return the JSON object that a body holds."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):  # too deep, or a number of too many digits
        content = None
    if not isinstance(content, dict):
        raise BadBody("The body of a request is a JSON object.")
    return content


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count % (1 << 20) == 0 else f"{count:,} bytes"


def _finite(content: Any) -> Any:
    """Replace numbers that JSON does not have by null."""
    if isinstance(content, float):
        return content if abs(content) < float("inf") else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, str) or not isinstance(content, Iterable):
        return content
    return [_finite(value) for value in content]
