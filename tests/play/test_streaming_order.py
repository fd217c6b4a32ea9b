"""Answers may come in any order and a few at a time: every table's episode is bit-identical."""

import random
from dataclasses import asdict
from itertools import count

import pytest
from fakes import Engine, Fake, asking, setups, told

from stratagem.games.key import Key
from stratagem.language.engines.base import Prompt, Request, RequestAnswer
from stratagem.language.engines.streaming import BatchEngine
from stratagem.players.base import Move
from stratagem.playing.dispatch import Dispatcher
from stratagem.playing.scheduler import play

GAMES = ("kuhn", "ipd", "public-goods(seats=4)", "auction", "tic-tac-toe")


def mixed(number=256):
    """Tables of several games, whose players ask up to three times a turn."""
    made = []
    for index, game in enumerate(GAMES):
        seats = {"public-goods(seats=4)": 4}.get(game, 2)
        seated = [asking(1 + seat % 3) for seat in range(seats)]
        made += setups(game, seated, number // len(GAMES) + 1, name=f"g{index}")
    return made[:number]


class Shuffled:
    """Answers open requests in a drawn order, some at a time."""

    def __init__(self, seed):
        self.dice, self.tickets, self.open, self.most = random.Random(seed), count(), {}, 0

    def submit(self, requests):
        tickets = [next(self.tickets) for _ in requests]
        self.open |= dict(zip(tickets, requests, strict=True))
        self.most = max(self.most, len(self.open))
        return tickets

    def poll(self):
        some = self.dice.sample(sorted(self.open), min(len(self.open), self.dice.choice([1, 1, 2, 40])))
        return [RequestAnswer(ticket, told(self.open.pop(ticket))) for ticket in some]

    def cancel(self):
        self.open.clear()


@pytest.fixture(scope="module")
def in_batches():
    """The episodes when all open requests are answered together."""
    return {episode.id: asdict(episode) for episode in play(mixed(), Engine())}


@pytest.mark.parametrize("seed", range(4))
def test_episodes_are_the_same_in_any_order_of_answers(in_batches, seed):
    queue = Shuffled(seed)
    episodes = {episode.id: asdict(episode) for episode in play(mixed(), queue, live=(256, 100, 7, 1)[seed])}
    assert len(episodes) == 256
    assert episodes == in_batches
    assert queue.most > (200, 90, 6, 0)[seed]


def marked(ask):
    """Asks once a turn, with a mark in the place of the seat."""
    said = yield (ask.key.value, ask.turn, "slow", 0, ask.view.choices)
    return Move(said, "free")


class Holding(Shuffled):
    """Answers marked requests only when no other is open."""

    def poll(self):
        some = [ticket for ticket, request in self.open.items() if request[2] != "slow"] or list(self.open)
        return [RequestAnswer(ticket, told(self.open.pop(ticket))) for ticket in some]


def test_other_tables_go_on_while_one_waits():
    (slow, _) = setups("kuhn", [Fake(marked), Fake(marked)], 1, name="slow")
    assert [episode.id for episode in play([slow, *mixed(40)], Holding(0))][-1] == slow.id


def test_stopping_early_cancels_what_is_open():
    queue = Shuffled(0)
    episodes = play(mixed(40), queue)
    next(episodes)
    assert queue.open
    episodes.close()
    assert not queue.open


def test_an_error_of_an_engine_cancels_the_rest():
    class Failing(Shuffled):
        def poll(self):
            raise RuntimeError("away")

    queue = Failing(0)
    with pytest.raises(RuntimeError, match="away"):
        list(play(mixed(10), queue))
    assert not queue.open


def test_what_is_no_request_is_answered_with_an_error():
    queue = Dispatcher()
    (ticket,) = queue.submit(["what?"])
    ((own, call),) = queue.poll()
    assert (own, call.finish, call.text) == (ticket, "error", "A player yielded a str where a Request was due.")
    assert queue.poll() == []


def test_an_engine_that_loses_requests_is_an_error_and_no_endless_wait():
    class Losing(BatchEngine):
        name = "losing"

        def answer(self, requests):
            return []

        def _work(self):
            return {}

    request = Request(engine=Losing(), prompt=Prompt(()), guide=None, key=Key(0))
    queue = Dispatcher()
    queue.submit([request])
    with pytest.raises(RuntimeError, match="The engine losing lost 1 open requests"):
        queue.poll()
