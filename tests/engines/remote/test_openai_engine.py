"""The engine against a fake server that answers: what is sent, in what order, and what comes of it."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from asking import KEY, Anything, ask, echo, number
from fake_server import completion

from stratagem.games.key import Key
from stratagem.language.engines.base import Prompt, Request, Sampling
from stratagem.language.engines.remote.tally import Prices


def test_a_request_is_said_in_the_words_of_the_protocol(serve):
    server, engine = serve(echo)
    (call,) = ask(engine, 5, max_new_tokens=9, sampling=Sampling(temperature=0.7, top_p=0.9))
    assert server.asked == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Play."},
                {"role": "user", "content": "Your card is K."},
                {"role": "user", "content": "Question 5"},
            ],
            "temperature": 0.7,
            "top_p": 0.9,
            "max_tokens": 9,
            "seed": 5,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (call.text, call.finish, call.num_prompt, call.num_reply) == ("Answer 5", "done", 7, 3)
    assert call.policy == (f"api:m@{server.url}", "", 0)
    assert call.sampling == Sampling(temperature=0.7, top_p=0.9)
    assert call.ms > 0


def test_a_seed_has_31_bits_and_a_whole_distribution_no_top_p(serve):
    server, engine = serve(echo)
    ask(engine, (1 << 63) + (1 << 31) + 6)
    assert server.asked[0]["seed"] == 6
    assert "top_p" not in server.asked[0]


def test_replies_stay_in_order_whatever_comes_first(serve):
    def answer(exchange):
        time.sleep(0.02 * (8 - number(exchange)))
        echo(exchange)

    _, engine = serve(answer)
    assert [call.text for call in ask(engine, *range(8))] == [f"Answer {number}" for number in range(8)]


def test_as_many_requests_as_allowed_are_under_way_at_once(serve):
    together, most, here = threading.Barrier(4, timeout=5), [0], set()

    def answer(exchange):
        here.add(number(exchange))
        together.wait()
        most[0] = max(most[0], len(here))
        together.wait()
        here.remove(number(exchange))
        echo(exchange)

    _, engine = serve(answer, max_concurrent=4)
    assert [call.finish for call in ask(engine, *range(12))] == ["done"] * 12
    assert most[0] == 4


def test_a_connection_is_kept_from_one_call_to_the_next(serve):
    ports = set()

    def answer(exchange):
        ports.add(exchange.client_address[1])
        echo(exchange)

    _, engine = serve(answer)
    for _ in range(3):
        ask(engine)
    assert len(ports) == 1


def test_a_long_reply_is_cut_and_said_to_be(serve):
    _, engine = serve(lambda exchange: exchange.say("x" * (1 << 20)))
    (call,) = ask(engine)
    assert (len(call.text), call.finish) == (1 << 16, "length")


def test_a_reply_that_ran_out_of_tokens_says_so(serve):
    _, engine = serve(lambda exchange: exchange.say("I", finish="length"))
    assert ask(engine)[0].finish == "length"


def test_threads_that_share_a_server_each_get_their_replies(serve):
    """A thread may take the other's reply with its own, after which nothing more arrives."""
    both = threading.Barrier(2)

    def answer(exchange):
        both.wait(5)  # so that both replies are under way at once
        echo(exchange)

    _, engine = serve(answer)
    threads = ThreadPoolExecutor(2)
    for start in range(0, 60, 2):
        asked = [threads.submit(ask, engine, number) for number in (start, start + 1)]
        assert [one.result(5)[0].text for one in asked] == [f"Answer {start}", f"Answer {start + 1}"]
    threads.shutdown()


def test_a_newer_name_of_the_limit_is_learnt_once(serve):
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    def answer(exchange):
        old = "max_tokens" in exchange.body
        exchange.send(400, {"error": {"message": said}}) if old else echo(exchange)

    server, engine = serve(answer)
    assert [call.finish for call in ask(engine, 1, max_new_tokens=9)] == ["done"]
    assert [call.finish for call in ask(engine, 2, 3, max_new_tokens=9)] == ["done"] * 2
    assert [body.get("max_completion_tokens") for body in server.asked] == [None, 9, 9, 9]
    assert engine.tally.num_retries == 0


def test_a_server_that_takes_no_seed_is_sent_none(serve):
    def answer(exchange):
        if "seed" in exchange.body:
            return exchange.send(422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]})
        return echo(exchange)

    server, engine = serve(answer)
    assert [call.finish for call in ask(engine, *range(4))] == ["done"] * 4
    assert sum("seed" in body for body in server.asked) <= 4


def test_adjustment_that_does_not_help_is_made_once(serve):
    server, engine = serve(lambda exchange: exchange.send(400, "seed, and max_completion_tokens, are wrong"))
    assert ask(engine)[0].finish == "error"
    assert len(server.asked) == 2


def test_half_a_character_is_neither_sent_nor_kept(serve):
    body = b'{"choices": [{"message": {"content": "ah \\ud800 oh"}}]}'
    server, engine = serve(lambda exchange: exchange.send(200, body))
    request = Request(engine=engine, prompt=Prompt((("user", "\udc00?"),)), guide=Anything(), key=Key(1))
    (call,) = engine.answer([request])
    assert server.asked[0]["messages"][0]["content"] == "??"
    assert (call.text, call.num_prompt, call.num_reply) == ("ah ? oh", 0, 0)


def test_a_conversation_goes_on_from_a_reply_but_not_from_an_error(serve):
    _, engine = serve(lambda exchange: exchange.send(400, "no") if number(exchange) == 2 else echo(exchange))
    good, bad = ask(engine, 1, 2)
    assert engine.follow(good, "Sure?").messages[-2:] == (("assistant", "Answer 1"), ("user", "Sure?"))
    assert engine.follow(bad, "Sure?").messages[-2:] == (("user", "Question 2"), ("user", "Sure?"))


def test_a_price_is_told_where_prices_are_known(serve, monkeypatch):
    _, engine = serve(
        lambda exchange: exchange.say("BET", prompt=1000, reply=20), prices=Prices(prompt=2.0, reply=10.0)
    )
    ask(engine, 1, 2)
    assert (engine.tally.num_prompt, engine.tally.num_reply) == (2000, 40)
    assert engine.tally.price == pytest.approx(0.0044)
    monkeypatch.setenv("STRATAGEM_PRICE", "1/2")
    assert serve(echo)[1].tally.prices == Prices(prompt=1.0, reply=2.0)
    monkeypatch.delenv("STRATAGEM_PRICE")
    assert serve(echo)[1].tally.price is None


def test_no_requests_no_calls(serve):
    server, engine = serve(echo)
    assert engine.answer([]) == []
    assert (server.asked, completion("x")["usage"]["total_tokens"]) == ([], 10)
