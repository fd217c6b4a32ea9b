"""Web floor: names of a server, secrets, bodies and logs, each checked once for the viewer and the endpoint."""

import json
import socket
from contextlib import closing
from http.client import HTTPConnection
from threading import Event
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from stratagem.show.web.bodies import BadBody, PlainJSON, parse_object, read_body, to_json
from stratagem.show.web.guard import bearer_of, is_json, is_own_name, is_secret
from stratagem.show.web.server import Server

MOST = 2048


@pytest.mark.parametrize(
    ("host", "own", "expected"),
    [
        ("127.0.0.1:8150", "", True),
        ("LOCALHOST", "", True),
        ("[::1]:80", "", True),
        ("mine.example", "", False),
        ("mine.example:80", "Mine.Example", True),
        ("mine.example.evil.example", "mine.example", False),
        ("192.168.0.7", "127.0.0.1", False),
        ("192.168.0.7", "0.0.0.0", True),
        ("192.168.0.7", "::", True),
        ("evil.example", "0.0.0.0", False),
        ("", "0.0.0.0", False),
        ("evil@127.0.0.1", "", False),
    ],
)
def test_name_of_a_server_is_its_own_or_one_of_the_machine(host, own, expected):
    assert is_own_name({"host": host}, own) is expected


def test_secret_is_compared_as_a_whole_and_none_opens_nothing():
    assert bearer_of({"authorization": "Bearer a b"}) == "a b"
    assert bearer_of({"authorization": "Basic a"}) == ""
    assert bearer_of({}) == ""
    assert [is_secret(given, "a b") for given in ("a b", "a", "a bc", "", "\ud800")] == [True, *[False] * 4]
    assert not is_secret("", "")


def test_kind_of_a_body_may_have_parameters():
    kinds = ["application/json", "Application/JSON; charset=utf-8", "text/plain", "", "application/jsonp"]
    assert [is_json({"content-type": kind}) for kind in kinds] == [True, True, False, False, False]


@pytest.fixture(scope="module")
def client():
    async def answer(request: Request) -> Response:
        try:
            return PlainJSON({"length": len(await read_body(request, MOST))})
        except BadBody as error:
            return PlainJSON({"error": str(error)}, error.status)

    return TestClient(Starlette(routes=[Route("/", answer, methods=["POST"])]))


@pytest.mark.parametrize(
    ("length", "kind", "status", "said"),
    [
        (MOST, "application/json", 200, MOST),
        (MOST + 1, "application/json", 413, "The body of a request has at most 2,048 bytes."),
        (10, "text/plain", 415, "The content type of a request is application/json."),
    ],
)
def test_body_is_read_up_to_its_size_and_in_json_only(client, length, kind, status, said):
    answer = client.post("/", content=b"x" * length, headers={"content-type": kind})
    assert answer.status_code == status
    assert said in answer.json().values()


def test_body_without_a_declared_length_is_cut_off_at_its_size(client):
    pieces, sent = [b"x" * MOST] * 3, []
    content = (sent.append(len(piece)) or piece for piece in pieces)
    assert client.post("/", content=content, headers={"content-type": "application/json"}).status_code == 413


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b"[]", b"3"])
def test_body_that_is_no_object_is_refused_in_a_sentence(data):
    with pytest.raises(BadBody, match="The body of a request is a JSON object") as caught:
        parse_object(data)
    assert caught.value.status == 400


def test_answers_hold_any_text_and_no_number_that_json_lacks():
    text = to_json({"text": "\ud800<script>", "numbers": (float("nan"), float("inf"), 1.5)})
    assert text.isascii()
    assert json.loads(text) == {"text": "\ud800<script>", "numbers": [None, None, 1.5]}


def test_server_writes_the_traceback_of_a_defect_without_what_a_terminal_obeys(capsys):
    def fail(request: Request) -> Response:
        raise LookupError(f"no {request.query_params['name']}")

    with (
        Server(Starlette(routes=[Route("/", fail)]), "127.0.0.1", 0) as opened,
        closing(HTTPConnection(urlsplit(opened.url).netloc, timeout=20)) as one,
    ):
        one.request("GET", "/?name=%1b]0;owned%07")
        assert one.getresponse().status == 500
    said = capsys.readouterr().err
    assert "no \\x1b]0;owned\\x07" in said
    assert "\x1b" not in said


def test_client_that_leaves_within_a_body_is_no_defect(capsys):
    async def answer(request: Request) -> Response:
        with pytest.raises(BadBody, match="has no end"):
            await read_body(request, MOST)
        answered.set()
        return Response()

    answered = Event()
    with Server(Starlette(routes=[Route("/", answer, methods=["POST"])]), "127.0.0.1", 0) as opened:
        where = urlsplit(opened.url)
        head = f"POST / HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
        with socket.create_connection((where.hostname, where.port), timeout=20) as one:
            one.sendall(f"{head}[".encode())
        assert answered.wait(20)
    assert capsys.readouterr().err == ""
