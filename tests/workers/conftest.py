import pytest

from stratagem.playing.workers.processes import Processes


@pytest.fixture(scope="session")
def two():
    """Two processes for all tests, since each loads torch."""
    workers = Processes(2)
    yield workers
    workers.close()
