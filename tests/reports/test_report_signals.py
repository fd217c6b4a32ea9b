"""Gradient signal of each term: the training's own verdict, drawn from the metrics alone."""

import math

import pytest
from made_runs import TERMS, begun, whole
from reading import Page

from stratagem.learn.signal_to_noise import GradientSignal, SignalToNoiseTracker
from stratagem.show.reports.report import report_html
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.sections.signals import so_far
from stratagem.training.runs.metrics import MetricLog

SERIES = {
    "acts": [(0.4 + 0.3 * math.sin(n), 2.0) for n in range(30)],
    "no direction": [(0.1 * math.sin(2.2 * n), 2.0) for n in range(40)],
    "vanished": [*[(0.1 * math.sin(2.2 * n), 2.0) for n in range(6)], *[(0.0, 0.0)] * 10],
    "constant": [(0.0, 0.0)] * 5,
    "early": [(0.5, 1.0), (-0.4, 1.0)],
}
WORDS = {
    "acts": "Gradient: the halves agree",
    "constant": "is constant in every group",
    "vanished": "has become constant",
    "no direction": "Noise only",
    "early": "Inconclusive",
}


@pytest.mark.parametrize("verdict", SERIES)
def test_the_verdict_is_the_trainings_own(tmp_path, verdict):
    run, signals = begun(tmp_path / "run"), SignalToNoiseTracker()
    with MetricLog(run) as log:
        for step, (dot, noise) in enumerate(SERIES[verdict]):
            log.write(step, {"signal/x/dot": dot, "signal/x/noise": noise})
            signals.add({"x": GradientSignal(dot, noise, constant=noise == 0.0)})
    known = so_far(RunData(run), "x")
    assert known[max(known)] == signals.estimates()["x"]
    assert len(known) == len(SERIES[verdict])
    assert signals.estimates()["x"].verdict == verdict
    page = Page(report_html(run))
    assert WORDS[verdict] in page.texts["signals"]
    assert len(page.traces_of("signals")) == (0 if verdict == "constant" else 3)


def test_the_page_names_the_term_with_a_gradient_and_the_one_without(tmp_path):
    page = Page(report_html(whole(tmp_path / "run")))
    (rows,) = page.tables_of("signals")
    assert [row[0] for row in rows[1:]] == sorted(TERMS)
    assert "Noise only" in rows[1][1]
    assert "Gradient: the halves agree" in rows[2][1]
    assert rows[2][-1] == "20"
    agreement = page.traces_of("signals")[-1]["y"][-1]
    assert rows[2][2] == f"{agreement:.3f}"


def test_a_run_without_rewards_says_so(tmp_path):
    run = begun(tmp_path / "run")
    with MetricLog(run) as log:
        log.write(1, {"loss": 1.0})
    assert "has no metrics of its reward terms" in Page(report_html(run)).texts["signals"]
