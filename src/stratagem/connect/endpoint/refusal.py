"""Refused requests, in the form of OpenAI's errors."""

from __future__ import annotations

from stratagem.base.errors import StratagemError
from stratagem.games.base import Json

_LONGEST = 2000
"""Largest number of characters of a message."""


class RefusedRequest(Exception):
    """Request that gets an error in place of an answer."""

    def __init__(self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None) -> None:
        """`param` is the field of the request that is wrong, `code` the error's name in OpenAI's list."""
        super().__init__(message)
        self.message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
        self.status = status
        self.param = param
        self.code = code

    def to_json(self) -> Json:
        """Return the body of the response."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def fault(error: Exception) -> RefusedRequest:
    """Return the refusal for a player, a game or an engine that raised."""
    if isinstance(error, StratagemError):
        return RefusedRequest(str(error), status=500, code="player_error")
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return RefusedRequest(f"The player gave no answer: {said}", status=500, code="player_error")
