"""A server that refuses, hangs, breaks off and talks nonsense: each try ends, and no other request suffers."""

import gzip
import json
import random
import threading
import time
from contextlib import nullcontext

import pytest
from asking import HASTY, ask, echo, first, number
from fake_server import completion

from stratagem.language.engines.remote.mistakes import BadServer
from stratagem.language.engines.remote.retries import Patience
from stratagem.language.engines.remote.terms import ServerFailed


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_what_passes_is_tried_again(serve, status):
    server, engine = serve(first(status))
    (call,) = ask(engine)
    assert (call.text, call.finish, len(server.asked)) == ("Answer 1", "done", 2)
    assert (engine.tally.num_requests, engine.tally.num_retries, engine.tally.num_errors) == (1, 1, 0)


@pytest.mark.parametrize("status", [400, 405, 413, 422])
def test_what_does_not_pass_is_not_tried_again(serve, status):
    server, engine = serve(lambda exchange: exchange.send(status, {"error": {"message": "no such thing"}}))
    (call,) = ask(engine)
    assert call.text == f"The server at {server.url} answered with status {status}: no such thing."
    assert (call.finish, len(server.asked)) == ("error", 1)


def test_tries_end(serve):
    server, engine = serve(lambda exchange: exchange.send(503, ""), patience=Patience(tries=3, first_wait=0.001))
    (call,) = ask(engine)
    assert call.text == f"The server at {server.url} answered with status 503: nothing."
    assert len(server.asked) == 3
    assert (engine.tally.num_requests, engine.tally.num_retries, engine.tally.num_errors) == (1, 2, 1)


def test_a_server_that_asks_for_time_gets_it_up_to_the_longest_wait(serve):
    server, engine = serve(first(429, Retry_After="0.4"))
    ask(engine)
    assert 0.4 <= server.times[1] - server.times[0] < 2.0
    server, engine = serve(first(429, Retry_After="3600"), patience=Patience(first_wait=0.01, longest_wait=0.1))
    ask(engine)
    assert 0.1 <= server.times[1] - server.times[0] < 1.0


def test_a_server_that_hangs_is_left(serve):
    over = threading.Event()
    server, engine = serve(lambda _: over.wait(20), patience=Patience(timeout=0.3, tries=2, first_wait=0.01))
    start = time.monotonic()
    (call,) = ask(engine)
    over.set()
    assert call.text == f"The server at {server.url} gave no answer within 0.3 s."
    assert (call.finish, len(server.asked)) == ("timeout", 2)
    assert time.monotonic() - start < 15.0, "it waited for what takes twenty seconds or more"


def test_a_server_that_drips_is_left_too(serve):
    """Each byte comes in time, the answer does not."""

    def drip(exchange):
        exchange.send_response(200)
        exchange.send_header("Content-Length", "1000")
        exchange.end_headers()
        for _ in range(1000):
            exchange.wfile.write(b" ")
            time.sleep(0.05)

    server, engine = serve(drip, patience=Patience(timeout=0.5, tries=1))
    start = time.monotonic()
    (call,) = ask(engine)
    assert call.text == f"The server at {server.url} gave no answer within 0.5 s."
    assert time.monotonic() - start < 15.0, "it waited for what takes twenty seconds or more"


def test_an_answer_that_breaks_off_is_asked_for_again(serve):
    def answer(exchange):
        if exchange.number > 1:
            echo(exchange)
        else:
            exchange.send(200, '{"choices": [', Content_Length="1000")
            exchange.close_connection = True

    server, engine = serve(answer)
    assert ask(engine)[0].text == "Answer 1"
    assert len(server.asked) == 2


def test_an_answer_that_always_breaks_off_is_an_error(serve):
    def answer(exchange):
        exchange.send(200, "{", Content_Length="1000")
        exchange.close_connection = True

    server, engine = serve(answer)
    (call,) = ask(engine)
    assert (call.text, call.finish) == (f"The server at {server.url} broke off without a whole answer.", "error")
    assert len(server.asked) == HASTY.tries


def test_an_answer_without_end_is_given_up(serve):
    def answer(exchange):
        exchange.send_response(200)
        exchange.send_header("Content-Length", str(1 << 40))
        exchange.end_headers()
        while True:
            exchange.wfile.write(b" " * 65536)

    server, engine = serve(answer)
    (call,) = ask(engine)
    assert call.text == f"The server at {server.url} answered with more than 4 MiB."
    assert len(server.asked) == 1


def test_a_packed_answer_is_not_unpacked(serve):
    packed = gzip.compress(json.dumps(completion("BET")).encode())
    server, engine = serve(lambda exchange: exchange.send(200, packed, Content_Encoding="gzip"))
    assert ask(engine)[0].finish == "error"
    assert server.headers[0]["accept-encoding"] == "identity"


def test_a_page_of_the_web_is_an_error_call(serve):
    page = "<!doctype html>\n<title>It \x1b[31mworks</title>" + "!" * 500
    server, engine = serve(lambda exchange: exchange.send(200, page))
    (call,) = ask(engine)
    start = f"The server at {server.url} answered with no chat completion: "
    assert call.text.startswith(f"{start}<!doctype html> <title>It [31mworks</title>!!!")
    assert call.text.endswith("!….")
    assert len(call.text) == len(start) + 201
    assert call.finish == "error"


def mutilated(rng):
    """An answer with something wrong in it, anywhere from the first line to the last byte."""
    body = json.dumps(completion("BET")).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nContent-Type: application/json\r\n\r\n".encode()
    answer = bytearray(head + body)
    for _ in range(rng.choice((0, 1, 1, 3, 30))):
        answer[rng.randrange(len(answer))] = rng.randrange(256)
    start, end = sorted(rng.randrange(len(answer)) for _ in range(2))
    return bytes(rng.choice((answer, answer[start:], answer[:end], answer[:start] + answer[end:], rng.randbytes(200))))


