"""Requests that are no good: one error in OpenAI's form each, for that request alone."""

import json

import openai
import pytest

from stratagem.connect.endpoint.app import MOST_BYTES
from stratagem.connect.endpoint.bodies import read_chat, read_text
from stratagem.connect.endpoint.positions import read_position
from stratagem.connect.endpoint.refusal import RefusedRequest
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key

KUHN = [{"role": "user", "content": "Your card is Q. You open this hand."}]
GOOD = {"model": "AlwaysBet", "messages": KUHN}


def refusal(read, **fields):
    with pytest.raises(RefusedRequest) as caught:
        read(json.dumps(fields).encode())
    return caught.value


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"messages": []}, "messages cannot be []"),
        ({"messages": "hello"}, "messages cannot be 'hello'"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "role cannot be 'tool'"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}]}, "image_url"),
        ({"messages": [{"role": "user"}]}, "content must be given"),
        ({"model": 3}, "model cannot be 3"),
        ({"n": 0}, "n cannot be 0"),
        ({"n": 65}, "n cannot be 65"),
        ({"n": 1.5}, "n cannot be 1.5"),
        ({"n": True}, "n cannot be True"),
        ({"temperature": 2.1}, "temperature cannot be 2.1"),
        ({"temperature": "hot"}, "temperature cannot be 'hot'"),
        ({"top_p": 0}, "top_p cannot be 0"),
        ({"max_tokens": 0}, "max_tokens cannot be 0"),
        ({"max_tokens": 8193}, "max_tokens cannot be 8193"),
        ({"max_tokens": 5, "max_completion_tokens": 6}, "two names of one limit"),
        ({"seed": 1 << 64}, "seed cannot be"),
        ({"stop": ["a"] * 5}, "stop cannot be"),
        ({"stop": [3]}, "stop"),
        ({"top_logprobs": 2}, "needs logprobs=true"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs cannot be 21"),
        ({"stream": True}, "stream=true is not supported here: leave it out, or set false."),
        ({"tools": [{"type": "function"}]}, "tools=["),
        ({"response_format": {"type": "json_object"}}, "response_format="),
        ({"frequency_penalty": 0.5}, "frequency_penalty=0.5"),
        ({"logit_bias": {"5": 100}}, "logit_bias="),
        ({"reasoning_effort": "high"}, "There is no setting reasoning_effort"),
        ({"stratagem": {"state": {}}}, "stratagem.seat must be given"),
        ({"stratagem": {"seat": "0"}}, "stratagem.seat cannot be '0'"),
        ({"stratagem": {"state": [], "seat": 0}}, "stratagem.state cannot be []"),
        ({"stratagem": {"state": {}, "seat": 0, "key": 3}}, "There is no setting stratagem.key"),
    ],
)
def test_option_that_cannot_be_honoured_is_refused_by_its_name(fields, sentence):
    refused = refusal(read_chat, **(GOOD | fields))
    assert sentence in refused.message
    assert refused.to_json()["error"]["type"] == "invalid_request_error"


def test_options_that_ask_for_nothing_are_taken():
    idle = {"stream": False, "tools": None, "user": "me", "presence_penalty": 0, "stop": None, "logit_bias": {}}
    asked = read_chat(json.dumps(GOOD | idle | {"metadata": {"run": "1"}, "max_completion_tokens": 7}).encode())
    assert (asked.n, asked.stops, asked.max_tokens, asked.top_logprobs, asked.temperature) == (1, (), 7, None, None)


def test_a_chat_may_come_in_parts_and_a_text_is_one_message():
    parts = [{"type": "text", "text": "Your card "}, {"type": "text", "text": "is Q."}]
    messages = [{"role": "developer", "content": "Play."}, {"role": "user", "content": parts}]
    assert read_chat(json.dumps(GOOD | {"messages": messages}).encode()).chat == (
        ("system", "Play."),
        ("user", "Your card is Q."),
    )
    assert read_text(b'{"model": "m", "prompt": "Once\\ud800"}').text == "Once?"
    assert "logprobs" in refusal(read_text, model="m", prompt="Once", logprobs=3).message
    assert "prompt cannot be [5, 6]" in refusal(read_text, model="m", prompt=[5, 6]).message


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b'{"seed": ' + b"9" * 5000 + b"}", b"[]", b"3"])
def test_a_body_that_is_no_json_object_is_refused(data):
    with pytest.raises(RefusedRequest, match="is a JSON object"):
        read_chat(data)


