"""Spending cap of several processes together: what each has spent or reserved stands in one file."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small
from stratagem.base.lock import hold, is_locked, wait_for_lock
from stratagem.language.engines.remote.budget import Budget, read_budget

FILE, _LOCK = "ledger.json", "ledger.lock"
_SPENT, _OPEN = "spent", "reserved"
Reservation = tuple[float, int]
"""Largest cost of the requests of a process that are under way, and their number."""


_names: dict[int, str] = {}
"""Names of this process and of those that it was forked from, by their numbers."""


def _name_of_process() -> str:
    """Return a name that no other process has: the number of one that was killed may be given again."""
    number = os.getpid()
    return _names.setdefault(number, f"{number}-{secrets.token_hex(4)}")


@dataclass
class SharedBudget(Budget):
    """Budget whose amounts are those of all processes that share a folder.

    A process that was killed cannot tell what its open requests cost, so they count in full.
    """

    _: KW_ONLY
    folder: Path
    """Folder of the ledger, of a lock, and of a lock for each process, which tells whether it lives."""

    def reserve(self, cost: float) -> bool | None:
        """Reserve a cost; False if it does not fit beside what is under way anywhere, None if it never will."""
        with self._exchange() as own:
            fits = super().reserve(cost)
            if fits:
                own.add(cost, 1)
            return fits

    def settle(self, reserved: float, spent: float) -> None:
        """Replace a reserved cost by what was spent."""
        with self._exchange() as own:
            super().settle(reserved, spent)
            own.add(-reserved, -1)

    def read_spent(self) -> float:
        """Return what all processes have spent so far."""
        with self._exchange():
            return self.spent

    @contextmanager
    def _exchange(self) -> Iterator[ProcessReservation]:
        """Take over the amounts of all processes, and write them with the changes that are made within."""
        own = ProcessReservation(_name_of_process())
        with wait_for_lock(self.folder / _LOCK):
            spent, reserved = self._read()
            own.amount, own.number = reserved.pop(own.process, (0.0, 0))
            for process in [one for one in reserved if not is_locked(self._sign(one))]:
                spent += reserved.pop(process)[0]
                self._sign(process).unlink(missing_ok=True)
            self.spent = spent
            self.reserved = own.amount + sum(amount for amount, _ in reserved.values())
            self.num_reserved = own.number + sum(number for _, number in reserved.values())
            yield own
            if own.number:
                self._show_life(own.process)
                reserved[own.process] = (own.amount, own.number)
            self._write({_SPENT: self.spent, _OPEN: reserved})

    def _read(self) -> tuple[float, dict[str, Reservation]]:
        path = self.folder / FILE
        if not path.exists():
            return 0.0, {}
        try:
            data = parse_json(read_small(path))
            return float(data[_SPENT]), {one: (float(sum_), int(n)) for one, (sum_, n) in data[_OPEN].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadRecord(f"{path} is no ledger of a budget.") from error

    def _write(self, data: Mapping[str, Any]) -> None:
        """Write the ledger whole; it need not outlive the machine, whose disk would be waited for at each request."""
        partial = self.folder / f".{FILE}"
        partial.write_text(json.dumps(data), encoding="utf-8")
        partial.replace(self.folder / FILE)

    def _sign(self, process: str) -> Path:
        return self.folder / f"{process}.lock"

    def _show_life(self, process: str) -> None:
        """Hold the lock of this process until it ends."""
        if not is_locked(self._sign(process)):
            hold(self._sign(process), "this budget")


@dataclass
class ProcessReservation:
    """Reserved cost of one process."""

    process: str
    amount: float = 0.0
    number: int = 0

    def add(self, amount: float, number: int) -> None:
        """Add a cost and a number of requests; without any nothing is reserved."""
        self.number += number
        self.amount = max(0.0, self.amount + amount) if self.number else 0.0


def share_budget(text: str, folder: Path) -> SharedBudget:
    """Read a budget such as 5usd, which all processes share that name this folder."""
    budget = read_budget(text)
    return SharedBudget(budget.amount, budget.unit, folder=folder)
