"""Failed tries and the pauses between them: they grow, and differ between requests."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from stratagem.base.errors import BadParameter
from stratagem.games.key import Key
from stratagem.language.engines.base import Finish

_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_BUSY = frozenset({408, 409, 429})
"""Statuses below 500 that are temporary."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Timeouts and retries for a server."""

    timeout: float = 120.0
    """Seconds for one try, from sending it to the last byte of the answer."""
    tries: int = 5
    first_wait: float = 0.5
    """Seconds before the second try; they double from try to try."""
    longest_wait: float = 60.0
    """Largest number of seconds between two tries, whether doubling or the server asks for it."""

    def __post_init__(self) -> None:
        if not 0.0 < self.timeout < math.inf:
            raise BadParameter(
                f"A try takes more than 0 seconds and ends some time: `timeout` cannot be {self.timeout}."
            )
        if self.tries < 1:
            raise BadParameter(f"At least one try is made: `tries` cannot be {self.tries}.")
        if not (0.0 <= self.first_wait < math.inf and 0.0 <= self.longest_wait < math.inf):
            raise BadParameter(f"Waits are 0 seconds or more, not {self.first_wait} and {self.longest_wait}.")


class Failure(Exception):
    """Failed try: the reason, in words that follow `The server at URL`, and whether another try may help."""

    def __init__(
        self,
        why: str,
        *,
        again: bool = False,
        status: int = 0,
        asked: float = 0.0,
        reached: bool = True,
        full: str = "",
        code: str = "",
        kind: Finish = "error",
        num_prompt: int = 0,
        num_reply: int = 0,
    ) -> None:
        super().__init__(why)
        self.why = why
        self.again = again
        self.status = status
        """Status of the answer; 0 where there was none, or a good one with nothing in it."""
        self.asked = asked
        """Seconds that the server asks to wait."""
        self.reached = reached
        """True if there was a connection at all."""
        self.full = full
        """Full answer of the server, to search for a word in it."""
        self.code = code
        """Code of the error, as the server names it."""
        self.kind = kind
        """Kind of the failure, as a call records it."""
        self.num_prompt, self.num_reply = num_prompt, num_reply
        """Numbers of tokens, where an answer tells them that cannot be used."""
        self.adjusted = False
        """True if the next try has other parameters, so that it need not wait."""


def passes(status: int) -> bool:
    """Return whether a status is temporary."""
    return status in _BUSY or status >= 500


def pause(patience: Patience, turn: int, key: Key, asked: float) -> float:
    """Return the seconds after the try of this number.

    The server's request plus a doubling random wait by the request's key.
    """
    wait = min(patience.first_wait * 2.0 ** min(turn - 1, 32), patience.longest_wait)
    return min(asked, patience.longest_wait) + wait * (0.5 + 0.5 * key.at("retry", turn).unit())


def asked_pause(headers: Mapping[str, str]) -> float:
    """Return the seconds of a Retry-After header, which gives them or a date; 0 where it says neither."""
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, IndexError, OverflowError):
        return 0.0
