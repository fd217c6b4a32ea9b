"""TensorBoard's files by hand: the bytes are those that TensorBoard itself writes, and it reads them."""

import math
import struct

import pytest

from stratagem.runs.events import EventFile, crc32c, cut_events, event_files, read_events, records

WRITTEN_BY_TENSORBOARD = bytes.fromhex(
    "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c"
    "0f000000000000006d532b0909000000000000f83f10043a020801d0b789e7"
    "1800000000000000a37f4b2209000000000000f83f2a0d0a0b0a046c6f7373150000803e796d7b63"
    "3c00000000000000c8b7a35209000000000000f83f10ac022a2e0a180a1167616d652f696c6c6567616c5f7261746515cdcccc3d"
    "0a080a016e150000c07f0a080a016915000080ffb28e6b7e"
)
"""By tensorboard 2.21.0 at time 1.5: the version; a new start at 4; loss 0.25 at 0; three scalars at 300."""
VALUES = {"game/illegal_rate": 0.1, "n": math.nan, "i": -math.inf}


@pytest.fixture
def frozen(monkeypatch):
    monkeypatch.setattr("stratagem.runs.events.time.time", lambda: 1.5)


def write(folder, *rows, after=-1):
    file = EventFile(folder, after=after)
    for step, values in rows:
        file.write(step, values)
    file.close()


def told(folder):
    return [(event.step, event.values) for path in event_files(folder).values() for event in read_events(path)]


def scalars(folder):
    return [(step, values) for step, values in told(folder) if values]


@pytest.mark.parametrize(
    ("data", "value"),
    [(b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)],
)
def test_the_checksum_is_the_one_of_rfc_3720(data, value):
    assert crc32c(data) == value


def test_the_bytes_are_tensorboards_own(frozen, tmp_path):
    write(tmp_path)
    write(tmp_path, (0, {"loss": 0.25}), (300, VALUES), after=3)
    second = list(event_files(tmp_path).values())[1]
    assert second.name == "events.out.tfevents.0000000002"
    assert second.read_bytes() == WRITTEN_BY_TENSORBOARD


def test_tensorboard_reads_them(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    write(tmp_path, (1, {"loss": 0.25}), (2, {"loss": 0.5, "game/illegal_rate": 0.1}), (3, {"loss": 9.0}))
    write(tmp_path, (3, {"loss": math.nan}), (200, {"loss": 1e300}), after=2)
    read = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert sorted(read.Tags()["scalars"]) == ["game/illegal_rate", "loss"]
    loss = [(event.step, event.value) for event in read.Scalars("loss")]
    assert [step for step, _ in loss] == [1, 2, 3, 200]
    assert [loss[0][1], loss[1][1], loss[3][1]] == [0.25, 0.5, math.inf]
    assert math.isnan(loss[2][1])


@pytest.mark.parametrize("step", [0, 1, 127, 128, 300, 2**40])
def test_what_is_read_is_what_was_written(step, tmp_path):
    write(tmp_path, (step, {"a/b": 0.5, "é": -1e300}))
    assert scalars(tmp_path) == [(step, {"a/b": 0.5, "é": -math.inf})]


def test_single_precision_is_what_is_kept(tmp_path):
    write(tmp_path, (1, {"x": 0.1}))
    assert scalars(tmp_path) == [(1, {"x": struct.unpack("<f", struct.pack("<f", 0.1))[0]})]


def test_a_file_is_read_up_to_where_it_is_torn(tmp_path):
    write(tmp_path, (1, {"x": 0.5}), (2, {"x": 0.25}))
    (path,) = event_files(tmp_path).values()
    data = path.read_bytes()
    ends = [end for _, end in records(path)]
    assert ends[-1] == len(data)
    for size in range(len(data)):
        path.write_bytes(data[:size])
        assert len(list(read_events(path))) == sum(end <= size for end in ends)
    for place in range(ends[1], len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert len(list(read_events(path))) == 2


def test_a_cut_leaves_so_many_and_no_torn_event(tmp_path):
    rows = [(step, {"x": float(step)}) for step in range(6)]
    write(tmp_path, *rows[:4])
    write(tmp_path, *rows[3:], after=2)
    last = list(event_files(tmp_path).values())[1]
    last.write_bytes(last.read_bytes()[:-1])
    cut_events(tmp_path, 9)
    assert [step for step, _ in scalars(tmp_path)] == [0, 1, 2, 3, 3, 4]
    cut_events(tmp_path, 5)
    assert [step for step, _ in scalars(tmp_path)] == [0, 1, 2, 3, 3]
    cut_events(tmp_path, 3)
    assert scalars(tmp_path) == rows[:3]
    cut_events(tmp_path, 0)
    assert told(tmp_path) == [(0, {})]
