"""Trackers of metrics: what they are sent, also by a resumed run, and their faults, with stand-ins for the packages.

`make test-tools` runs tests/tools/test_trackers_offline.py with the packages themselves.
"""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

import stratagem as sg
from stratagem.base.errors import StratagemError
from stratagem.base.settings import Settings
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog, read_metrics
from stratagem.training.runs.trackers import base
from stratagem.training.runs.trackers.base import sentence, tracking
from stratagem.training.runs.trackers.catalogue import make_trackers, tracker_names
from stratagem.training.runs.trackers.tracks import FILE, track_urls


class Config(Settings):
    steps: int = 5


class Service:
    """Stand-in for both packages: it notes what it is called with."""

    def __init__(self):
        self.inits, self.rows, self.ends = [], [], []
        self.broken = ""
        self.offline, self.url = False, "https://example.com/run"

    def init(self, project, **options):
        if self.broken == "init":
            raise RuntimeError("no way,\n the key is sk-secret-of-the-test\x1b[31m.")
        self.inits.append({"project": project, **options})
        return self

    def log(self, values, step):
        if self.broken == "log":
            raise RuntimeError("gone away")
        self.rows.append((step, values))

    def finish(self, **options):
        self.ends.append(options)


@pytest.fixture
def service(monkeypatch):
    found = Service()
    for name in ("wandb", "trackio"):
        module = ModuleType(name)
        module.init, module.finish = found.init, found.finish
        module.Settings = lambda **options: options
        module.context_vars = SimpleNamespace(current_run=SimpleNamespace(get=lambda: found))
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(base, "find_spec", lambda name: object())
    return found


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "kuhn-1", Config(), 7, "stratagem train kuhn")


def logged(run, steps, *trackers):
    with tracking(make_trackers(trackers)), MetricLog(run) as log:
        for step in steps:
            log.write(step, {"loss": float(step)})


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_a_tracker_gets_every_step_once_and_a_resumed_run_goes_on(run, service, name):
    logged(run, [0, 1], f"{name}(project=poker)")
    logged(run, [2], f"{name}(project=poker)")
    assert service.rows == [(0, {"loss": 0.0}), (1, {"loss": 1.0}), (2, {"loss": 2.0})]
    first, second = service.inits
    assert first == second
    assert (first["project"], first["resume"], first["config"]) == ("poker", "allow", {"steps": 5})
    assert len(service.ends) == 2
    assert read_metrics(run)["loss"].values == [0.0, 1.0, 2.0]


def test_steps_before_the_first_session_of_a_tracker_are_sent(run, service):
    logged(run, [0, 1])
    assert not (run.path / FILE).exists()
    logged(run, [2], "wandb")
    assert [step for step, _ in service.rows] == [0, 1, 2]


def test_steps_that_a_tracker_failed_to_take_are_sent_in_the_next_session(run, service, monkeypatch):
    logged(run, [0, 1, 2])
    log = service.log

    def fails_at_one(values, step):
        if step == 1:
            raise RuntimeError("gone away")
        log(values, step)

    with monkeypatch.context() as patch:
        patch.setattr(service, "log", fails_at_one)
        with pytest.warns(UserWarning, match="gone away"):
            logged(run, [3], "wandb")
    logged(run, [4], "wandb")
    assert [step for step, _ in service.rows] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("lines", "again"), [(1, [1, 1]), (2, [1]), (3, []), (9, []), (-1, [0, 1, 1]), ("x", [0, 1, 1])]
)
def test_lines_after_the_last_note_of_a_killed_run_are_sent_again(run, service, lines, again):
    logged(run, [0, 1, 1], "wandb")
    notes = json.loads((run.path / FILE).read_text())
    assert notes["trackers"]["wandb"]["lines"] == 3
    notes["trackers"]["wandb"]["lines"] = lines
    (run.path / FILE).write_text(json.dumps(notes))
    logged(run, [2], "wandb")
    assert [step for step, _ in service.rows] == [0, 1, 1, *again, 2]
    assert json.loads((run.path / FILE).read_text())["trackers"]["wandb"]["lines"] == 4


