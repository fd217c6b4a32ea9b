"""Pages and workers: both have the list of the command that started them, and no more."""

import socket
import threading
import time

import pytest
from consent_work import ask_server, start_command

from stratagem.base.consent.table import allow_host, commanding, consent
from stratagem.base.errors import BadParameter
from stratagem.playing.workers.processes import Processes
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.studio import Studio

ADDRESS = "http://127.0.0.1:8150"


@pytest.fixture
def listener():
    """A server that counts its connections, and answers none."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        came = []

        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                came.append(1)
                connection.close()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], came


def last_event(http, table):
    until = time.monotonic() + 90
    while time.monotonic() < until:
        events = http.get("/api/table", params={"id": table, "seen": 0}).json()["events"]
        if events and events[-1]["event"] in ("priced", "failed", "left", "over"):
            return events[-1]
        time.sleep(0.1)
    raise AssertionError("the table did not end")


@pytest.mark.parametrize("allowed", [False, True])
def test_a_server_that_a_page_names_needs_allow_host(tmp_path, listener, allowed, monkeypatch):
    pytest.importorskip("openai")
    testclient = pytest.importorskip("starlette.testclient")
    port, came = listener
    monkeypatch.setenv("STRATAGEM_API_KEY", f"sk-owner-98765@127.0.0.1:{port}")
    with commanding():
        if allowed:
            allow_host(f"127.0.0.1:{port}")
        studio = Studio(tmp_path)
        http = testclient.TestClient(Viewer(studio, token="").application(), base_url=ADDRESS)
        player = f"lm('api:m@http://127.0.0.1:{port}/v1')"
        body = {"game": "kuhn(hands=1)", "seat": 0, "players": {"1": player}, "accepted": not allowed}
        told = http.post("/api/do/sit", json=body, headers={"origin": ADDRESS}).json()
        end = last_event(http, told["id"])
        studio.close()
    if allowed:
        assert end["event"] == "priced", end
    else:
        assert end["event"] == "failed"
        assert f"start `stratagem view` again with `--allow-host 127.0.0.1:{port}`" in end["sentence"]
    assert came == []


def refused(work, item):
    with commanding():
        workers = Processes(1)
        try:
            with pytest.raises(BadParameter) as caught:
                list(workers.run(work, [item]))
        finally:
            workers.close()
    return str(caught.value)


def test_workers_refuse_what_is_not_on_the_list():
    assert "A server at evil.example:443 would be asked" in refused(ask_server, "https://evil.example/v1")
    assert "cmd:./evil would run a program" in refused(start_command, "./evil")


def test_workers_get_the_list_of_their_command():
    with commanding(["cmd:./mine", "api:m@https://mine.example/v1"]):
        assert consent().strict
        workers = Processes(1)
        try:
            assert list(workers.run(ask_server, ["https://mine.example/v1"])) == [(0, None)]
            assert list(workers.run(start_command, ["./mine"])) == [(0, None)]
        finally:
            workers.close()
