"""A fake server with an engine for it, and an environment that knows no other key or proxy."""

import pytest
from asking import HASTY, KEY, OWNED
from fake_server import FakeServer

from stratagem.language.engines.openai_engine import OpenAIEngine


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in (
        "STRATAGEM_KEYS_FILE",
        "STRATAGEM_API_KEY",
        "STRATAGEM_PRICE",
        "http_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY + OWNED)


@pytest.fixture
def serve():
    """Start a server and make an engine for it: `server, engine = serve(answer)`."""
    running = []

    def start(answer, *, patience=HASTY, **settings):
        server = FakeServer(answer)
        running.append(server.__enter__())
        return server, OpenAIEngine(f"api:m@{server.url}", patience=patience, **{"max_failures": 1.0} | settings)

    yield start
    for server in running:
        server.__exit__()
