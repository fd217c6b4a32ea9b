"""Web floor: names of a server, secrets, and bodies, each checked once for the viewer and the endpoint."""

import json

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from stratagem.show.web.bodies import BadBody, PlainJSON, parse_object, read_body, to_json
from stratagem.show.web.guard import bearer_of, is_json, is_own_name, is_secret

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
