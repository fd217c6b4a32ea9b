import gc
import os

import pytest

# the models of the tests are so small that a second thread only waits for the first
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure():
    """Collect no garbage while the tests are found, which makes millions of objects and drops few."""
    gc.disable()


def pytest_collection_finish():
    """Exempt the tests themselves, at which every full collection looked again: a quarter of the suite's time."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def server_of_tiny(tmp_path_factory):
    """Address of a vLLM server with tiny, or of its stand-in."""
    from vllm_server import served

    with served("tiny", tmp_path_factory.mktemp("tiny")) as address:
        yield address
