"""The event file of a session holds every step once, and TensorBoard reads it."""

import math
import struct

import pytest
from written_events import events_of, scalars_of

from stratagem.training.runs.events import EventFile, event_files


def write(folder, *rows, earlier=()):
    file = EventFile(folder, earlier)
    for step, values in rows:
        file.write(step, values)
    file.close()


def test_event_file_holds_single_precision_scalars(tmp_path):
    rows = [(0, {"a/b": 0.1, "é": -1e300}), (2**40, {"x": math.nan, "y": math.inf}), (2**40, {})]
    write(tmp_path, *rows)
    (first, second, third) = scalars_of(tmp_path)
    assert first == (0, {"a/b": struct.unpack("<f", struct.pack("<f", 0.1))[0], "é": -math.inf})
    assert (second[0], second[1]["y"], math.isnan(second[1]["x"])) == (2**40, math.inf, True)
    assert third == (2**40, {})


def test_event_file_of_a_new_session_replaces_the_one_before(tmp_path):
    rows = [(step, {"x": float(step)}) for step in range(5)]
    write(tmp_path, *rows[:4])
    (first,) = event_files(tmp_path).values()
    first.write_bytes(first.read_bytes()[:-1])
    write(tmp_path, *rows[2:], earlier=rows[:2])
    _, second = event_files(tmp_path).values()
    assert (first.name, second.name) == ("events.out.tfevents.0000000001", "events.out.tfevents.0000000002")
    assert scalars_of(tmp_path) == rows
    started = [event.session_log.status for event in events_of(second) if event.HasField("session_log")]
    assert started == [1]
    write(tmp_path, earlier=rows)
    assert list(event_files(tmp_path)) == [2, 3]
    assert scalars_of(tmp_path) == rows


def test_event_files_of_a_session_killed_at_its_start_are_replaced_too(tmp_path):
    write(tmp_path, (1, {"x": 1.0}))
    (tmp_path / "events.out.tfevents.0000000002").write_bytes(b"\x18\x00")
    write(tmp_path, (2, {"x": 2.0}), earlier=[(1, {"x": 1.0})])
    assert [path.stat().st_size > 0 for path in event_files(tmp_path).values()] == [False, False, True]
    assert scalars_of(tmp_path) == [(1, {"x": 1.0}), (2, {"x": 2.0})]


def test_event_file_is_flushed_from_time_to_time(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr("stratagem.training.runs.events.time.monotonic", lambda: now)
    file = EventFile(tmp_path)
    file.write(1, {"x": 1.0})
    assert scalars_of(tmp_path) == []
    now += 6.0
    file.write(2, {"x": 2.0})
    assert [step for step, _ in scalars_of(tmp_path)] == [1, 2]
    file.close()


def test_tensorboard_reads_event_files_while_sessions_change(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    write(tmp_path, (1, {"loss": 0.25}), (2, {"loss": 0.5, "game/illegal_rate": 0.1}), (3, {"loss": 9.0}))
    read = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert [event.step for event in read.Scalars("loss")] == [1, 2, 3]
    earlier = [(1, {"loss": 0.25}), (2, {"loss": 0.5, "game/illegal_rate": 0.1})]
    write(tmp_path, (3, {"loss": math.nan}), (200, {"loss": 1e300}), earlier=earlier)
    for again in (read.Reload(), accumulator.EventAccumulator(str(tmp_path)).Reload()):
        assert sorted(again.Tags()["scalars"]) == ["game/illegal_rate", "loss"]
        loss = [(event.step, event.value) for event in again.Scalars("loss")]
        assert [step for step, _ in loss] == [1, 2, 3, 200]
        assert [loss[0][1], loss[1][1], loss[3][1]] == [0.25, 0.5, math.inf]
        assert math.isnan(loss[2][1])
