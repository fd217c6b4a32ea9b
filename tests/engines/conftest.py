import pytest

from stratagem.language.engines.open import open_engine
from stratagem.language.models.load import load
from stratagem.language.models.reference import BUILT_IN


@pytest.fixture(scope="session")
def models():
    """The built-in models by name, without adapters; nobody changes them."""
    return {kind: load(kind) for kind in BUILT_IN}


@pytest.fixture(params=BUILT_IN)
def lm(request, models):
    """Each of them."""
    return models[request.param]


@pytest.fixture
def tiny(models):
    return models["tiny"]


@pytest.fixture
def engine(lm):
    """A fresh engine of each model."""
    return open_engine(lm)


@pytest.fixture
def small(tiny):
    """A fresh engine of the plainest model."""
    return open_engine(tiny)
