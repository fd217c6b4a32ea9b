"""`stratagem watch` and the figures that a run is about."""

import json
import threading
import time

import pytest
from pydantic import ConfigDict

from stratagem.base.settings import Settings
from stratagem.cli.watch import changed_lines, panel, snapshot, sparkline
from stratagem.show.reports.main_figures import main_figures
from stratagem.show.reports.run_data import RunData
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog

FIGURE = "exploitability of kuhn, chips a hand ↓"


class Recipe(Settings):
    """Any recipe."""

    model_config = ConfigDict(extra="allow")

    algorithm: str = "sepo"


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(tmp_path / "one", Recipe(), 7, "stratagem train r.toml")


def log(folder, rows):
    with MetricLog(folder) as metrics:
        for step, values in enumerate(rows):
            metrics.write(step, values)


def exact(*values):
    return [{"kuhn/exact/exploitability": value, "checkpoint_metric": -value, "loss": 1.0} for value in values]


def test_main_figure_has_start_best_and_last(folder):
    log(folder, exact(0.5, 0.1, 0.3))
    (figure,) = main_figures(RunData(folder))
    assert (figure.name, figure.game, figure.better) == ("exploitability", "kuhn", "lower")
    assert (figure.start, figure.best, figure.last) == ((0, 0.5), (1, 0.1), (2, 0.3))
    assert figure.unit == "chips a hand"


def test_main_figure_is_the_win_rate_where_games_are_won(folder):
    log(folder, [{"tic-tac-toe/validation/win_rate": value, "checkpoint_metric": value} for value in (0.2, 0.6)])
    (figure,) = main_figures(RunData(folder))
    assert (figure.name, figure.unit, figure.start, figure.best) == (
        "win rate",
        "share of episodes",
        (0, 0.2),
        (1, 0.6),
    )


def test_run_of_learners_is_about_their_payoffs(folder):
    log(folder, [{"left/payoff": 1.0}, {"left/payoff": 2.0}])
    (figure,) = main_figures(RunData(folder))
    assert (figure.name, figure.game, figure.best, figure.last) == ("payoff", "left", None, (1, 2.0))


def test_watch_of_a_finished_run_prints_it_and_ends(run, folder):
    log(folder, [*exact(0.5), {**exact(0.1)[0], "checks/alike": 1.0}])
    with folder.at_work():
        pass
    (folder.path / "findings.json").write_text('{"alike": {"count": 2, "step": 0, "first": "No variance."}}')
    status, printed, errors = run("watch", folder.path)
    assert (status, errors) == (0, "")
    assert "one finished  sepo, seed 7, step 1, best step 1" in printed
    assert f"{FIGURE}: 0.500 at step 0, 0.100 at the best checkpoint, step 1" in printed
    assert "fault alike, 2 times, first at step 1: No variance." in printed


def test_watch_says_when_no_checkpoint_was_better_than_the_start(run, folder):
    log(folder, exact(0.1, 0.5, 0.3))
    with folder.at_work():
        pass
    assert "step 2, best step 2, no better than the start, since" in run("watch", folder.path)[1]


def test_watch_counts_both_steps_after_those_of_sft(run, folder):
    log(folder, [{}, {"sft/loss": 2.0}, {"sft/loss": 1.0, **exact(0.5)[0]}, *exact(0.1)])
    with folder.at_work():
        pass
    assert "step 2+1, best step 2+1, since" in run("watch", folder.path)[1]


def test_watch_of_a_failed_run_says_why_and_has_a_status_of_its_own(run, folder):
    with pytest.raises(ValueError, match="broke"), folder.at_work():
        raise ValueError("broke")
    status, printed, _ = run("watch", folder.path)
    assert status == 1
    assert "one failed" in printed
    assert "ValueError: broke" in printed


def test_watch_follows_a_run_until_it_ends(run, folder):
    started = threading.Event()

    def train():
        with folder.at_work(), MetricLog(folder) as metrics:
            for step, values in enumerate(exact(0.5, 0.2)):
                metrics.write(step, values)
                started.set()
                time.sleep(0.4)

    training = threading.Thread(target=train)
    training.start()
    started.wait()
    status, printed, _ = run("watch", folder.path, "--every", "0.1", "--json")
    training.join()
    looks = [json.loads(text + "}") for text in printed.split("\n}\n") if text.strip()]
    assert status == 0
    assert [look["state"] for look in looks][-1] == "finished"
    assert {look["step"] for look in looks} == {0, 1}
    assert looks[-1]["figures"][0]["last"] == {"step": 1, "value": 0.2}


def test_once_does_not_wait(run, folder):
    with folder.at_work():
        status, printed, _ = run("watch", folder.path, "--once")
    assert status == 0
    assert "one running" in printed


def test_lines_are_only_about_what_is_new(folder):
    log(folder, exact(0.5))
    before = snapshot(folder)
    assert len(list(changed_lines(None, before))) == 3, "status, figure, and why it failed"
    assert list(changed_lines(before, snapshot(folder))) == []
    log(folder, [{}, {"kuhn/exact/exploitability": 0.25}])
    (head, figure) = changed_lines(before, snapshot(folder))
    assert "step 1" in head.plain
    assert figure.plain.startswith(f"{FIGURE}: 0.500 at step 0, 0.250 at step 1")


def test_panel_draws_courses(folder):
    from stratagem.show.console import plain

    log(folder, exact(0.5, 0.1, 0.31))
    drawn = plain(panel(snapshot(folder)))
    assert "█▁▅" in drawn
    assert "0.500 (0)  0.100 (1)  0.310 (2)" in drawn


@pytest.mark.parametrize(
    ("values", "drawn"), [([], ""), ([1.0], "▄"), ([0.0, 1.0], "▁█"), ([2.0, 2.0], "▄▄"), (range(100), "▁▂▄▅▇█")]
)
def test_sparkline_has_the_first_and_the_last_value(values, drawn):
    told = sparkline(list(values), 6)
    assert (told[:1], told[-1:], len(told)) == (drawn[:1], drawn[-1:], len(drawn))
