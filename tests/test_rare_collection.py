"""Rare garbage collection: what is exempt, and that all is as before afterwards."""

import gc

import pytest

from stratagem.base import garbage
from stratagem.base.garbage import fewer_collections, rare_collection


@pytest.fixture(autouse=True)
def _nothing_is_exempt(monkeypatch):
    """Undo for a while what is done for the tests."""
    monkeypatch.setattr(garbage, "collecting_rarely", False)
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
