"""Endpoints of other forms: refusals, filters, thoughts, further fields and headers, Azure's addresses."""

import json

import pytest
from asking import HASTY, ask, echo

from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.openai_engine import OpenAIEngine
from stratagem.language.engines.remote.connection import key_header_of
from stratagem.language.engines.remote.protocol import check_extra
from stratagem.language.engines.remote.replies import read_reply
from stratagem.language.engines.remote.secret import key_for
from stratagem.language.models.reference import BadModel, parse_model
from stratagem.measure.evaluate import evaluate
from stratagem.measure.matchups import Evaluator
from stratagem.measure.suites import find_suite
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, write_shard

KUHN = make_game("kuhn(hands=1)")


def passive(exchange):
    """A legal action in Kuhn poker."""
    return {"content": "FOLD" if "FOLD, CALL" in exchange.body["messages"][-1]["content"] else "PASS"}


def answer(message, ended="stop"):
    return {"choices": [{"message": message, "finish_reason": ended}], "usage": {"prompt_tokens": 7}}


@pytest.mark.parametrize(
    ("message", "ended", "expected"),
    [
        ({"content": None, "refusal": "I cannot BET"}, "stop", ("I cannot BET", "refusal")),
        ({"content": "", "refusal": "I cannot BET"}, "stop", ("I cannot BET", "refusal")),
        ({"content": "BET", "refusal": None}, "stop", ("BET", "done")),
        ({"content": None}, "content_filter", ("", "filter")),
        ({"content": "BE"}, "content_filter", ("BE", "filter")),
        ({"content": "No."}, "refusal", ("No.", "refusal")),
    ],
)
def test_a_reply_that_was_withheld_is_told_from_one_that_was_given(message, ended, expected):
    reply = read_reply(json.dumps(answer(message, ended)).encode(), str)
    assert (reply.text, reply.finish) == expected


def test_refusals_and_filters_are_illegal_replies_of_their_own_kind(serve, tmp_path):
    error = {"error": {"message": "The prompt was filtered.", "code": "content_filter"}}

    def reply(exchange):
        thoughtful = passive(exchange) | {"reasoning_content": "A jack is low."}
        answers = [
            (200, answer({"content": None, "refusal": "I cannot BET"})),
            (200, answer({"content": "BET"}, "content_filter")),
            (400, error),
            (200, answer(thoughtful)),
        ]
        exchange.send(*answers[exchange.number % 4])

    _, engine = serve(reply, max_concurrent=1)
    match = Match(KUHN, [make_player(engine.name, KUHN), make_player("AlwaysBet", KUHN)])
    episodes = list(play(rotate_seats(match, 8, Key(0), name="e")))
    rows = [row for episode in episodes for row in episode.decisions if row.calls]
    kinds = {(row.how, row.calls[0].finish) for row in rows}
    assert kinds >= {("illegal", "refusal"), ("illegal", "filter"), ("free", "done")}
    assert not any(how == "free" and finish != "done" for how, finish in kinds), (
        "a refusal that names an action is none"
    )
    write_shard(tmp_path, 0, episodes)
    assert list(read_episodes(tmp_path)) == episodes
    assert {row.calls[0].reasoning for row in rows} == {"", "A jack is low."}
    assert engine.tally.num_errors == 0


def test_an_evaluation_counts_the_ends_of_replies_apart(serve):
    def declining(exchange):
        exchange.send(200, answer({"content": None, "refusal": "No."} if exchange.number % 2 else passive(exchange)))

    _, engine = serve(declining, max_concurrent=1)
    evaluator = Evaluator(episodes=8, key=Key(0))
    ((row,),) = (r.rows for r in evaluate(find_suite(KUHN, ("AlwaysBet",)), [engine.name], evaluator, chance=False))
    assert row.validity.ends["refusal"].mean == pytest.approx(row.validity.shares["illegal"].mean)
    assert 0.3 < row.validity.ends["refusal"].mean < 0.7
    assert row.validity.ends["filter"].mean == 0.0
    assert set(row.validity.to_json()["ends"]) == {"length", "refusal", "filter", "timeout", "exit", "malformed"}


