"""A wrong key, address or model, or what the protocol has no word for: one sentence, without the key."""

import pytest
from asking import CHAT, HASTY, KEY, ask, echo, number
from fake_server import FakeServer

from stratagem.base.errors import BadParameter, CannotCompute, MissingExtra
from stratagem.language.engines import openai_engine
from stratagem.language.engines.base import PolicyNode, Prompt, Sampling, ScoreRequest
from stratagem.language.engines.openai_engine import OpenAIEngine
from stratagem.language.engines.remote.mistakes import BadServer
from stratagem.language.engines.remote.retries import Patience
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.language.models.reference import BadModel


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_an_error_that_names_the_variable_and_not_the_key(serve, status, monkeypatch):
    said = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
    server, engine = serve(lambda exchange: exchange.send(status, said))
    with pytest.raises(BadServer) as caught:
        ask(engine)
    assert str(caught.value) == (
        f"The server at {server.url} answered with status {status}: Incorrect API key provided: …: the key in "
        f"OPENAI_API_KEY was sent; say one that it accepts, as in STRATAGEM_API_KEY=KEY@127.0.0.1:{server.port}."
    )
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(BadServer, match=r"no key of 127\.0\.0\.1:[0-9]+ is known; say one"):
        ask(OpenAIEngine(f"api:m@{server.url}"))
    assert [headers["authorization"] for headers in server.headers] == [f"Bearer {KEY}", "Bearer none"]


def test_a_key_of_our_own_goes_first_and_another_service_s_is_not_sent(serve, monkeypatch):
    monkeypatch.setenv("STRATAGEM_API_KEY", "sk-mine-98765@127.0.0.1\n")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-98765")
    server, engine = serve(echo)
    ask(engine)
    assert server.headers[0]["authorization"] == "Bearer sk-mine-98765"
    assert "sk-admin-98765" not in str(server.headers)