def test_a_hundred_mutilated_answers_are_each_a_call(serve):
    def answer(exchange):
        if number(exchange) == 100:
            exchange.send(200, completion("BET"))
        else:
            exchange.wfile.write(mutilated(random.Random(number(exchange))))
            exchange.close_connection = True

    _, engine = serve(answer, patience=Patience(timeout=2.0, tries=1))
    first = ask(engine, *range(50))
    assert ask(engine, 100)[0].text == "BET"  # from here on a status of a user's mistake is an error call too
    calls = first + ask(engine, *range(50, 100))
    assert len(calls) == 100
    assert {call.finish for call in calls} == {"done", "error"}
    assert all(call.text.startswith("The server at ") for call in calls if call.finish == "error")


def test_one_failure_among_eight_leaves_the_seven(serve):
    def answer(exchange):
        exchange.send(500, "no") if number(exchange) == 3 else echo(exchange)

    _, engine = serve(answer, patience=Patience(tries=2, first_wait=0.01))
    calls = ask(engine, *range(8))
    assert [call.finish for call in calls] == ["done"] * 3 + ["error"] + ["done"] * 4
    assert [call.text for call in calls if call.finish == "done"] == [f"Answer {n}" for n in range(8) if n != 3]
    assert (engine.tally.num_requests, engine.tally.num_errors, engine.tally.num_reply) == (8, 1, 21)


@pytest.mark.parametrize(
    ("share", "failing", "stops"),
    [(0.05, (2,), False), (0.05, (2, 3), False), (0.05, (2, 3, 4), True), (0.75, (2, 3, 4), False), (0.0, (2,), True)],
)
def test_few_failures_stop_nothing_whatever_their_share_is(serve, share, failing, stops):
    """Of four requests each is a quarter, and the default share is a twentieth."""
    _, engine = serve(
        lambda exchange: exchange.send(400, "no") if number(exchange) in failing else echo(exchange), max_failures=share
    )
    with pytest.raises(ServerFailed, match=r"\d of \d requests to .* failed") if stops else nullcontext():
        calls = [call for asked in (1, 2, 3, 4) for call in ask(engine, asked)]
        assert sum(call.finish == "error" for call in calls) == len(failing)


def test_early_failures_are_a_share_of_all_open_requests(serve):
    """Three of twenty fail first: less than a fifth of all, though all that was answered so far."""
    refused = threading.Barrier(3)

    def answer(exchange):
        if number(exchange) < 3:
            exchange.send(400, "no")
            if number(exchange) > 0:  # the first is sent alone, and the others wait for its answer
                refused.wait(10)
            return
        if number(exchange) == 3:
            refused.wait(10)
            time.sleep(0.2)
            over.set()
        assert over.wait(10)
        echo(exchange)

    over = threading.Event()
    _, engine = serve(answer, max_failures=0.2, max_concurrent=20)
    assert sum(call.finish == "error" for call in ask(engine, *range(20))) == 3


def test_a_failure_after_a_reply_costs_its_own_request_only(serve):
    """A service may refuse one prompt with the status of a bad key."""
    server, engine = serve(lambda exchange: exchange.send(403, "flagged") if number(exchange) == 3 else echo(exchange))
    assert [call.finish for call in ask(engine, *range(8))] == ["done"] * 3 + ["error"] + ["done"] * 4
    (call,) = ask(engine, 3)
    assert call.text == f"The server at {server.url} answered with status 403: flagged."


def test_a_server_that_goes_away_is_an_error_call(serve):
    server, engine = serve(lambda exchange: exchange.send(200, completion("BET"), Connection="close"))
    assert ask(engine)[0].finish == "done"
    server.__exit__()
    (call,) = ask(engine)
    assert call.text == f"The server at {server.url} cannot be reached (Connection refused)."
    assert (call.finish, engine.tally.num_retries) == ("error", HASTY.tries - 1)


def test_a_closed_port_is_asked_three_times_by_one_request(serve):
    server, engine = serve(echo, max_concurrent=20)
    server.__exit__(None, None, None)
    with pytest.raises(BadServer, match="cannot be reached"):
        ask(engine, *range(20))
    assert (engine.tally.num_requests, engine.tally.num_retries) == (1, 2)


def test_an_unknown_model_is_asked_once(serve):
    server, engine = serve(lambda exchange: exchange.send(404, "no such model"), max_concurrent=20)
    with pytest.raises(BadServer, match="check the model"):
        ask(engine, *range(20))
    assert len(server.asked) == 1


def test_a_slow_first_answer_holds_up_the_others_for_a_second_at_most(serve):
    together = threading.Barrier(20)

    def answer(exchange):
        together.wait(30)
        echo(exchange)

    _, engine = serve(answer, max_concurrent=20)
    assert all(call.finish == "done" for call in ask(engine, *range(20)))


def test_a_first_failure_of_one_request_alone_does_not_stop_the_others(serve):
    _, engine = serve(lambda exchange: exchange.send(400, "too long") if number(exchange) == 0 else echo(exchange))
    assert [call.finish for call in ask(engine, *range(6))] == ["error", *["done"] * 5]


def test_a_place_is_tried_again_after_a_mistake(serve):
    there = threading.Event()
    server, engine = serve(lambda exchange: echo(exchange) if there.is_set() else exchange.send(404, "not yet"))
    with pytest.raises(BadServer):
        ask(engine, 1, 2)
    there.set()
    assert [call.finish for call in ask(engine, 1, 2)] == ["done", "done"]
    assert len(server.asked) == 3