def test_a_system_prompt_and_further_fields_are_options_of_a_player(serve):
    server, engine = serve(lambda exchange: exchange.say("PASS"))
    text = (
        f"lm({engine.name}, system='You are calm, and \"kind\".', extra_body={{'reasoning_effort': 'low', 'top_k': 5}})"
    )
    player = make_player(text, KUHN)
    assert make_player(player.name, KUHN) == player, player.name
    list(play(rotate_seats(Match(KUHN, [player, make_player("AlwaysBet", KUHN)]), 2, Key(0), name="s")))
    body = server.asked[0]
    assert (body["reasoning_effort"], body["top_k"]) == ("low", 5)
    assert body["messages"][0]["role"] == "system"
    assert body["messages"][0]["content"].startswith('You are calm, and "kind".')
    assert [message["role"] for message in body["messages"]].count("system") == 1
    with pytest.raises(BadParameter, match="`extra_body` is for a model behind a server, unlike tiny"):
        make_player("tiny(extra_body={'a': 1})", KUHN)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("low", "`extra_body` is a JSON object"),
        ('{"a": ' + "[" * 100_000, "`extra_body` is a JSON object"),
        ([1], "`extra_body` is a JSON object"),
        ({"a": {1}}, "`extra_body` is a JSON object"),
        ({"messages": []}, "cannot set messages"),
        ({"temperature": 2}, "cannot set temperature"),
    ],
)
def test_further_fields_that_make_no_sense_are_refused(given, sentence):
    with pytest.raises(BadParameter, match=sentence):
        check_extra(given)
    assert check_extra('{"b": true, "a": 1}') == '{"a": 1, "b": true}'
    assert check_extra({}) == ""


def test_headers_of_a_host_are_sent_to_it_alone_and_hidden(serve, tmp_path, monkeypatch):
    keys = tmp_path / "keys"
    keys.write_text(
        "X-Team: games, and theory@127.0.0.1\nX-Gateway-Key: gw-0123456789abcdef@127.0.0.1\nX-Else: no@other\n"
    )
    keys.chmod(0o600)
    monkeypatch.setenv("STRATAGEM_KEYS_FILE", str(keys))
    monkeypatch.setenv("STRATAGEM_API_KEY", "X-Team: first@127.0.0.1")
    server, engine = serve(lambda exchange: exchange.say("gw-0123456789abcdef is first"))
    assert ask(engine)[0].text == "… is first"
    sent = server.headers[0]
    assert (sent["x-team"], sent["x-gateway-key"]) == ("first", "gw-0123456789abcdef")
    assert sent["authorization"].startswith("Bearer sk-very-secret"), "the key is another entry"
    assert "x-else" not in sent
    assert "gw-01" not in repr(key_for(server.url))


@pytest.mark.parametrize("line", ["Host: evil@127.0.0.1", "content-length: 3@127.0.0.1"])
def test_headers_of_the_connection_itself_are_refused(monkeypatch, line):
    monkeypatch.setenv("STRATAGEM_API_KEY", line)
    with pytest.raises(BadParameter, match="is set by the connection itself"):
        key_for("http://127.0.0.1:1/v1")


def test_an_address_in_azure_s_form_has_a_version_and_a_header_of_its_own(serve, monkeypatch):
    server, engine = serve(echo)
    url = server.url.replace("/v1", "/openai/deployments/mine?api-version=2024-10-21")
    with pytest.raises(BadModel, match="takes no user, key, fragment or question but"):
        parse_model(f"api:m@{url}&key=1")
    monkeypatch.setattr("stratagem.language.engines.remote.connection.AZURE", ("127.0.0.1",))
    engine = OpenAIEngine(f"api:m@{url}")
    assert parse_model(engine.name).url == url
    assert ask(engine)[0].text == "Answer 1"
    assert server.paths == ["/openai/deployments/mine/chat/completions?api-version=2024-10-21"]
    assert server.headers[0]["api-key"].startswith("sk-very-secret")
    assert "authorization" not in server.headers[0]


def test_hosts_of_azure_take_the_key_in_another_header():
    assert key_header_of("https://mine.openai.azure.com/openai/v1") == "api-key"
    assert key_header_of("https://openai.azure.com.evil.example/v1") == "authorization"


def test_a_proxy_of_the_environment_is_used_for_other_hosts(serve, monkeypatch):
    server, _ = serve(echo)
    monkeypatch.setenv("HTTPS_PROXY", server.url.removesuffix("/v1"))
    engine = OpenAIEngine("api:m@https://nobody.invalid/v1", patience=HASTY)
    with pytest.raises(Exception, match="cannot be reached"):
        ask(engine)
    assert set(server.connects) == {"nobody.invalid:443"}
