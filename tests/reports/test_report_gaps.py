"""Pages of runs that lack something, or hold something that cannot be read."""

import pytest
from made_runs import begun, measured, whole
from reading import Page

from stratagem.base.errors import BadRecord
from stratagem.show.reports.report import report_html


def test_a_run_that_has_just_begun_says_what_is_missing(tmp_path):
    page = Page(report_html(begun(tmp_path / "run")))
    assert "No metrics have been logged yet." in page.texts[""]
    assert "the final evaluation follows the training" in page.texts["results"]
    assert "There is no file in policies/ yet" in page.texts["equilibrium"]
    assert "No episode is recorded yet." in page.texts["play"]
    assert "saved no findings yet" in page.texts["checks"]


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("evaluation.json", "results"),
        ("findings.json", "checks"),
        ("policies/kuhn-50.json", "equilibrium"),
        ("metrics.jsonl", "curves"),
    ],
)
@pytest.mark.parametrize("content", ["[", '{"rows": 3}\n', "\x80"])
def test_a_torn_file_is_told_and_the_page_is_made(tmp_path, name, section, content):
    run = begun(tmp_path / "run")
    (run.path / name).parent.mkdir(exist_ok=True)
    (run.path / name).write_bytes(content.encode("latin-1") + b"\n")
    assert f"{name}" in Page(report_html(run)).texts[section]


def test_file_of_another_shape_is_one_sentence(tmp_path):
    run = begun(tmp_path / "run")
    (run.path / "evaluation.json").write_text('{"evaluation": {}}\n')
    said = Page(report_html(run)).texts["results"]
    assert "evaluation.json does not have the expected format: rows: Field required." in said


def test_a_record_that_cannot_be_read_is_told(tmp_path):
    run = whole(tmp_path / "run")
    next((run.record / "decisions").glob("*.parquet")).write_bytes(b"torn")
    assert "cannot be read" in Page(report_html(run)).texts["play"]


def test_a_run_without_an_evaluation_has_a_verdict_from_its_curves(tmp_path):
    run = begun(tmp_path / "run")
    measured(run)
    said = Page(report_html(run)).texts[""]
    assert "kuhn in validation: from SFT to SEPO (step 8), exploitability fell from 0.120 to 0.040 and" in said


def test_a_torn_run_is_refused(tmp_path):
    run = begun(tmp_path / "run")
    (run.path / "run.json").write_text("{")
    with pytest.raises(BadRecord):
        report_html(run)
