"""Trackers with the packages themselves, without a network; `make test-tools` runs it."""

import json
import sqlite3
import struct

import pytest

from stratagem.base.settings import Settings
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog
from stratagem.training.runs.trackers.base import tracking
from stratagem.training.runs.trackers.catalogue import make_trackers

KEY = "a1b2c3d4" * 5


class Config(Settings):
    steps: int = 5


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    return RunFolder.create(tmp_path / "kuhn-1", Config(), 7, "stratagem train kuhn")


def logged(run, steps, tracker):
    with tracking(make_trackers([tracker])), MetricLog(run) as log:
        for step in steps:
            log.write(step, {"loss": step / 2, "kuhn/payoff": float("nan") if step == 1 else 1.0})


def records(path):
    """Records of an offline run of W&B: a log in LevelDB's format, of one block here."""
    from wandb.proto import wandb_internal_pb2

    data, place = path.read_bytes()[7:], 0
    assert len(data) < 32_000
    while place + 7 <= len(data):
        _, size, kind = struct.unpack("<IHB", data[place : place + 7])
        assert kind == 1
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data[place + 7 : place + 7 + size])
        place += 7 + size
        yield record


def test_wandb_has_the_metrics_of_both_sessions_and_no_key(run):
    pytest.importorskip("wandb")
    logged(run, [0, 1], "wandb(project=poker)")
    logged(run, [2], "wandb(project=poker)")
    found, ids = {}, set()
    for path in run.path.rglob("*.wandb"):
        for record in records(path):
            if record.WhichOneof("record_type") == "run":
                ids.add((record.run.run_id, record.run.project, record.run.display_name, record.run.host))
            if record.WhichOneof("record_type") == "history":
                values = {"/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
                found[record.history.step.num] = (values["loss"], values["kuhn/payoff"])
    assert {step: loss for step, (loss, _) in found.items()} == {0: 0.0, 1: 0.5, 2: 1.0}
    assert found[1][1] != found[1][1], "not a number"
    assert ids == {(json.loads((run.path / "trackers.json").read_text())["id"], "poker", "kuhn-1", "")}
    assert not [path for path in run.path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_trackio_has_the_metrics_of_both_sessions(run, tmp_path, capsys):
    pytest.importorskip("trackio")
    logged(run, [0, 1], "trackio(project=poker)")
    logged(run, [2], "trackio(project=poker)")
    with sqlite3.connect(tmp_path / "trackio" / "poker.db") as database:
        rows = database.execute("SELECT run_name, step, metrics FROM metrics ORDER BY step").fetchall()
    assert {name for name, _, _ in rows} == {f"kuhn-1-{json.loads((run.path / 'trackers.json').read_text())['id']}"}
    assert [(step, json.loads(metrics)["loss"]) for _, step, metrics in rows] == [(0, 0.0), (1, 0.5), (2, 1.0)]
    assert capsys.readouterr().out == ""
