"""A record that is damaged: a kill while it is written leaves whole shards, and no turned bit is read as other data."""

import random
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from talking import calls_in, talked, talks

from stratagem.base.errors import BadRecord
from stratagem.playing.scheduler import play
from stratagem.playing.store import read_episodes, shards, write_shard


@pytest.mark.parametrize("killed_at", [1, 2, 3, 4])
def test_a_kill_within_any_table_leaves_no_shard(killed_at, tmp_path, monkeypatch):
    write_shard(tmp_path, 0, talked(2))
    writes = []

    def killed(found, file, **options):
        writes.append(Path(file.name).parent.name)
        real(found, file, **options)
        if len(writes) == killed_at:
            file.truncate(100)
            raise KeyboardInterrupt

    real = pq.write_table
    monkeypatch.setattr("stratagem.playing.store.pq.write_table", killed)
    with pytest.raises(KeyboardInterrupt):
        write_shard(tmp_path, 0, talked(2, seed=2))
    assert shards(tmp_path) == []
    monkeypatch.undo()
    write_shard(tmp_path, 0, talked(2, seed=2))
    assert list(read_episodes(tmp_path)) == talked(2, seed=2)


WRITER = """
import sys
from pathlib import Path
from talking import talks
from stratagem.playing.scheduler import play
from stratagem.playing.store import record
for _ in record(play(talks(sys.argv[2])), Path(sys.argv[1]), every=500):
    pass
"""


def killed_while_writing(command, folder, delay, **options):
    """Start a writer, wait until it has written a shard, and kill it a moment later."""
    before = len(shards(folder))
    writer = subprocess.Popen(command, **options)
    while len(shards(folder)) == before:
        assert writer.poll() is None
        time.sleep(0.005)
    time.sleep(delay)
    writer.send_signal(signal.SIGKILL)
    writer.wait(30)


@pytest.mark.runs
def test_a_kill_at_any_moment_leaves_whole_shards_with_their_calls(tmp_path, request):
    chance, before = random.Random(1), []
    for kill in range(4):
        command = [sys.executable, "-c", WRITER, str(tmp_path), f"run{kill}"]
        killed_while_writing(command, tmp_path, 0.2 * chance.random(), cwd=request.path.parent)
        after = list(read_episodes(tmp_path))
        assert after[: len(before)] == before
        assert shards(tmp_path) == list(range(len(shards(tmp_path))))
        own = after[len(before) :]
        assert own == list(islice(play(talks(f"run{kill}")), len(own)))
        assert len(calls_in(own)) >= len(own) > 0
        before = after


def flip(path, dice):
    """Turn one bit of a file over; what it held before."""
    data = path.read_bytes()
    place, bit = dice.randrange(len(data)), dice.randrange(8)
    path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
    return data


@pytest.mark.parametrize("seed", range(4))
def test_no_bit_that_is_turned_over_is_read_as_other_data(tmp_path, seed):
    write_shard(tmp_path, 1, talked())
    expected, dice = list(read_episodes(tmp_path)), random.Random(seed)
    refused = 0
    for _ in range(25):
        path = dice.choice(sorted(tmp_path.rglob("*.parquet")))
        data = flip(path, dice)
        try:
            assert list(read_episodes(tmp_path)) == expected
        except BadRecord:
            refused += 1
        path.write_bytes(data)
    assert refused > 10
