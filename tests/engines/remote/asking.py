"""Requests of the tests of a remote engine, and the replies of the fake server."""

from stratagem.games.key import Key
from stratagem.language.engines.base import Request
from stratagem.language.engines.remote.retries import Patience

OWNED = "@127.0.0.1"
KEY = "sk-very-secret-0123456789"
HASTY = Patience(timeout=5.0, first_wait=0.01)
CHAT = (("system", "Play."), ("user", "Your card is K."))


class Anything:
    """A guide that no server obeys."""

    done = False
    allowed = None
    forced = ()

    def advance(self, token):
        raise AssertionError("a server tells no tokens")


def ask(engine, *numbers, **more):
    """The replies to one request for each number, which is its key and its last word."""
    numbers = numbers or (1,)
    return engine.answer(
        [
            Request(
                engine=engine,
                prompt=engine.begin((*CHAT, ("user", f"Question {number}"))),
                guide=Anything(),
                key=Key(number),
                **more,
            )
            for number in numbers
        ]
    )


def number(exchange):
    return int(exchange.body["messages"][-1]["content"].split()[-1])


def echo(exchange):
    exchange.say(f"Answer {number(exchange)}")


def first(status, content="busy", **headers):
    """Refuse the first request only."""

    def answer(exchange):
        exchange.send(status, content, **headers) if exchange.number == 1 else echo(exchange)

    return answer
