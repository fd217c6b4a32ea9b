"""The engine beside other loops, threads and processes, and at their end."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from asking import ask, echo

from stratagem.language.engines.remote.retries import Patience


def test_the_engine_works_inside_a_running_loop(serve):
    _, engine = serve(echo)

    async def notebook():
        return ask(engine, 1, 2)

    assert [call.text for call in asyncio.run(notebook())] == ["Answer 1", "Answer 2"]


def test_an_engine_that_is_forgotten_ends_its_thread(serve):
    _, engine = serve(echo)
    before = {*threading.enumerate()}
    ask(engine)
    (thread,) = (one for one in {*threading.enumerate()} - before if one.name == "stratagem-server")
    assert thread.is_alive()
    del engine
    gc.collect()
    thread.join(5)
    assert not thread.is_alive()


def test_a_program_that_forks_and_ends_is_not_held_up(serve):
    server, engine = serve(echo)
    program = f"""
import os
from stratagem.language.engines.base import Prompt, Request
from stratagem.language.engines.openai_engine import OpenAIEngine
from stratagem.games.key import Key

engine = OpenAIEngine({engine.name!r})
request = Request(engine=engine, prompt=Prompt((("user", "Question 1"),)), guide=None, key=Key(1))
print(engine.answer([request])[0].text, flush=True)
if child := os.fork():
    os.waitpid(child, 0)
else:
    print(engine.answer([request])[0].text, flush=True)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split("\n") == ["Answer 1", "Answer 1", ""], run.stderr
    assert len(server.asked) == 2


def test_an_interrupt_ends_what_is_under_way(serve):
    left = threading.Event()

    def hang(exchange):
        os.kill(os.getpid(), signal.SIGINT)
        exchange.connection.settimeout(20)
        if exchange.connection.recv(1) == b"":  # the client has closed the connection
            left.set()

    _, engine = serve(hang, patience=Patience(timeout=30.0, tries=1))
    start = time.monotonic()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore interrupts
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(engine)
    finally:
        signal.signal(signal.SIGINT, before)
    assert left.wait(15)
    assert time.monotonic() - start < 15.0, "it waited for what takes twenty seconds or more"
