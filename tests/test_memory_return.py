"""Return of free memory to the system: what it frees, and how often."""

import sys
from pathlib import Path

import pytest

import stratagem.base.garbage
from stratagem.base.garbage import MemoryReturn

MIB = 2**20
HAS_TRIM = stratagem.base.garbage.malloc_trim() is not None


def resident():
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.linux
@pytest.mark.skipif(not (HAS_TRIM and sys.platform == "linux"), reason="needs glibc")
def test_gaps_between_blocks_in_use_are_returned():
    blocks = [bytearray(10_000) for _ in range(20_000)]
    kept = blocks[::40]
    blocks.clear()
    before = resident()
    assert MemoryReturn(0.0)()
    assert before - resident() > 50 * MIB
    assert len(kept) == 500


@pytest.fixture
def calls(monkeypatch):
    """Arguments of the calls of the C library's function."""
    made = []
    monkeypatch.setattr(stratagem.base.garbage, "malloc_trim", lambda: made.append)
    return made


def test_memory_is_returned_at_most_once_in_so_many_seconds(monkeypatch, calls):
    now = [100.0]
    monkeypatch.setattr(stratagem.base.garbage.time, "monotonic", lambda: now[0])
    give_back, returned = MemoryReturn(10.0), []
    for now[0] in (100.0, 109.9, 110.0, 119.0, 120.5):
        returned.append(give_back())
    assert returned == [False, False, True, False, True]
    assert calls == [0, 0]


def test_nothing_is_done_without_the_function(monkeypatch):
    monkeypatch.setattr(stratagem.base.garbage, "malloc_trim", lambda: None)
    assert not MemoryReturn(0.0)()


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_a_system_without_the_function_is_no_error(monkeypatch, error):
    def missing(_):
        raise error

    monkeypatch.setattr(stratagem.base.garbage.ctypes, "CDLL", missing)
    assert stratagem.base.garbage.malloc_trim() is None
