"""A queue whose replies are logged: what is known is not asked for again, and what arrives is on disk at once."""

from dataclasses import dataclass, field
from types import SimpleNamespace

from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt, Request, RequestAnswer
from stratagem.language.engines.outcomes import counting_outcomes
from stratagem.playing.answers import Answers, LoggedQueue


@dataclass(eq=False)
class Server:
    """Engine that tells each reply as it arrives."""

    name: str = "server"
    repeats: bool = False
    listener: object = None
    capabilities = property(lambda self: SimpleNamespace(repeats=self.repeats))


@dataclass
class Tickets:
    """Queue with tickets of its own, which answers nothing by itself."""

    asked: list = field(default_factory=list)
    ready: list = field(default_factory=list)
    cancelled: int = 0

    def submit(self, requests):
        self.asked += requests
        return [100 + number for number in range(len(self.asked) - len(requests), len(self.asked))]

    def poll(self):
        answers, self.ready = self.ready, []
        return answers

    def cancel(self):
        self.cancelled += 1


def request(engine, number):
    return Request(engine=engine, prompt=Prompt((("user", f"Question {number}"),)), guide=None, key=Key(number))


def reply(number, finish="done"):
    return Call(policy=PolicyId("m"), prompt=Prompt(()), text=f"Answer {number}", finish=finish)


def texts(answers):
    return {answer.ticket: answer.call.text for answer in answers}


def test_known_replies_are_told_and_only_others_are_asked_for(tmp_path):
    server, inner = Server(), Tickets()
    Answers(tmp_path).add(request(server, 2), reply(2))
    queue = LoggedQueue(inner, Answers(tmp_path))
    first, known, last = queue.submit([request(server, number) for number in (1, 2, 3)])
    assert [asked.key for asked in inner.asked] == [Key(1), Key(3)]
    with counting_outcomes() as outcomes:
        assert texts(queue.poll()) == {known: "Answer 2"}
    assert [found.requests for found in outcomes.models.values()] == [1], "figures are made of it"
    inner.ready = [RequestAnswer(101, reply(3)), RequestAnswer(100, reply(1))]
    assert texts(queue.poll()) == {first: "Answer 1", last: "Answer 3"}
    assert queue.poll() == []
    assert len(Answers(tmp_path)) == 3


def test_reply_is_logged_as_it_arrives_until_the_queue_is_cancelled(tmp_path):
    server, inner = Server(), Tickets()
    queue = LoggedQueue(inner, Answers(tmp_path))
    queue.submit([request(server, 1)])
    server.listener(request(server, 1), reply(1))
    assert Answers(tmp_path).find_reply(request(server, 1)).text == "Answer 1"
    queue.cancel()
    assert server.listener is None
    assert inner.cancelled == 1


def test_cancelled_queue_tells_no_known_reply(tmp_path):
    server = Server()
    Answers(tmp_path).add(request(server, 2), reply(2))
    queue = LoggedQueue(Tickets(), Answers(tmp_path))
    queue.submit([request(server, 2)])
    queue.cancel()
    assert queue.poll() == []


def test_errors_and_replies_that_an_engine_repeats_are_not_logged(tmp_path):
    server, free, inner = Server(), Server("free", repeats=True), Tickets()
    queue = LoggedQueue(inner, Answers(tmp_path))
    tickets = queue.submit([request(server, 1), request(free, 2), "no request"])
    assert free.listener is None
    inner.ready = [RequestAnswer(100, reply(1, "error")), RequestAnswer(101, reply(2)), RequestAnswer(102, reply(3))]
    assert texts(queue.poll()) == dict(zip(tickets, ["Answer 1", "Answer 2", "Answer 3"], strict=True))
    assert len(Answers(tmp_path)) == 0
