import gc
import itertools
import os

import pytest

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
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def server_of_tiny(tmp_path_factory):
    """Address of a vLLM server with tiny, or of its stand-in."""
    from vllm_server import served

    with served("tiny", tmp_path_factory.mktemp("tiny")) as address:
        yield address


@pytest.fixture(autouse=True)
def trusting_nobody(tmp_path_factory, monkeypatch):
    """A list of trusted folders of its own for each test; at first it is empty."""
    monkeypatch.setenv("STRATAGEM_CONFIG", str(tmp_path_factory.getbasetemp() / f"config-{next(_numbers)}"))
