"""Spending cap of a whole command: calls, tokens or money.

A request is sent only if its largest cost fits beside what was spent and what is under way. So the cap holds whatever
the replies are, as far as the server counts its tokens rightly and its prices are those that were given.
"""

from __future__ import annotations

import asyncio
import math
import re
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.language.engines.base import Request
from stratagem.language.engines.remote.replies import ServerReply
from stratagem.language.engines.remote.retries import Failure
from stratagem.language.engines.remote.tally import Prices
from stratagem.language.engines.remote.terms import ServerFailed

_FORM = re.compile(r"\s*(?P<amount>[0-9]*\.?[0-9]+)\s*(?P<unit>[a-z]+)\s*", re.IGNORECASE)
_PAUSE = 0.01
"""Seconds between two looks at a budget that is reserved for other requests."""
COUNTED = ("calls", "tokens")
"""Units that are no currency."""
CHARACTERS = 2
"""Characters of a token at least, on average over a prompt in English."""
_FRAME = 16
"""Tokens around a message at most."""


class BudgetSpent(ServerFailed):
    """End of a command whose budget is spent."""

    exit_code = 4


@dataclass(frozen=True)
class CallCost:
    """Calls, tokens and money."""

    calls: float = 0.0
    prompt: float = 0.0
    reply: float = 0.0

    def of(self, unit: str, prices: Prices | None) -> float:
        """Return the cost in a unit."""
        if unit == "calls":
            return self.calls
        if unit == "tokens":
            return self.prompt + self.reply
        return 0.0 if prices is None else prices.of(self.prompt, self.reply)

    def with_known_tokens(self, prompt: int, reply: int) -> CallCost:
        """Return the cost by the tokens that a server counted, and this one where it counted none."""
        return CallCost(self.calls, prompt or self.prompt, reply or self.reply)


def largest_cost(request: Request) -> CallCost:
    """Return the largest cost of a request: its prompt by its characters, and a reply of full length."""
    messages = request.prompt.messages
    prompt = sum(len(text) / CHARACTERS + _FRAME for _, text in messages)
    return CallCost(1.0, prompt, request.max_new_tokens)


@dataclass
class Budget:
    """Amount that may be spent, and what was spent of it."""

    amount: float
    unit: str
    """Calls, tokens, or a currency such as usd."""
    spent: float = 0.0
    reserved: float = 0.0
    """Largest cost of the requests that are under way."""
    num_reserved: int = 0
    """Number of these requests; without any nothing is reserved, where a sum of fractions leaves a rest."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def check(self, name: str, prices: Prices | None) -> None:
        """Refuse a budget of money where the prices are not known, or are in another currency."""
        if self.unit in COUNTED:
            return
        if prices is None:
            raise BadParameter(
                f"The prices of {name} are not known, so a budget in {self.unit} cannot hold: give them by `prices=` "
                "or STRATAGEM_PRICE, or a budget in calls or tokens."
            )
        if prices.currency and prices.currency != self.unit:
            raise BadParameter(f"The prices of {name} are in {prices.currency}, and the budget is in {self.unit}.")

    def reserve(self, cost: float) -> bool | None:
        """Reserve a cost; False if it does not fit beside what is under way, None if it never will."""
        with self._lock:
            if self.spent + self.reserved + cost <= self.amount * (1.0 + 1e-12):
                self.reserved += cost
                self.num_reserved += 1
                return True
            return False if self.num_reserved else None

    def settle(self, reserved: float, spent: float) -> None:
        """Replace a reserved cost by what was spent."""
        with self._lock:
            self.num_reserved -= 1
            self.reserved = max(0.0, self.reserved - reserved) if self.num_reserved else 0.0
            self.spent += spent

    def spent_error(self) -> BudgetSpent:
        """Return the error of a budget that is spent."""
        return BudgetSpent(
            f"The budget of {self} is spent ({self._format_amount(self.spent)}): "
            "the next request might cost more than is left."
        )

    def _format_amount(self, value: float) -> str:
        return f"{value:.4f}" if self.unit not in COUNTED else f"{value:.0f}"

    def __str__(self) -> str:
        return f"{self.amount:g} {self.unit}"


def read_budget(text: str) -> Budget:
    """Read a budget such as 5usd, 2000calls or 100000tokens."""
    match = _FORM.fullmatch(text)
    amount = float(match["amount"]) if match else 0.0
    if match is None or not 0.0 < amount < math.inf:
        raise BadParameter(
            f"A budget is an amount and its unit, such as 2000calls, 100000tokens or 5usd, not {text!r}."
        )
    unit = match["unit"].casefold()
    return Budget(amount, {"call": "calls", "token": "tokens"}.get(unit, unit))


async def pay_request(
    budget: Budget, largest: CallCost, prices: Prices | None, sending: Coroutine[Any, Any, ServerReply]
) -> ServerReply:
    """Send a request when its largest cost fits, and count what it cost."""
    cost = spent = largest.of(budget.unit, prices)  # an interrupted or late reply may be billed in full
    try:
        while not (fits := budget.reserve(cost)):
            if fits is None:
                raise budget.spent_error()
            await asyncio.sleep(_PAUSE)
    except BaseException:
        sending.close()
        raise
    try:
        reply = await sending
        spent = largest.with_known_tokens(reply.num_prompt, reply.num_reply).of(budget.unit, prices)
    except Failure as failure:
        refused = CallCost(calls=float(failure.reached))
        known = largest.with_known_tokens(failure.num_prompt, failure.num_reply)
        spent = (refused if failure.status or not failure.reached else known).of(budget.unit, prices)
        raise
    else:
        return reply
    finally:
        budget.settle(cost, spent)


_budgets: list[Budget] = []


def current_budget() -> Budget | None:
    """Return the budget of the command; None where there is no cap."""
    return _budgets[-1] if _budgets else None


@contextmanager
def spending(budget: Budget) -> Iterator[Budget]:
    """Spend no more than a budget within."""
    _budgets.append(budget)
    try:
        yield budget
    finally:
        _budgets.pop()
