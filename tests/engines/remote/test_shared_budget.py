"""Budget of several processes: the cap holds for all together, and what a killed one had open counts as spent."""

import subprocess
import sys

import pytest

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.language.engines.remote.shared_budget import share_budget

SPENDER = """
import sys
from pathlib import Path
from stratagem.language.engines.remote.shared_budget import share_budget
budget, number = share_budget("100calls", Path(sys.argv[1])), 0
print("ready", flush=True)
sys.stdin.readline()
while (fits := budget.reserve(1.0)) is not None:
    if fits:
        budget.settle(1.0, 1.0)
        number += 1
print(number)
"""
KEEPER = """
import sys, time
from pathlib import Path
from stratagem.language.engines.remote.shared_budget import share_budget
share_budget("10calls", Path(sys.argv[1])).reserve(4.0)
print("reserved", flush=True)
time.sleep(60)
"""


def start(program, folder):
    return subprocess.Popen(
        [sys.executable, "-c", program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )


def test_processes_spend_the_amount_together(tmp_path):
    processes = [start(SPENDER, tmp_path) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    counts = [int(process.communicate("go\n", timeout=60)[0]) for process in processes]
    assert sum(counts) == 100
    budget = share_budget("100calls", tmp_path)
    assert budget.read_spent() == 100
    assert budget.reserve(1.0) is None
    assert str(budget.spent_error()).startswith("The budget of 100 calls is spent (100)")


def test_reservation_of_a_killed_process_is_spent(tmp_path):
    budget = share_budget("10calls", tmp_path)
    with start(KEEPER, tmp_path) as process:
        assert process.stdout.readline() == "reserved\n"
        assert budget.reserve(7.0) is False, "it may fit when the other process has its replies"
        assert budget.reserve(6.0) is True
        budget.settle(6.0, 1.0)
        assert budget.read_spent() == 1.0
        process.kill()
    assert budget.reserve(6.0) is None, "4 of the killed process and 1 of this one are spent"
    assert budget.read_spent() == 5.0
    assert budget.reserve(5.0) is True


def test_number_of_a_killed_process_is_no_name(tmp_path, monkeypatch):
    """A process may get the number of one that was killed, and inherits nothing of it."""
    with start(KEEPER, tmp_path) as process:
        assert process.stdout.readline() == "reserved\n"
        process.kill()
    monkeypatch.setattr("os.getpid", lambda: process.pid)
    budget = share_budget("10calls", tmp_path)
    assert budget.reserve(7.0) is None, "4 are spent, and no reply is waited for"
    assert budget.read_spent() == 4.0
    assert [path.name for path in tmp_path.glob(f"{process.pid}-*")] == [], "its sign is removed"


def test_bad_ledger_or_budget_is_one_sentence(tmp_path):
    with pytest.raises(BadParameter, match="A budget is an amount and its unit"):
        share_budget("much", tmp_path)
    (tmp_path / "ledger.json").write_text("[]")
    with pytest.raises(BadRecord, match="is no ledger of a budget"):
        share_budget("1usd", tmp_path).reserve(0.1)
