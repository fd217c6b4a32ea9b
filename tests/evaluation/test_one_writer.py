"""A record has one writer at a time: two would put the same episodes there twice."""

import fcntl

import pytest

import stratagem as sg
from stratagem.base.lock import LockHeld, hold_lock, is_locked
from stratagem.measure.resumable import ResumableRecord
from stratagem.playing.store import fresh, record

PLAN = {"command": "eval"}


@pytest.fixture
def other(tmp_path):
    """Hold the lock of a record as another process does."""
    with (tmp_path / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.mark.parametrize("resume", [False, True])
def test_a_record_that_another_process_writes_is_refused(tmp_path, request, resume):
    if resume:
        ResumableRecord(tmp_path, PLAN).close()
    request.getfixturevalue("other")
    with pytest.raises(LockHeld, match=r"Another process uses the record .*: wait until it has ended, or stop it\."):
        ResumableRecord(tmp_path, PLAN, resume=resume)


def test_a_record_is_locked_until_it_is_closed_and_opens_again_in_its_process(tmp_path):
    first = ResumableRecord(tmp_path, PLAN)
    again = ResumableRecord(tmp_path, PLAN, resume=True)
    assert is_locked(tmp_path / "lock")
    again.close()
    first.close()
    with hold_lock(tmp_path / "lock", "the record"):
        pass


def test_an_evaluation_a_tournament_and_an_audit_release_their_records(tmp_path):
    sg.evaluate("ipd(rounds=2)", "TitForTat", opponents="random", episodes=2, record=tmp_path / "eval", progress=False)
    sg.tournament("ipd(rounds=2)", ["TitForTat", "random"], episodes=2, record=tmp_path / "all", progress=False)
    sg.audit("TightPassive", games="kuhn", decisions=300, out=tmp_path / "audit", progress=False)
    locks = list(tmp_path.rglob("lock"))
    assert len(locks) > 3
    assert not any(map(is_locked, locks))


def test_a_match_is_not_recorded_where_another_process_records(tmp_path, other):
    with pytest.raises(LockHeld, match=r"Another process uses the record"):
        sg.play("ipd(rounds=2)", "TitForTat", episodes=2, record=tmp_path, progress=False)
    assert not [*tmp_path.glob("episodes/*.parquet")]


def test_a_match_releases_its_record_also_when_play_breaks_off(tmp_path):
    def episodes():
        yield from sg.play("ipd(rounds=2)", "TitForTat", progress=False).episodes
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(record(episodes(), fresh(tmp_path)))
    assert not is_locked(tmp_path / "lock")
    assert len(sg.read_record(tmp_path).episodes) == 1
