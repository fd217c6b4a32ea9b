import pytest

from stratagem.language.models.load import load


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache of the tests' own: what a model is made of must not depend on what was kept before."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATAGEM_CACHE", str(folder))
        yield folder


@pytest.fixture
def tiny():
    return load("tiny")
