"""A folder to look at."""

import multiprocessing
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from browser import launch
from shown_folder import Parrot, episodes_of, write_run

from stratagem.api.views import open_viewer
from stratagem.playing.store import write_shard
from stratagem.playing.workers import limited


@pytest.fixture(scope="package", autouse=True)
def cache_of_jobs(tmp_path_factory):
    """A cache folder for all tests: the process that jobs are forked from keeps the environment of its start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATAGEM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def started_quickly(monkeypatch):
    """Fork the processes of tables and jobs from one that has read in the libraries; each would take a second."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["stratagem.show.viewer.studio", "stratagem.api.evaluations"])
    monkeypatch.setattr(limited, "multiprocessing", SimpleNamespace(get_context=lambda method: context))


@pytest.fixture(scope="package")
def shown(tmp_path_factory):
    """The folder, for tests that leave it as it is."""
    root = tmp_path_factory.mktemp("shown")
    write_shard(root / "games", 0, episodes_of("kuhn", [Parrot(), "NashApprox"], 6))
    write_shard(root / "games", 1, episodes_of("ipd(rounds=4)", ["TitForTat", "AlwaysDefect"], name="later"))
    write_run(root / "runs" / "first")
    write_shard(root / "runs" / "first" / "record", 0, episodes_of("tic-tac-toe", ["random", "random"]))
    (root / "audit").mkdir()
    (root / "audit" / "card.html").write_text("<script>document.title='card'</script>", encoding="utf-8")
    return root


@pytest.fixture
def folder(shown, tmp_path):
    """A copy of the folder that a test may change."""
    return Path(shutil.copytree(shown, tmp_path / "shown"))


@pytest.fixture(scope="module")
def browser():
    """Chromium; its event loop ends with the module, since other tests have their own."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = launch(started)
        yield opened
        opened.close()


@pytest.fixture
def address(folder):
    """The address of the pages over a copy of the folder."""
    with open_viewer(folder, port=0, needs_token=False).server as server:
        yield server.url


@pytest.fixture
def page(browser, request):
    """A page that reports every error that is not `expected`; 390 pixels wide where a test says so."""
    width, height = getattr(request, "param", (1440, 900))
    context = browser.new_context(viewport={"width": width, "height": height})
    opened, faults = context.new_page(), []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    opened.on("request", lambda asked: faults.append(asked.url) if "127.0.0.1" not in asked.url else None)
    opened.expected = ()
    yield opened
    assert [fault for fault in faults if not any(text in fault for text in opened.expected)] == []
    context.close()
