"""Checkpoints and what is resumed from them: whole or not at all, and damage costs no more than it touched."""

import hashlib
import json
import os
import shutil

import pytest
import torch
from toy_run import Toy, end_of, played, toy_run

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.settings import Settings
from stratagem.playing.store import read_episodes, shards, write_shard
from stratagem.training.runs.binding import ResumeWarning
from stratagem.training.runs.checkpoint import checkpoint_folders, keep, latest, save_checkpoint
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog, read_metrics
from stratagem.training.runs.resume import resume


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "run", Settings(), 1, "x")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of nine steps with checkpoints at 2, 4, 6, 8 and 9, all of them kept."""
    return toy_run(tmp_path_factory.mktemp("runs") / "toy", Toy(last=9))


@pytest.fixture
def copy(finished, tmp_path):
    shutil.copytree(finished.path, tmp_path / "copy")
    return RunFolder(tmp_path / "copy")


def step_of(run, step, state=None, **options):
    """A step of a run: its shard, its metrics, its checkpoint."""
    write_shard(run.record, step, played(1, step))
    with MetricLog(run) as log:
        log.write(step, {"loss": float(step)})
    return save_checkpoint(run, step, state or {"step": step}, **options)


def test_a_checkpoint_says_what_was_saved(run):
    saved = step_of(run, 100, {"weights": torch.ones(2), "scores": {3: (1.5, None)}}, best=[100])
    found = latest(run)
    assert found == saved
    assert (found.step, found.shards, found.best) == (100, (100,), (100,))
    assert found.folder == run.checkpoints / "step-000100"
    state = found.state()
    assert torch.equal(state["weights"], torch.ones(2))
    assert state["scores"] == {3: (1.5, None)}
    assert not [path for path in found.folder.rglob("*") if path.suffix not in (".json", ".safetensors", "")]


def test_more_may_be_written_into_it(run):
    saved = step_of(run, 1, write=lambda folder: (folder / "more").write_text("x"))
    (saved.folder / "more").write_text("y")
    assert latest(run) is None


def test_a_checkpoint_is_not_overwritten(run):
    step_of(run, 1, {"a": 1})
    with pytest.raises(StratagemError, match=r"step-000001 exists already"):
        save_checkpoint(run, 1, {"a": 2})
    assert latest(run).state() == {"a": 1}


def test_what_cannot_be_saved_leaves_nothing(run):
    step_of(run, 1)
    with pytest.raises(TypeError, match=r"the state\['saved'\]\['a'\] is a function"):
        save_checkpoint(run, 2, {"a": step_of})
    assert [path.name for path in run.checkpoints.iterdir()] == ["step-000001"]


def test_all_that_a_checkpoint_counts_on_is_on_the_disk_before_it_has_its_name(run, monkeypatch):
    step_of(run, 1)
    synced, late = set(), []
    rename, fsync = os.rename, os.fsync

    def renaming(path, target):
        if target == run.checkpoints / "step-000002":
            counted = [path, *path.rglob("*"), *run.record.glob("*/000002.parquet")]
            late.append({file.stat().st_ino for file in [*counted, run.path / "metrics.jsonl"]} - synced)
            synced.clear()
        rename(path, target)

    monkeypatch.setattr(os, "rename", renaming)
    monkeypatch.setattr(os, "fsync", lambda file: (synced.add(os.fstat(file).st_ino), fsync(file)))
    step_of(run, 2)
    assert late == [set()]
    assert run.checkpoints.stat().st_ino in synced  # where the name is


FILES = ["checkpoint.json", "manifest.json", "state/state.json", "state/state.safetensors"]
SPOILS = {
    "half": lambda data: data[: len(data) // 2],
    "all but one": lambda data: data[:-1],
    "empty": lambda data: b"",
    "one bit": lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :],
    "garbage": lambda data: b"\xff\x00" * len(data),
    "nothing": lambda data: b"null",
    "an empty object": lambda data: b"{}",
    "a name less": lambda data: data.replace(b"checkpoint.json", b"checkpoint").replace(b'"step": 9', b'"step": 8'),
}
SPOILT = [(name, spoil) for name in FILES for spoil in SPOILS if not (spoil == "a name less" and "/" in name)]
EMPTY = hashlib.blake2b(digest_size=16).hexdigest()


def test_these_are_all_files_of_a_checkpoint(finished):
    folder = latest(finished).folder
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == FILES


@pytest.mark.parametrize(("name", "spoil"), SPOILT)
def test_damage_to_the_newest_falls_back_to_the_one_before(name, spoil, copy):
    path = copy.checkpoints / "step-000009" / name
    path.write_bytes(SPOILS[spoil](path.read_bytes()))
    assert latest(copy).step == 8


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_falls_back_to_the_one_before(name, copy):
    (copy.checkpoints / "step-000009" / name).unlink()
    (copy.checkpoints / "step-000008" / name).unlink()
    assert latest(copy).step == 6


def test_a_manifest_cannot_lead_out_of_its_folder(copy):
    manifest = copy.checkpoints / "step-000009" / "manifest.json"
    (copy.path / "outside").write_text("")
    files = json.loads(manifest.read_text())["files"] | {"../../outside": [0, EMPTY]}
    own = hashlib.blake2b(json.dumps(files, sort_keys=True).encode(), digest_size=16).hexdigest()
    manifest.write_text(json.dumps({"files": files, "own": own}))
    assert latest(copy).step == 8


def test_a_manifest_with_a_file_less_is_not_as_it_was_written(copy):
    manifest = copy.checkpoints / "step-000009" / "manifest.json"
    said = json.loads(manifest.read_text())
    del said["files"]["state/state.json"]
    manifest.write_text(json.dumps(said))
    assert latest(copy).step == 8


def test_a_run_goes_on_from_the_one_before_to_the_same_end(finished, copy):
    (copy.checkpoints / "step-000009" / "state" / "state.safetensors").write_bytes(b"")
    (copy.checkpoints / "step-000008").rename(copy.checkpoints / "step-000008.bak")
    with pytest.warns(ResumeWarning, match=r"The checkpoint of step 9 of .* is damaged: the run continues from step 6"):
        start = resume(copy)
    assert start.step == 6
    assert shards(copy.record) == [1, 2, 3, 4, 5, 6]
    aside = copy.set_aside / "001"
    assert {path.name for path in aside.iterdir()} == {"checkpoints", "record", "resume.json"}
    assert [path.name for path in (aside / "checkpoints").iterdir()] == ["step-000009"]
    assert [path.name for path in sorted((aside / "record" / "calls").iterdir())] == [
        f"00000{number}.parquet" for number in (7, 8, 9)
    ]
    assert len(list(read_episodes(aside / "record"))) == 6
    assert json.loads((aside / "resume.json").read_text())["step"] == 6
    assert read_metrics(copy)["loss"].steps == [1, 2, 3, 4, 5, 6]
    assert read_metrics(copy)["before"].steps == [0, 1, 2, 3, 4, 5]
    toy_run(copy.path)
    assert end_of(copy) == end_of(finished)


def test_a_finished_run_resumes_to_nothing_left_to_do(finished, copy):
    assert resume(copy).step == 9
    assert end_of(copy) == end_of(finished)


def test_what_is_measured_after_a_checkpoint_does_not_count_even_at_its_step(run):
    step_of(run, 3)
    with MetricLog(run) as log:
        log.write(3, {"late": 1.0})
    assert resume(run).metrics == 1
    assert list(read_metrics(run)) == ["loss"]


def test_a_run_without_checkpoints_begins(run):
    assert resume(run) is None
    assert not run.set_aside.exists()
    write_shard(run.record, 1, played(1, 1))
    (run.record / "decisions" / "000002.parquet").write_bytes(b"a shard that was never finished")
    with MetricLog(run) as log:
        log.write(0, {"loss": 1.0})
    assert resume(run) is None
    assert shards(run.record) == []
    assert list((run.record / "decisions").iterdir()) == []
    assert read_metrics(run) == {}


def test_a_run_with_nothing_but_damaged_checkpoints_says_so(run):
    step_of(run, 1)
    step_of(run, 2)
    for folder in checkpoint_folders(run).values():
        (folder / "checkpoint.json").write_bytes(b"")
    with pytest.raises(BadRecord, match=r"step-000002 is not whole: checkpoint\.json is not as it was written"):
        resume(run)
    assert shards(run.record) == [1, 2]


def test_a_checkpoint_of_another_version_says_so(run, monkeypatch):
    monkeypatch.setattr("stratagem.training.runs.checkpoint.VERSION", 99)
    step_of(run, 1)
    monkeypatch.undo()
    with pytest.raises(BadRecord, match="step-000001 has version 99, and this program reads versions 1 and 2"):
        resume(run)


def test_the_last_ones_and_the_best_are_kept(run):
    for step, best in ((1, [1]), (2, [1]), (3, [1, 3]), (4, [1]), (5, [1]), (1_000_000, [1])):
        step_of(run, step, best=best)
        keep(run, last=2)
    assert list(checkpoint_folders(run)) == [1, 5, 1_000_000]
    assert latest(run).best == (1,)
    assert [path for path in run.checkpoints.iterdir() if path.name.startswith(".")] == []
    with pytest.raises(ValueError, match="always kept"):
        keep(run, last=0)


def test_a_damaged_one_does_not_count_among_the_last(run):
    for step in (1, 2, 3):
        step_of(run, step)
    (run.checkpoints / "step-000003" / "checkpoint.json").write_bytes(b"")
    keep(run, last=1)
    assert list(checkpoint_folders(run)) == [2]
    (run.checkpoints / "step-000002" / "checkpoint.json").write_bytes(b"")
    keep(run, last=1)
    assert list(checkpoint_folders(run)) == [2]


@pytest.mark.parametrize("about", [b"{", b"[]", b"{}", b"[" * 100_000])
def test_garbage_of_the_right_size_stops_nothing(about, run):
    folders = [step_of(run, step).folder for step in (1, 2)]
    size = (folders[1] / "checkpoint.json").stat().st_size
    (folders[1] / "checkpoint.json").write_bytes(about.ljust(size))
    keep(run, last=1)
    assert list(checkpoint_folders(run)) == [1]
