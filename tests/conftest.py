import copy
import gc
import io
import itertools
import logging
import os
import sys
from dataclasses import replace

import pytest

import like_macos
import shared_models
from jobs import Jobs
from processor_time import ProcessorTime

if "--like-macos" in sys.argv:  # before anything of the package is imported
    like_macos.pretend()
    like_macos.pass_on()
_numbers = itertools.count()
# the models of the tests are so small that a second thread only waits for the first
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect no garbage while the tests are found, and exempt them later: they took a quarter of the suite's time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop():
    """Be within a block of rare collections: each block of a test would count all that is exempt."""
    from stratagem.base.garbage import rare_collection

    with rare_collection():
        return (yield)


def pytest_runtest_setup():
    shared_models.share_models()  # a library that a test reads in is there for the next one


def pytest_addoption(parser):
    parser.addoption("--jobs", type=int, default=1, metavar="N", help="share the tests among N processes")
    parser.addoption("--cpu-times", type=int, default=0, metavar="N", help="list the N tests with most processor time")
    parser.addoption("--like-macos", action="store_true", help="run without what only Linux has")
    parser.addoption("--no-cpu-limit", action="store_true", help="let a test without a mark take over a second")


def pytest_configure(config):
    limited = not config.option.no_cpu_limit
    config.pluginmanager.register(ProcessorTime(config.option.cpu_times, limited=limited))
    if config.option.like_macos or sys.platform != "linux":
        config.pluginmanager.register(like_macos.LikeMacos())
    if config.option.jobs > 1:
        config.pluginmanager.register(Jobs(config, config.option.jobs))


@pytest.fixture(scope="session")
def server_of_tiny(tmp_path_factory):
    """Address of a vLLM server with tiny, or of its stand-in."""
    from vllm_server import served

    with served("tiny", tmp_path_factory.mktemp("tiny")) as address:
        yield address


@pytest.fixture
def as_new_process(monkeypatch):
    """Function that forgets which files were loaded, and which servers and agents were asked, as a new process does."""

    def forget():
        monkeypatch.setattr("stratagem.base.file_modules.MODULES", {})
        monkeypatch.setattr("stratagem.language.engines.open.SERVERS", {})
        monkeypatch.setattr("stratagem.language.engines.agents.open.ENGINES", {})

    return forget


@pytest.fixture
def logged():
    """All that is logged, as a stream of text; the plugin of pytest that keeps it for every test is dear."""
    stream, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(stream), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.setLevel(level)
    root.removeHandler(handler)


@pytest.fixture
def probing_anew(monkeypatch):
    """Probe each model again, for tests that change how one is read."""
    monkeypatch.setattr(shared_models, "PROBES", {})


@pytest.fixture(scope="session")
def folder_of_lists(tmp_path_factory):
    """Folder of the lists of trusted folders."""
    return str(tmp_path_factory.mktemp("lists"))


@pytest.fixture(autouse=True)
def trusting_nobody(folder_of_lists):
    """A list of trusted folders of its own, at first empty; afterwards, what the test allowed is forgotten.

    So is which file a short name meant: two tests may both have an `own.py`. It is one fixture that asks for no other
    of a test, since a further one takes every test half a millisecond.
    """
    from stratagem.base import named_files
    from stratagem.base.consent import table as consent_table

    before = named_files.table(), consent_table.consent(), os.environ.get("STRATAGEM_CONFIG")
    named_files.take(_copy_of(before[0]))
    consent_table.take(_copy_of(before[1]))
    os.environ["STRATAGEM_CONFIG"] = os.path.join(folder_of_lists, f"config-{next(_numbers)}")  # noqa: PTH118 - quick
    yield
    named_files.take(before[0])
    consent_table.take(before[1])
    if before[2] is None:
        os.environ.pop("STRATAGEM_CONFIG", None)
    else:
        os.environ["STRATAGEM_CONFIG"] = before[2]


def _copy_of(table):
    """Return the same table with containers of its own, whose entries cannot change."""
    return replace(table, **{name: copy.copy(value) for name, value in vars(table).items()})


@pytest.fixture(scope="module")
def small_known_games():
    """Known games of audits over drawn ones: leduc has 936 situations, which take a second to ask about."""
    from stratagem.measure.audit.probes import draws
    from stratagem.verifier import drawn_games

    games = ("kuhn", "kuhn(hands=1)")
    with pytest.MonkeyPatch.context() as patch:
        for module in (draws, drawn_games):
            patch.setattr(module, "KNOWN_GAMES", games)
        yield games
