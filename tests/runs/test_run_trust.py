"""Nothing around a checkpoint is trusted unread: metrics, shards, and the checkpoints themselves."""

import random
import shutil
import warnings

import pytest
from toy_run import Toy, end_of, toy_run
from written_events import scalars_of

from stratagem.base.errors import BadRecord
from stratagem.cli.main import main
from stratagem.playing.schemas import REPEATABLE
from stratagem.training.runs.binding import ResumeWarning
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE, MetricLog, read_metrics
from stratagem.training.runs.resume import resume, resume_by_force

SETTINGS = Toy(steps=8, last=3)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return toy_run(tmp_path_factory.mktemp("runs") / "toy", SETTINGS)


@pytest.fixture
def copy(finished, tmp_path):
    shutil.copytree(finished.path, tmp_path / "copy")
    return RunFolder(tmp_path / "copy")


def flipped(data, place, bit):
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def lines_of(run):
    return (run.path / FILE).read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("seed", range(40))
def test_one_damaged_byte_of_the_metrics_costs_no_line_but_its_own(seed, copy):
    dice, path = random.Random(seed), copy.path / FILE
    before = path.read_bytes()
    damaged = flipped(before, dice.randrange(len(before)), dice.randrange(8))
    path.write_bytes(damaged)
    with pytest.warns(ResumeWarning, match=rf"{FILE} has .* that step-000008 counts: .* is now in .*set-aside"):
        start = resume(copy)
    assert (copy.set_aside / "001" / FILE).read_bytes() == damaged
    own = before.splitlines(keepends=True)
    assert len(lines_of(copy)) == len(own) == start.metrics
    assert sum(line in lines_of(copy) for line in own) >= len(own) - 2  # two where the byte was a line's end
    read_metrics(copy)


@pytest.mark.parametrize("left", [0, 1, 3, -1])
def test_metrics_that_lack_lines_are_set_aside_and_named(left, copy):
    own = lines_of(copy)
    (copy.path / FILE).write_bytes(b"".join(own[:left]))
    whole = len(own[:left])
    with pytest.warns(ResumeWarning, match=rf"{FILE} has {whole} complete lines of the {len(own)} that step-000008"):
        resume(copy)
    assert lines_of(copy)[:whole] == own[:left]
    assert len(lines_of(copy)) == len(own)
    with MetricLog(copy):
        pass
    assert len(scalars_of(copy.path)) == len(own)


def test_metrics_that_are_gone_are_named_and_the_run_goes_on(copy):
    (copy.path / FILE).unlink()
    with pytest.warns(ResumeWarning, match=r"has 0 complete lines.*empty lines stand in its place"):
        resume(copy)
    assert latest(copy).step == 8
    assert read_metrics(copy) == {}


def test_damaged_metrics_are_mended_once_and_later_checkpoints_count_as_they_did(finished, copy):
    shutil.rmtree(copy.checkpoints / "step-000008")
    path = copy.path / FILE
    path.write_bytes(flipped(path.read_bytes(), 3, 1))
    with pytest.warns(ResumeWarning):
        resume(copy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        toy_run(copy.path)
    assert lines_of(copy)[1:] == lines_of(finished)[1:]
    own, whole = end_of(copy), end_of(finished)
    assert [own[name] for name in ("record", "counted", "weights")] == [
        whole[name] for name in ("record", "counted", "weights")
    ]


SHARDS = [
    f"{table}/00000{number}.parquet" for table in ("episodes", "decisions", "calls", "prompts") for number in (1, 8)
]


@pytest.mark.parametrize("name", SHARDS)
def test_a_counted_shard_that_is_missing_is_refused(name, copy):
    (copy.record / name).unlink()
    with pytest.raises(BadRecord, match=rf"{name} is missing, and step-000008 needs it: restore it"):
        resume(copy)
    assert not copy.set_aside.exists()
    assert len(lines_of(copy)) == latest(copy).metrics


@pytest.mark.parametrize("seed", range(40))
def test_a_counted_shard_with_one_other_bit_is_refused(seed, copy):
    dice = random.Random(seed)
    paths = (path for path in copy.record.rglob("*.parquet") if path.parent.name in REPEATABLE)  # not the times
    path = dice.choice(sorted(paths))
    data = path.read_bytes()
    path.write_bytes(flipped(data, dice.randrange(len(data)), dice.randrange(8)))
    with pytest.raises(BadRecord, match=rf"{path.name} has changed since step-000008 was saved"):
        resume(copy)
    path.write_bytes(data)
    assert resume(copy).step == 8


def test_checkpoints_that_are_gone_restart_no_run(copy):
    shutil.rmtree(copy.checkpoints)
    own = lines_of(copy)
    with pytest.raises(BadRecord, match=r"are missing, and the last was of step 8: .* `force=True`"):
        resume(copy)
    assert lines_of(copy) == own
    resume_by_force(copy)
    assert copy.info().rebound[0].step is None
    assert resume(copy) is None
    assert lines_of(copy) == []


def test_the_newest_checkpoint_is_missed(copy):
    shutil.rmtree(copy.checkpoints / "step-000008")
    with pytest.warns(ResumeWarning, match=r"The checkpoint of step 8 of .* is missing: the run continues from step 6"):
        assert resume(copy).step == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resume(copy).step == 6


def test_one_damaged_run_does_not_break_the_list(copy, finished, tmp_path, capsys):
    for name, file in (("a", "run.json"), ("b", "status.json"), ("c", FILE), ("d", "config.toml")):
        shutil.copytree(finished.path, tmp_path / name)
        (tmp_path / name / file).write_bytes(b"\x00\x00\n" * 3)
    with pytest.raises(SystemExit) as left:
        main(["runs", str(tmp_path)])
    assert not left.value.code
    told = capsys.readouterr()
    rows = {line.split()[0]: line for line in told.out.splitlines() if line.split()}
    assert "damaged" in rows["b"]
    assert "damaged" in rows["c"]
    assert "finished" in rows["copy"]
    assert "status.json cannot be read as JSON" in " ".join(told.err.split())
