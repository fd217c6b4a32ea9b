"""Number and price of requests to a server."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields

from stratagem.errors import BadParameter

VARIABLE = "STRATAGEM_PRICE"
"""Environment variable of prices: `0.15/0.60`, or `MODEL=0.15/0.60, OTHER=2.5/10`."""
_ENTRY = re.compile(r"(?:(?P<model>.+)=)?\s*(?P<prompt>[0-9]*\.?[0-9]+)\s*/\s*(?P<reply>[0-9]*\.?[0-9]+)")


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices of a million tokens, in the currency that the server bills in."""

    prompt: float
    reply: float


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Counts since an engine was made."""

    num_requests: int = 0
    """Requests that were answered, errors included."""
    num_retries: int = 0
    """Tries beyond the first."""
    num_errors: int = 0
    """Requests without a reply."""
    num_prompt: int = 0
    """Tokens of prompts with a reply, as the server counts them."""
    num_reply: int = 0
    """Tokens of replies, thoughts included, as the server counts them."""
    prices: Prices | None = None

    @property
    def price(self) -> float | None:
        """The price of the tokens; None where no prices are known."""
        if self.prices is None:
            return None
        return (self.num_prompt * self.prices.prompt + self.num_reply * self.prices.reply) / 1e6

    def plus(self, more: Tally) -> Tally:
        """Add both counts, at the prices of this one."""
        counts = [field.name for field in fields(self) if field.name != "prices"]
        return Tally(prices=self.prices, **{name: getattr(self, name) + getattr(more, name) for name in counts})


def prices_from_environment(model: str) -> Prices | None:
    """Return the prices set for this model, or for any; None where there are none."""
    entries = [entry.strip() for entry in os.environ.get(VARIABLE, "").split(",")]
    listed = dict(_priced(entry) for entry in entries if entry)
    return listed.get(model, listed.get(""))


def _priced(entry: str) -> tuple[str, Prices]:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise BadParameter(
            f"{VARIABLE} is prices of a million tokens of prompt and reply, such as 0.15/0.60 or "
            f"MODEL=0.15/0.60, OTHER=2.5/10, not {entry!r}."
        )
    return (match["model"] or "").strip(), Prices(prompt=float(match["prompt"]), reply=float(match["reply"]))