def test_a_bad_request_costs_no_other_request_anything(kuhn, post):
    for body, kind, status in (
        (b"{", "application/json", 400),
        (b"x" * (MOST_BYTES + 1), "application/json", 413),
        (GOOD, "text/plain", 415),
        (GOOD | {"model": "AlwaysBe"}, "application/json", 404),
        (GOOD | {"messages": [{"role": "user", "content": "?"}]}, "application/json", 400),
        (GOOD | {"stratagem": {"state": {"round": 0}, "seat": 0}}, "application/json", 400),
    ):
        found, answer = post(kuhn, body, kind=kind)
        assert found == status
        assert set(answer["error"]) == {"message", "type", "param", "code"}
        status, answer = post(kuhn, GOOD)
        assert (status, answer["choices"][0]["message"]["content"]) == (200, "BET")
    assert post(kuhn, b"", "/chats")[0] == 404
    assert post(kuhn, b"", "/chat/completions", method="GET")[0] == 405
    assert post(kuhn, b"", "/models/nobody", method="GET")[1]["error"]["code"] == "model_not_found"


def test_foreign_name_is_refused_where_no_key_is_set(serve, kuhn, post, monkeypatch):
    for name in ("evil.example", "127.0.0.1.evil.example:80", "10.0.0.7", ""):
        status, answer = post(kuhn, GOOD, Host=name)
        assert (status, repr(name) in answer["error"]["message"]) == (421, True)
    for name in ("localhost", "LOCALHOST:80", "[::1]:80", "127.0.0.2"):
        assert post(kuhn, GOOD, Host=name)[0] == 200
    monkeypatch.setenv("STRATAGEM_SERVE_KEY", "sk-of-the-test")
    assert post(serve("AlwaysBet"), GOOD, Host="mine.example", Authorization="Bearer sk-of-the-test")[0] == 200


def test_message_of_a_response_may_be_sent_back(kuhn, client):
    asking = client(kuhn).chat.completions
    said = asking.create(**GOOD).choices[0].message
    for message in (said, said.model_dump()):
        with pytest.raises(openai.BadRequestError, match="no prompt of the game"):
            asking.create(**GOOD | {"messages": [*GOOD["messages"], message, GOOD["messages"][0]]})
    message = {"role": "assistant", "content": "No.", "refusal": "No."}
    assert "messages.0.refusal" in refusal(read_chat, **GOOD | {"messages": [message]}).message


def test_errors_are_those_of_the_openai_client(kuhn, client):
    asking = client(kuhn)
    assert [model.id for model in asking.models.list()] == ["AlwaysBet", "NashApprox", "Bluffer", "mcts:5"]
    assert asking.models.retrieve("AlwaysBet").owned_by == "stratagem"
    with pytest.raises(openai.NotFoundError, match="did you mean AlwaysBet") as caught:
        asking.chat.completions.create(model="AlwaysBets", messages=KUHN)
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError, match="stream=true is not supported"):
        asking.chat.completions.create(model="AlwaysBet", messages=KUHN, stream=True)
    with pytest.raises(openai.BadRequestError, match="Send it as the field `stratagem`"):
        asking.chat.completions.create(model="AlwaysBet", messages=[{"role": "user", "content": "Hello!"}])


def test_a_key_of_the_environment_must_be_sent(serve, client, post, monkeypatch):
    monkeypatch.setenv("STRATAGEM_SERVE_KEY", "sk-of-the-test")
    server = serve("AlwaysBet")
    assert client(server, "sk-of-the-test").chat.completions.create(**GOOD).choices[0].message.content == "BET"
    with pytest.raises(openai.AuthenticationError, match="missing or wrong"):
        client(server, "sk-of-another").models.list()
    status, answer = post(server, GOOD)
    assert (status, answer["error"]["code"]) == (401, "invalid_api_key")
    assert "sk-of" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("state", "seat", "sentence"),
    [
        ({}, 0, "'round' is missing"),
        ({"round": 0, "over": False, "to_act": [0], "cards": "JQ", "line": ""}, 1, "Seat 1 is not to act"),
        ({"round": 6, "over": True, "to_act": [], "cards": "JQ", "line": "PP"}, 0, "the game is over"),
        ({"round": 0, "over": False, "to_act": [7], "cards": "JQ", "line": ""}, 7, "This is no state of kuhn"),
        ({"round": 0, "over": False, "to_act": [0], "cards": 3, "line": ""}, 0, "This is no state of kuhn"),
        ({"round": 0, "over": False, "to_act": [0], "cards": "JQ", "line": {"a": 1}}, 0, "This is no state of kuhn"),
    ],
)
def test_a_state_that_is_none_is_refused(state, seat, sentence):
    with pytest.raises(RefusedRequest, match=sentence) as caught:
        read_position(make_game("kuhn"), state, seat)
    assert (caught.value.status, caught.value.param) == (400, "stratagem")
    assert read_position(make_game("kuhn"), make_game("kuhn").start(Key(1)).dump(), 0).found == "state"
