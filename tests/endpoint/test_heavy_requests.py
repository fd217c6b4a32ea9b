"""Large bodies do not stop a server for others, and half a head is not waited for without an end."""

import json
import socket
import time
from contextlib import suppress
from threading import Thread
from urllib.parse import urlsplit

import pytest

from stratagem.connect.endpoint.bodies import MOST_VALUES, read_chat
from stratagem.connect.endpoint.positions import read_position
from stratagem.connect.endpoint.refusal import RefusedRequest
from stratagem.games.catalogue import game_names, make_game
from stratagem.games.key import Key
from stratagem.show.web import server

ONE = {"role": "user", "content": "a"}
MANY = {
    "messages": {"messages": [ONE] * 80_000},
    "broken messages": {"messages": [{}] * 800_000},
    "parts": {"messages": [{"role": "user", "content": [1] * 900_000}]},
    "a state": {"messages": [ONE], "stratagem": {"seat": 0, "state": {str(place): place for place in range(200_000)}}},
    "unknown options": {"messages": [ONE], **{f"option{place}": 1 for place in range(200_000)}},
    "stops": {"messages": [ONE], "stop": ["a"] * 500_000},
}


@pytest.mark.parametrize("name", MANY)
def test_a_body_of_very_many_values_is_refused_before_its_checks(name):
    data = json.dumps({"model": "m", **MANY[name]}).encode()
    start = time.process_time()
    with pytest.raises(RefusedRequest, match="at most 64 options and 16384 values"):
        read_chat(data)
    assert time.process_time() - start < 2.0, "it took minutes"


def test_as_many_values_as_are_allowed_are_read_and_the_first_mistake_is_enough():
    asked = read_chat(json.dumps({"model": "m", "messages": [ONE] * (MOST_VALUES // 3 - 1)}).encode())
    assert len(asked.chat) == MOST_VALUES // 3 - 1
    start = time.process_time()
    with pytest.raises(RefusedRequest, match="role must be given"):
        read_chat(json.dumps({"model": "m", "messages": [{}] * (MOST_VALUES - 10)}).encode())
    assert time.process_time() - start < 2.0


def numbers_in(data, *path):
    """The paths of the numbers of a state."""
    if isinstance(data, dict | list):
        inside = data.items() if isinstance(data, dict) else enumerate(data)
        return [place for key, value in inside for place in numbers_in(value, *path, key)]
    return [path] if type(data) in (int, float) else []


@pytest.mark.parametrize("name", sorted(set(game_names()) - {"matrix"}))
def test_a_number_in_a_sent_state_does_not_make_the_choices_many(name):
    """A pool of two thousand million hats has as many demands, and the server listed them."""
    game = make_game(name)
    state = game.start(Key(0))
    seat = state.to_act[0]
    count = state.view(seat).choices.count
    for *path, last in numbers_in(state.dump()):
        sent = json.loads(json.dumps(state.dump()))
        inside = sent
        for key in path:
            inside = inside[key]
        inside[last] = 300
        with suppress(RefusedRequest):
            assert read_position(game, sent, seat).view.choices.count <= 10 * count, (path, last)


def test_a_body_is_read_beside_the_answers_to_others(kuhn, post, monkeypatch):
    from stratagem.connect.endpoint import app, bodies

    where = urlsplit(kuhn.url)
    seconds = []

    def slowly(data, parse=bodies.parse_object):
        if len(data) > 1_000_000:
            time.sleep(3.0)
        return parse(data)

    monkeypatch.setattr(bodies, "parse_object", slowly)
    large = json.dumps({"model": "AlwaysBet", "messages": [{"role": "user", "content": "a" * 3_200_000}]}).encode()
    heavy = Thread(target=lambda: post(kuhn, large))
    heavy.start()
    time.sleep(0.5)
    start = time.monotonic()
    with socket.create_connection((where.hostname, where.port), timeout=20) as one:
        one.sendall(f"GET /v1/models HTTP/1.1\r\nHost: {where.netloc}\r\nConnection: close\r\n\r\n".encode())
        assert one.recv(12) == b"HTTP/1.1 200"
    seconds.append(time.monotonic() - start)
    heavy.join()
    assert max(seconds) < 2.0
    assert len(large) < app.MOST_BYTES


@pytest.mark.parametrize("sent", ["", "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n", "GET /v1/mod"])
@pytest.mark.parametrize("before", [0, 1])
def test_half_a_head_is_closed_after_its_time(serve, monkeypatch, sent, before):
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.5)
    where = urlsplit(serve(["AlwaysBet"]).url)
    with socket.create_connection((where.hostname, where.port), timeout=20) as one:
        for _ in range(before):
            one.sendall(f"GET /v1/models HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
            answer = b""
            while not answer.endswith(b"}]}"):
                answer += one.recv(1 << 16)
            assert answer.startswith(b"HTTP/1.1 200")
        one.sendall(sent.encode())
        assert one.recv(1 << 16) == b"", "the server ends the connection"


def test_a_body_that_takes_longer_than_a_head_may_is_read(serve, monkeypatch):
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.2)
    where = urlsplit(serve(["AlwaysBet"]).url)
    body = b'{"model": "AlwaysBet"}'
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
    with socket.create_connection((where.hostname, where.port), timeout=20) as one:
        one.sendall(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body[:5])
        time.sleep(0.6)
        one.sendall(body[5:])
        assert one.recv(1 << 16).startswith(b"HTTP/1.1 400")


def test_half_a_body_is_closed_after_its_time(serve, monkeypatch):
    monkeypatch.setattr(server, "BODY_SECONDS", 0.5)
    where = urlsplit(serve(["AlwaysBet"]).url)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
    with socket.create_connection((where.hostname, where.port), timeout=20) as one:
        one.sendall(f"{head}Content-Length: 100\r\n\r\n".encode())
        with suppress(ConnectionError):
            for _ in range(20):  # a byte now and then is no longer a request than none
                one.sendall(b" ")
                time.sleep(0.1)
        with suppress(ConnectionResetError):
            assert one.recv(1 << 16) == b"", "the server ends the connection"
