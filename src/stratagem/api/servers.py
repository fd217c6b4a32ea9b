"""Terms for servers: `servers` sets timeouts, tries, concurrency and a budget for all calls within it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.base.errors import WrongKind
from stratagem.base.options import whole, within

if TYPE_CHECKING:
    from stratagem.language.engines.remote.budget import Budget
    from stratagem.language.engines.remote.tally import PriceList

_SHORTEST = 1e-3
"""Shortest timeout in seconds."""

__all__ = ["servers"]


@one_sentence
def servers(
    *,
    timeout: float | None = None,
    tries: int | None = None,
    concurrency: int | None = None,
    max_failures: float | None = None,
    max_failed: float | None = None,
    budget: str | None = None,
    prices: str | Path | None = None,
) -> AbstractContextManager[Budget | None]:
    """Ask servers on other terms within: `with sg.servers(budget="2000calls", concurrency=4): sg.evaluate(...)`.

    The context returns the budget, and its `spent` says how much is gone. What is left out stays as it is.

    Args:
        timeout: Timeout of a request to a server in seconds (120).
        tries: Maximum tries of a request to a server (5).
        concurrency: Maximum concurrent requests to a server (16).
        max_failures: Maximum share of failed requests of a server (0.05). Fewer than 3 failures never stop, unless it
            is 0.
        max_failed: Maximum share of requests without a reply (0.02), above which results say so, and commands fail.
        budget: Cap on the calls, tokens or money of this command at all servers: 2000calls, 100000tokens, 5usd.
        prices: TOML file with the prices of models behind servers.
    """
    terms = _terms(timeout, tries, concurrency, max_failures, max_failed)
    from stratagem.language.engines.remote.budget import read_budget
    from stratagem.language.engines.remote.tally import read_prices

    if budget is not None and not isinstance(budget, str):
        raise WrongKind("budget", "a text such as 2000calls or 5usd", budget)
    cap = None if budget is None else read_budget(budget)
    listed = None if prices is None else read_prices(as_path(prices, "price list"))
    return _within(terms, cap, listed)


def _terms(
    timeout: float | None,
    tries: int | None,
    concurrency: int | None,
    max_failures: float | None,
    max_failed: float | None,
) -> dict[str, Any]:
    """Return the terms that are given, by their names."""
    if timeout is not None:
        within("servers", "timeout", timeout, _SHORTEST)
    if tries is not None:
        whole("servers", "tries", tries, 1)
    if concurrency is not None:
        whole("servers", "concurrency", concurrency, 1)
    if max_failures is not None:
        within("servers", "max_failures", max_failures, 0.0, 1.0)
    if max_failed is not None:
        within("servers", "max_failed", max_failed, 0.0, 1.0)
    given = {
        "timeout": timeout,
        "tries": tries,
        "max_concurrent": concurrency,
        "max_failures": max_failures,
        "max_failed": max_failed,
    }
    return {name: value for name, value in given.items() if value is not None}


@contextmanager
def _within(terms: dict[str, Any], budget: Budget | None, prices: PriceList | None) -> Iterator[Budget | None]:
    from stratagem.language.engines.remote.budget import spending
    from stratagem.language.engines.remote.tally import use_prices
    from stratagem.language.engines.remote.terms import change_terms

    with ExitStack() as stack:
        stack.enter_context(change_terms(**terms))
        if budget is not None:
            stack.enter_context(spending(budget))
        if prices is not None:
            stack.enter_context(use_prices(prices))
        yield budget
