"""Number and price of requests to a server."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.options import is_number

VARIABLE = "STRATAGEM_PRICE"
"""Environment variable of prices: `0.15/0.60`, or `MODEL=0.15/0.60, OTHER=2.5/10`."""
_ENTRY = re.compile(r"(?:(?P<model>.+)=)?\s*(?P<prompt>[0-9]*\.?[0-9]+)\s*/\s*(?P<reply>[0-9]*\.?[0-9]+)")
_SHAPE = 'currency = "usd", and for each model, or a pattern with *, ["MODEL"] with prompt = 0.15 and reply = 0.60'


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices of a million tokens, in the currency that the server bills in."""

    prompt: float
    reply: float
    currency: str = ""
    """Currency, such as usd; empty where it is not known."""

    def of(self, prompt: float, reply: float) -> float:
        """Return the price of tokens of prompts and replies."""
        return (prompt * self.prompt + reply * self.reply) / 1e6


@dataclass(frozen=True, kw_only=True)
class EngineTally:
    """Counts since an engine was made."""

    num_requests: int = 0
    """Requests that were answered, errors included."""
    num_retries: int = 0
    """Tries beyond the first."""
    num_errors: int = 0
    """Requests without a reply."""
    num_prompt: int = 0
    """Tokens of prompts, as the server counts them with an answer."""
    num_reply: int = 0
    """Tokens of replies, thoughts included, as the server counts them."""
    prices: Prices | None = None

    @property
    def price(self) -> float | None:
        """The price of the tokens; None where no prices are known."""
        return None if self.prices is None else self.prices.of(self.num_prompt, self.num_reply)

    def plus(self, more: EngineTally) -> EngineTally:
        """Add both counts, at the prices of this one."""
        counts = [field.name for field in fields(self) if field.name != "prices"]
        return EngineTally(prices=self.prices, **{name: getattr(self, name) + getattr(more, name) for name in counts})


PriceList = Mapping[str, Prices]
"""Prices by model or pattern."""
_lists: list[PriceList] = []


@contextmanager
def use_prices(prices: PriceList) -> Iterator[None]:
    """Take prices from a list within."""
    _lists.append(prices)
    try:
        yield
    finally:
        _lists.pop()


def prices_of(model: str) -> Prices | None:
    """Return the prices of a model: from the list of the command, else from the environment; None where not known."""
    return listed_prices(model) or prices_from_environment(model)


def listed_prices(model: str) -> Prices | None:
    """Return the prices of a model in the list of the command: by its name, else by the longest pattern."""
    known = _lists[-1] if _lists else {}
    alike = [pattern for pattern in known if fnmatchcase(model, pattern)]
    return known[model if model in known else max(alike, key=len)] if alike else None


def prices_from_environment(model: str) -> Prices | None:
    """Return the prices set for this model, or for any; None where there are none."""
    entries = [entry.strip() for entry in os.environ.get(VARIABLE, "").split(",")]
    listed = dict(_read_prices(entry) for entry in entries if entry)
    return listed.get(model, listed.get(""))


def _read_prices(entry: str) -> tuple[str, Prices]:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise BadParameter(
            f"{VARIABLE} is prices of a million tokens of prompt and reply, such as 0.15/0.60 or "
            f"MODEL=0.15/0.60, OTHER=2.5/10, not {entry!r}."
        )
    return (match["model"] or "").strip(), Prices(prompt=float(match["prompt"]), reply=float(match["reply"]))


def read_prices(path: Path) -> dict[str, Prices]:
    """Read the prices of a file: a currency, and a table for each model with the prices of a million tokens."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadParameter(f"The prices {path} cannot be read: {_reason(error)}.") from None
    currency = content.pop("currency", "")
    if not isinstance(currency, str):
        raise BadParameter(f"The prices {path} need `currency` as a text such as usd, not {currency!r}.")
    return {model: _row(path, model, row, currency.casefold()) for model, row in content.items()}


def _row(path: Path, model: str, row: Any, currency: str) -> Prices:
    sound = isinstance(row, dict) and set(row) == {"prompt", "reply"} and all(is_number(p) for p in row.values())
    if not sound or min(row.values()) < 0.0:
        raise BadParameter(f"The prices of {model!r} in {path} cannot be read: write {_SHAPE}.")
    return Prices(prompt=float(row["prompt"]), reply=float(row["reply"]), currency=currency)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or "it is no file") if isinstance(error, OSError) else f"it is no TOML ({error})"
