"""Endpoints of the tests, on free ports, and clients of them."""

import http.client
import json
from urllib.parse import urlsplit

import openai
import pytest

import stratagem as sg


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Reach loopback without a proxy, and know no key."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("STRATAGEM_SERVE_KEY", raising=False)


@pytest.fixture
def serve():
    """Serve players until the end of the test."""
    opened = []

    def start(players, game="kuhn", **options):
        opened.append(sg.serve(players, game, port=0, **options))
        return opened[-1]

    yield start
    for server in opened:
        server.close()


@pytest.fixture(scope="module")
def kuhn():
    """Endpoint of some players of Kuhn poker, for all tests of a file: to close one takes a moment."""
    with sg.serve(["AlwaysBet", "NashApprox", "Bluffer", "mcts:5"], "kuhn", port=0) as server:
        yield server


@pytest.fixture
def client():
    """Make an openai client of a server; nothing is retried."""
    made = []

    def make(server, key="none"):
        made.append(openai.OpenAI(base_url=server.url, api_key=key, max_retries=0, timeout=20.0))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def post():
    """Send bytes to a path of a server; return the status and the JSON of the response."""

    def send(server, body, path="/chat/completions", kind="application/json", method="POST", **headers):
        where = urlsplit(server.url)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, where.path + path, data, {"Content-Type": kind, **headers})
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return response.status, answer

    return send
