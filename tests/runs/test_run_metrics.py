"""Metrics of a run: what was measured is read back, and a cut leaves what a checkpoint counts."""

import json
import math

import pytest
from written_events import scalars_of

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.settings import Settings
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE, Curve, MetricLog, counted_metrics, cut_metrics, read_metrics


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "run", Settings(), 1, "x")


def log(run, *rows):
    with MetricLog(run) as metrics:
        for step, values in rows:
            metrics.write(step, values)


ROWS = [(0, {"eval/nash_conv": 0.5}), (1, {"loss": 0.1}), (1, {"eval/nash_conv": 0.25}), (4, {"loss": 1e-300})]


def test_each_metric_has_its_own_steps(run):
    log(run, *ROWS)
    assert read_metrics(run) == {"eval/nash_conv": Curve([0, 1], [0.5, 0.25]), "loss": Curve([1, 4], [0.1, 1e-300])}


def test_lines_are_json_that_depends_on_nothing_else(run):
    log(run, (3, {"game/illegal_rate": 0.1, "n": math.nan, "num": 7, "inf": math.inf, "-inf": -math.inf, "yes": True}))
    line = '{"step": 3, "game/illegal_rate": 0.1, "n": null, "num": 7.0, "inf": 1e999, "-inf": -1e999, "yes": 1.0}\n'
    assert (run.path / FILE).read_text() == line
    json.loads(line, parse_constant=pytest.fail)
    curves = read_metrics(run)
    assert math.isnan(curves["n"].values[0])
    assert (curves["inf"].values, curves["-inf"].values) == ([math.inf], [-math.inf])


def test_tensorboard_gets_the_same(run):
    log(run, *ROWS)
    log(run, (5, {"loss": 2.0}))
    events = scalars_of(run.path)
    assert [step for step, _ in events] == [0, 1, 1, 4, 5]
    assert [values["loss"] for _, values in events if "loss" in values] == pytest.approx([0.1, 0.0, 2.0])


def test_what_is_written_is_there_before_the_log_is_closed(run):
    with MetricLog(run) as metrics:
        metrics.write(1, {"loss": 2.0})
        assert read_metrics(run) == {"loss": Curve([1], [2.0])}


def test_a_run_without_metrics(run):
    assert read_metrics(run) == {}
    cut_metrics(run, 5)
    assert read_metrics(run) == {}


@pytest.mark.parametrize("name", ["step", "", "a b", "/a", "a/", "a//b", "a\n", "\ud800"])
def test_names_are_paths(name, run):
    with MetricLog(run) as metrics:
        with pytest.raises(BadParameter, match="A metric cannot be called"):
            metrics.write(1, {"fine": 1.0, name: 1.0})
        metrics.write(1, {"a/b.c/d@2(x=1)": 1.0})
    assert list(read_metrics(run)) == ["a/b.c/d@2(x=1)"]


def test_steps_do_not_fall(run):
    log(run, (3, {"loss": 1.0}))
    with MetricLog(run) as metrics, pytest.raises(ValueError, match="step 2 cannot follow those of step 3"):
        metrics.write(2, {"loss": 1.0})
    with MetricLog(run) as metrics:
        metrics.write(3, {"loss": 2.0})
    assert read_metrics(run)["loss"] == Curve([3, 3], [1.0, 2.0])


@pytest.mark.parametrize(("number", "left"), [(0, 0), (1, 1), (2, 2), (4, 4), (9, 4)])
def test_a_cut_leaves_what_counts(number, left, run):
    log(run, *ROWS)
    lines = (run.path / FILE).read_bytes().splitlines(keepends=True)
    with (run.path / FILE).open("ab") as file:
        file.write(b'{"step": 4, "lo')
    cut_metrics(run, number)
    assert (run.path / FILE).read_bytes() == b"".join(lines[:left])
    assert counted_metrics(run).lines == left
    log(run, (9, {"loss": 3.0}))
    assert [step for step, _ in scalars_of(run.path)] == [*(step for step, _ in ROWS[:left]), 9]
    assert read_metrics(run)["loss"].values[-1] == 3.0


def test_a_line_that_is_being_written_is_not_read_yet(run):
    log(run, *ROWS[:2])
    with (run.path / FILE).open("ab") as file:
        file.write(b'{"step": 4, "lo')
    assert read_metrics(run)["loss"] == Curve([1], [0.1])


LARGE = b'{"step": 1, "loss": ' + b"9" * 400 + b"}\n"
"""Line with a number that no float holds."""


@pytest.mark.parametrize("garbage", [b"\x00\x00\n", b"[]\n", b'{"loss": 1}\n', b'{"step": "1"}\n', b"{\n", LARGE])
def test_a_line_that_is_no_metrics_is_named(garbage, run):
    log(run, *ROWS[:1])
    size = (run.path / FILE).stat().st_size
    with (run.path / FILE).open("ab") as file:
        file.write(garbage + b'{"step": 5}\n')
    with pytest.raises(BadRecord, match=f"has a line without metrics, {size} bytes from its start"):
        read_metrics(run)