def test_wandb_gets_settings_and_no_facts_of_the_machine(run, service, monkeypatch):
    monkeypatch.setenv("WANDB_PROJECT", "of-the-variable")
    logged(run, [0], "wandb(entity=team)")
    (init,) = service.inits
    assert (init["project"], init["entity"], init["name"], init["dir"]) == (
        "of-the-variable",
        "team",
        "kuhn-1",
        run.path,
    )
    wanted = {"console": "off", "disable_code": True, "disable_git": True, "host": "", "save_code": False}
    assert init["settings"].items() >= wanted.items()
    assert all(init["settings"][f"x_disable_{fact}"] for fact in ("meta", "stats", "machine_info"))
    assert service.ends == [{"exit_code": 0}]
    assert track_urls(run) == {"wandb": "https://example.com/run"}


def test_a_run_that_fails_is_marked_as_failed(run, service):
    with pytest.raises(ZeroDivisionError), tracking(make_trackers(["wandb"])), MetricLog(run):
        raise ZeroDivisionError
    assert service.ends == [{"exit_code": 1}]


def test_a_tracker_that_fails_later_is_left_out_and_the_run_goes_on(run, service):
    with tracking(make_trackers(["wandb"])), MetricLog(run) as log:
        log.write(0, {"loss": 0.0})
        service.broken = "log"
        with pytest.warns(UserWarning, match="The tracker wandb failed and gets no more of this run: gone away"):
            log.write(1, {"loss": 1.0})
        service.broken = ""
        log.write(2, {"loss": 2.0})
    assert [step for step, _ in service.rows] == [0]
    assert read_metrics(run)["loss"].steps == [0, 1, 2]


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_a_service_that_cannot_be_opened_is_one_sentence_without_secrets(run, service, name, monkeypatch):
    monkeypatch.setenv("WANDB_API_KEY", "sk-secret-of-the-test")
    service.broken = "init"
    with pytest.raises(StratagemError, match=r"cannot be used: no way, the key is …") as caught:
        logged(run, [0], name)
    assert "sk-secret" not in str(caught.value)
    assert sentence(RuntimeError()) == "RuntimeError"


def test_a_tracker_is_closed_where_another_cannot_be_opened(run, service, monkeypatch):
    monkeypatch.setattr(sys.modules["trackio"], "init", lambda *args, **options: 1 / 0)
    with pytest.raises(StratagemError, match="Trackio cannot be used: division by zero"):
        logged(run, [0], "wandb", "trackio")
    assert service.ends == [{"exit_code": 1}]


def test_mistakes_are_one_sentence(monkeypatch):
    assert tracker_names() == ["wandb", "trackio"]
    for track, told in (
        ("wandbb", "did you mean wandb"),
        ("wandb(projekt=a)", "it has no option projekt; its options are project, entity"),
        ("wandb(project=3)", "needs `project` as a text, not 3"),
        ("trackio(project='')", "needs `project` as a text"),
        (3, "A tracker is given by its name, not int"),
    ):
        with pytest.raises(StratagemError, match=told.replace("(", r"\(")):
            sg.train("sepo/kuhn-tiny", track=[track], out="/nowhere")
    monkeypatch.setattr(base, "find_spec", lambda name: None)
    with pytest.raises(StratagemError, match="not installed: pip install trackio"):
        sg.train("sepo/kuhn-tiny", track="trackio", out="/nowhere")
    monkeypatch.setattr(base, "find_spec", lambda name: object())
    with pytest.raises(StratagemError, match="each tracker once"):
        make_trackers(["wandb", "wandb(project=b)"])


def test_notes_of_somebody_else_are_no_notes(run, service):
    for text in ("[]", "{", '{"trackers": 3}'):
        (run.path / FILE).write_text(text)
        assert track_urls(run) == {}
    logged(run, [0], "trackio")
    assert service.inits[0]["name"] == f"kuhn-1-{json.loads((run.path / FILE).read_text())['id']}"
