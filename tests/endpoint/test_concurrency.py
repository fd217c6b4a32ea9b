"""Concurrent requests: one that hangs, or whose engine breaks, leaves the others as they are."""

import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import openai
import pytest

from stratagem.connect.endpoint.desk import Desk
from stratagem.connect.endpoint.refusal import RefusedRequest
from stratagem.connect.endpoint.threads import Threads
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt, Request, RequestAnswer
from stratagem.players.base import Move, Traits

QUEEN, JACK = ([{"role": "user", "content": f"Your card is {card}. You open this hand."}] for card in "QJ")


class Hanging:
    """Player that never answers with a queen, and raises with a jack."""

    name = "hanging"
    traits = Traits()
    goes_on = threading.Event()

    def turn(self, ask):
        if ask.view.facts.card == "Q":
            self.goes_on.wait(20)
        if ask.view.facts.card == "J":
            raise ValueError("out of\ncards")
        return Move("BET")

    def policy(self, view):
        return {"BET": 1.0}


def test_a_player_that_hangs_or_raises_is_an_error_of_its_request_alone(serve, client, logged):
    asking = client(serve([Hanging(), "AlwaysBet"], timeout=2.0, concurrency=2))
    ask = asking.chat.completions.create
    with ThreadPoolExecutor(2) as pool:
        stuck = pool.submit(ask, model="hanging", messages=QUEEN)
        while not stuck.done():
            assert ask(model="AlwaysBet", messages=QUEEN).choices[0].message.content == "BET"
        with pytest.raises(openai.InternalServerError, match=r"no answer within 2 s") as caught:
            stuck.result()
    assert (caught.value.status_code, caught.value.code) == (504, "timeout")
    with pytest.raises(openai.InternalServerError, match="ValueError: out of cards") as caught:
        ask(model="hanging", messages=JACK)
    assert (caught.value.status_code, caught.value.code) == (500, "player_error")
    assert 'raise ValueError("out of' in logged.getvalue()  # the operator sees the traceback
    assert ask(model="AlwaysBet", messages=QUEEN).choices[0].message.content == "BET"
    Hanging.goes_on.set()


def test_choices_that_nobody_waits_for_are_not_begun():
    threads, gate, begun = Threads(1), threading.Event(), []
    given_up = threads.start_all([lambda: gate.wait(20), *[lambda: begun.append(1)] * 63])
    assert given_up.cancel()
    gate.set()
    until = time.monotonic() + 20
    while True:
        try:
            assert threads.start_all([lambda: 1, lambda: 2]).result(20) == [1, 2]
            break
        except RefusedRequest:  # the thread of the one that was given up is still there
            assert time.monotonic() < until
    assert begun == []


def test_threads_are_limited_and_come_back():
    threads, gate = Threads(2), threading.Event()
    stuck = [threads.start(lambda: gate.wait(20)) for _ in range(2)]
    with pytest.raises(RefusedRequest, match="busy: 2 requests") as caught:
        threads.start(lambda: None)
    assert caught.value.status == 503
    gate.set()
    assert [one.result(20) for one in stuck] == [True, True]
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            assert threads.start(lambda: 7).result(20) == 7
        except RefusedRequest:
            continue
        break


class SlowEngine:
    """Engine elsewhere: a request is answered once its text is released, and cancelled ones are noted."""

    name = "slow"

    def __init__(self):
        self.open, self.cancelled, self.released, self.broken = {}, [], set(), False

    def submit(self, requests):
        tickets = [len(self.open) + len(self.cancelled) + index for index, _ in enumerate(requests)]
        self.open |= dict(zip(tickets, requests, strict=True))
        return tickets

    def poll(self, tickets, *, wait=True):
        assert not wait
        if self.broken:
            raise RuntimeError("it broke")
        return [
            RequestAnswer(ticket, called(self.open[ticket]))
            for ticket in tickets
            if self._text(ticket) in self.released
        ]

    def _text(self, ticket):
        return self.open[ticket].prompt.messages[0][1]

    def cancel(self, tickets):
        self.cancelled += tickets


def called(request):
    return Call(policy=PolicyId("slow"), prompt=request.prompt, text=request.prompt.messages[0][1].upper())


def asking(engine, *texts):
    """Work that asks for each text, one after another."""

    def turn():
        said = []
        for text in texts:
            call = yield Request(engine=engine, prompt=Prompt((("user", text),)), guide=None, key=Key(0))
            said.append(call.text)
        return said

    return turn


@pytest.fixture
def desk():
    desk = Desk()
    yield desk
    desk.close()


def test_jobs_of_the_desk_go_on_beside_one_that_waits(desk):
    engine = SlowEngine()
    engine.released |= {"a", "b"}
    stuck = desk.start(asking(engine, "never"))
    assert desk.start(asking(engine, "a", "b")).result(20) == ["A", "B"]
    assert desk.start(lambda: 3).result(20) == 3
    assert not stuck.done()
    assert stuck.cancel()
    deadline = time.monotonic() + 20
    while not engine.cancelled and time.monotonic() < deadline:
        time.sleep(0.001)
    assert len(engine.cancelled) == 1


def test_faults_at_the_desk_end_their_own_jobs(desk):
    def wrong():
        raise KeyError("wrong")

    def halfway():
        yield from asking(good, "a")()
        raise ValueError("halfway")

    good, bad = SlowEngine(), SlowEngine()
    good.released.add("a")
    with pytest.raises(KeyError, match="wrong"):
        desk.start(wrong).result(20)
    with pytest.raises(ValueError, match="halfway"):
        desk.start(halfway).result(20)
    stuck = desk.start(asking(bad, "b"))
    while not bad.open:
        time.sleep(0.001)
    bad.broken = True
    with pytest.raises(RuntimeError, match="it broke"):
        stuck.result(20)
    assert desk.start(asking(good, "a")).result(20) == ["A"]


def test_open_jobs_are_given_up_when_the_desk_closes():
    desk, engine = Desk(), SlowEngine()
    stuck = desk.start(asking(engine, "never"))
    while not engine.open:
        time.sleep(0.001)
    desk.close()
    with pytest.raises(CancelledError):
        stuck.result(20)
