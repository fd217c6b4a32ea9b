"""Logs of inspect by its own `read_eval_log` and by our reader; run by `make test-inspect`, skipped without inspect."""

from pathlib import Path

import pytest

from stratagem.connect.logs import inspect_log
from stratagem.connect.logs.base import LogColumns
from stratagem.connect.logs.catalogue import read_log

log = pytest.importorskip("inspect_ai.log")
WRITTEN = Path(__file__).parents[1] / "logs" / "written" / "inspect"
CLUSTERS = LogColumns(cluster="topic")


@pytest.mark.parametrize("name", ["a.eval", "b.eval"])
def test_both_readers_have_the_same_scores(name, monkeypatch):
    by_inspect = read_log(WRITTEN / name, CLUSTERS)
    monkeypatch.setattr(log, "read_eval_log", None)
    monkeypatch.setattr(inspect_log, "find_spec", lambda name: None)
    assert set(read_log(WRITTEN / name, CLUSTERS).rows) == set(by_inspect.rows)


def test_log_that_inspect_writes_with_an_error_is_read_as_its_json(tmp_path):
    path = tmp_path / "errors.eval"
    log.write_eval_log(log.read_eval_log(str(WRITTEN / "errors.json")), str(path))
    assert set(read_log(path, CLUSTERS).rows) == set(read_log(WRITTEN / "errors.json", CLUSTERS).rows)


def test_scores_are_those_of_inspect():
    from inspect_ai.scorer import value_to_float

    known = log.read_eval_log(str(WRITTEN / "b.eval"))
    read = {(row.item, row.repeat, row.measure): row.score for row in read_log(WRITTEN / "b.eval", CLUSTERS).rows}
    for sample in known.samples:
        for scorer, score in sample.scores.items():
            found = read[str(sample.id), str(sample.epoch), f"sums/{scorer}"]
            assert found == value_to_float()(score.value)
