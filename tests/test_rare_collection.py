"""Rare garbage collection: what is exempt, and that all is as before afterwards."""

import gc
import os
import time
from threading import Event, Thread

import pytest

from stratagem.base import garbage
from stratagem.base.garbage import fewer_collections, rare_collection


@pytest.fixture(autouse=True)
def _nothing_is_exempt(monkeypatch):
    """Undo for a while what is done for the tests."""
    monkeypatch.setattr(garbage, "blocks", garbage.CollectionBlocks())
    before = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    gc.freeze()


@pytest.fixture
def collections(monkeypatch):
    """Calls to collect garbage, which do nothing: among all libraries of the tests each takes over a second."""
    calls = []
    monkeypatch.setattr(gc, "collect", lambda: calls.append(gc.get_freeze_count()))
    return calls


class Cycle:
    """An object that only the garbage collector can free."""

    alive = 0

    def __init__(self):
        self.own = self
        Cycle.alive += 1

    def __del__(self):
        Cycle.alive -= 1


@pytest.mark.runs
def test_existing_objects_are_exempt_and_garbage_within_is_still_found():
    with rare_collection():
        assert gc.get_freeze_count() > 1000
        for _ in range(60_000):
            Cycle()
        assert Cycle.alive < 60_000
    gc.collect()
    assert not Cycle.alive


def test_settings_return_after_an_error_too(collections):
    before = gc.get_threshold()

    @rare_collection()
    def fails():
        raise ValueError(gc.get_threshold() != before)

    with pytest.raises(ValueError, match="True"):
        fails()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
    assert collections == [0], "once, before all that is left is exempt"


def test_an_inner_block_leaves_the_outer_one_as_it_is(collections):
    with rare_collection():
        outer = gc.get_threshold()
        with rare_collection():
            assert gc.get_threshold() == outer
        assert gc.get_threshold() == outer
        assert gc.get_freeze_count()
    assert len(collections) == 1


def test_what_the_program_has_exempt_stays_exempt_and_is_counted_once(collections, monkeypatch):
    gc.freeze()
    count, counted = gc.get_freeze_count, []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(count()) or counted[-1])
    with rare_collection(), rare_collection():
        assert len(counted) == 1
    assert count() >= counted[0] > 1000
    assert not collections
    with rare_collection():
        assert len(counted) == 2


def test_garbage_of_earlier_work_is_collected_first_except_in_a_command(collections):
    with rare_collection():
        assert len(collections) == 1
    with fewer_collections(), rare_collection():
        assert len(collections) == 1, "a command has just imported its libraries and has no garbage yet"
        assert gc.get_freeze_count()


@pytest.mark.parametrize("block", [fewer_collections, rare_collection])
def test_blocks_that_overlap_end_with_the_last_one(collections, block):
    """As those of two threads do, or of a generator that is left half-way."""
    before = gc.get_threshold()
    first, second = block(), block()
    first.__enter__()
    exempt, within = gc.get_freeze_count(), gc.get_threshold()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() == within != before, "the second is still in progress"
    assert bool(gc.get_freeze_count()) == bool(exempt)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_child_does_not_wait_for_a_thread_that_it_lacks():
    held, done = Event(), Event()

    def hold():
        with garbage.blocks.lock:
            held.set()
            done.wait()

    other = Thread(target=hold)
    other.start()
    held.wait()
    child = os.fork()
    if not child:
        os._exit(0 if garbage.blocks.lock.acquire(timeout=5) else 1)
    done.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_blocks_of_threads_that_begin_at_once_are_one(monkeypatch):
    """While the first collects what is garbage, the second waits for it."""
    before, collected, begun = gc.get_threshold(), [], Event()

    def collect():
        collected.append(gc.get_freeze_count())
        begun.set()
        time.sleep(0.05)

    def block():
        with rare_collection():
            pass

    monkeypatch.setattr(gc, "collect", collect)
    other = Thread(target=lambda: begun.wait() and block())
    other.start()
    with rare_collection():
        other.join()
        assert gc.get_freeze_count(), "the block of the other thread has not ended this one"
    assert len(collected) == 1
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