@pytest.mark.parametrize("key", ["sk-a\nb-secret", "sk-schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(monkeypatch, key):
    monkeypatch.setenv("STRATAGEM_API_KEY", f"{key}@127.0.0.1")
    with pytest.raises(BadParameter, match="The key in STRATAGEM_API_KEY has a character") as caught:
        OpenAIEngine("api:m@http://127.0.0.1:1/v1")
    assert "sk-" not in str(caught.value)


def test_the_key_is_nowhere_but_on_the_wire(serve, logged, capfd):
    def answer(exchange):
        actions = {
            1: lambda: exchange.send(500, f"Bearer {KEY}"),
            2: lambda: exchange.send(429, {"error": {"message": f"{KEY} is over its limit"}}),
            3: lambda: exchange.say(f"Your key is {KEY}"),
            4: lambda: exchange.send(302, "", Location="http://elsewhere"),
        }
        actions.get(number(exchange), lambda: exchange.send(200, KEY))()

    server, engine = serve(answer, patience=Patience(tries=2, first_wait=0.01))
    calls = ask(engine, 1, 2, 3, 4, 5)
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert [call.text for call in calls][2] == "Your key is …"
    shown = repr([engine, vars(engine), calls, engine.tally]) + logged.getvalue() + "".join(capfd.readouterr())
    assert "Your key is …" in shown
    assert KEY not in shown


def test_a_model_that_is_not_there_is_an_error_that_lists_those_that_are(serve):
    server, engine = serve(lambda exchange: exchange.send(404, {"detail": "no model m"}))
    server.models = [f"model-{number}" for number in range(12)]
    with pytest.raises(BadServer) as caught:
        ask(engine, 1, 2)
    listed = ", ".join(f"model-{number}" for number in range(10))
    assert str(caught.value) == f"The server at {server.url} has no model 'm', but {listed}."


def test_a_bad_request_that_names_the_model_is_an_error_too(serve):
    server, engine = serve(lambda exchange: exchange.send(400, {"detail": "pinned to 'big'; requested 'm'"}))
    server.models = ["big"]
    with pytest.raises(BadServer, match=r"^The server at \S+ has no model 'm', but big\.$"):
        ask(engine)
    server.answer = lambda exchange: exchange.send(400, {"detail": "too many tokens for model-m"})
    assert ask(engine)[0].finish == "error"


def test_a_model_that_the_server_lists_is_never_said_to_be_missing(serve):
    """It stands behind more models than an error lists."""
    refused = {"detail": "game/m cannot tell the position"}
    server, engine = serve(lambda exchange: exchange.send(400, refused), max_failures=0.05)
    server.models = [*(f"model-{number}" for number in range(12)), "m"]
    assert [call.finish for call in ask(engine, 1, 2)] == ["error", "error"]
    with pytest.raises(ServerFailed, match=r"3 of 3 requests .*; the last: .* game/m cannot tell the position\.$"):
        ask(engine, 3)
    server.answer = lambda exchange: exchange.send(404, "no path for m")
    with pytest.raises(BadServer, match=r"no path for m: check the model 'm', and the address") as caught:
        ask(engine, 4)
    assert "has no model" not in str(caught.value)


def test_a_wrong_path_is_an_error_that_names_the_model_and_the_address(serve):
    server, engine = serve(lambda exchange: exchange.send(404, "Not Found"))
    with pytest.raises(BadServer) as caught:
        ask(engine)
    assert str(caught.value) == (
        f"The server at {server.url} answered with status 404: Not Found: "
        "check the model 'm', and the address in api:MODEL@URL, which often ends in /v1."
    )


def test_a_server_that_moved_is_not_followed(serve):
    server, engine = serve(lambda exchange: exchange.send(308, "", Location="http://127.0.0.1:1/v2"))
    with pytest.raises(BadServer, match=r"status 308: http://127.0.0.1:1/v2: say the address that it names\.$"):
        ask(engine)
    assert len(server.asked) == 1


def test_nobody_at_the_address_is_an_error_that_names_it():
    server = FakeServer(echo)
    server.close()
    engine = OpenAIEngine(f"api:m@{server.url}", patience=HASTY, max_concurrent=2)
    with pytest.raises(BadServer) as caught:
        ask(engine, *range(50))
    assert str(caught.value) == (
        f"The server at {server.url} cannot be reached (Connection refused): "
        "check that it runs, and the address in api:MODEL@URL."
    )
    assert engine.tally.num_retries <= 2, "those that wait must not each find out again"


def test_a_name_that_nobody_has_is_an_error_that_names_it():
    with pytest.raises(BadServer, match=r"^The server at https://nobody\.invalid/v1 cannot be reached \("):
        ask(OpenAIEngine("api:m@https://nobody.invalid/v1", patience=HASTY))


def test_a_server_that_comes_late_is_used_all_the_same():
    early = FakeServer(echo)
    early.close()
    engine = OpenAIEngine(f"api:m@{early.url}", patience=HASTY)
    with pytest.raises(BadServer):
        ask(engine)
    with FakeServer(echo, early.port):
        assert ask(engine)[0].text == "Answer 1"


def test_what_the_protocol_cannot_say_is_refused(serve):
    server, engine = serve(echo)
    with pytest.raises(BadParameter, match="takes no top_k"):
        ask(engine, sampling=Sampling(top_k=5))
    with pytest.raises(BadParameter, match="takes no adapters: leave 'best' out"):
        ask(engine, adapter="best")
    explored = Sampling(sampler="epsilon_uniform")
    with pytest.raises(BadParameter, match="draws its tokens itself, without the sampler epsilon_uniform: leave it"):
        ask(engine, sampling=explored)
    assert server.asked == []


def test_what_a_server_does_not_tell_is_refused(serve):
    _, engine = serve(echo)
    with pytest.raises(CannotCompute, match="does not tell its tokens"):
        engine.vocabulary  # noqa: B018
    with pytest.raises(CannotCompute, match="tells no probabilities"):
        engine.score([ScoreRequest(prompt=Prompt(CHAT), nodes=(PolicyNode((), (1,), False),))])
    assert (engine.capabilities.masks, engine.capabilities.scores) == (False, False)


def test_a_reference_that_is_no_server_and_settings_that_make_no_sense_are_refused():
    with pytest.raises(BadParameter, match="tiny is not behind a server"):
        OpenAIEngine("tiny")
    with pytest.raises(BadParameter, match="`max_concurrent` cannot be 0"):
        OpenAIEngine("api:m@http://127.0.0.1:1/v1", max_concurrent=0)
    with pytest.raises(BadModel, match="names no server"):
        OpenAIEngine("api:m@http://127.0.0.1:99999/v1")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(openai_engine, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install -e '\.\[api\]'"):
        OpenAIEngine("api:m@http://127.0.0.1:1/v1")


def test_https_at_a_server_of_plain_http_names_the_reason(serve):
    """The number of an error of TLS is none of the system's: it was `Operation not permitted`."""
    server, _ = serve(echo)
    engine = OpenAIEngine(f"api:m@{server.url.replace('http:', 'https:')}", patience=HASTY)
    with pytest.raises(BadServer, match=r"cannot be reached \(TLS: [a-z ]+\): check that it runs"):
        ask(engine)
