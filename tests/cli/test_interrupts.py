"""Interrupts that arrive at any moment, one in which Python discards exceptions too."""

import signal
import sys
import time
import weakref
from contextlib import contextmanager

import pytest

from stratagem.api.stopped import SoFar
from stratagem.cli import main
from stratagem.cli.call import CommandCall, stoppable, wait_for_end
from stratagem.cli.interrupts import HangUp, TerminationRequest, raised_again, terminable


@pytest.fixture(autouse=True)
def interrupts_are_heard():
    """A process that was started in the background ignores ^C, and one of `nohup` the end of its terminal."""
    heard = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in heard.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Thing:
    """Object that a weak reference can refer to."""


def interrupted_in_a_callback(number):
    """Deliver a signal while the callback of a weak reference runs, then work on."""
    thing = Thing()
    reference = weakref.ref(thing, lambda _: signal.raise_signal(number))
    del thing
    assert reference() is None
    for _ in range(200):
        time.sleep(0.01)
    return "nobody heard of it"


@pytest.mark.parametrize(
    ("number", "error"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, TerminationRequest), (signal.SIGHUP, HangUp)],
)
def test_an_interrupt_in_a_callback_is_not_lost(number, error):
    begun = time.monotonic()
    with pytest.raises(error), raised_again(), terminable():
        interrupted_in_a_callback(number)
    assert time.monotonic() - begun < 1


def test_everything_is_as_before_afterwards():
    def found():
        numbers = (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        return sys.unraisablehook, *map(signal.getsignal, numbers)

    before = found()
    with raised_again(), terminable():
        assert found() != before
    with pytest.raises(KeyboardInterrupt), raised_again(), terminable():
        interrupted_in_a_callback(signal.SIGINT)
    assert found() == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_command_goes_on_without_its_terminal_under_nohup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminable():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_discarded_errors_are_reported_as_ever(monkeypatch):
    heard = []
    monkeypatch.setattr(sys, "unraisablehook", heard.append)
    with raised_again():
        thing = Thing()
        reference = weakref.ref(thing, lambda _: 1 / 0)
        del thing
    assert reference() is None
    assert [one.exc_type for one in heard] == [ZeroDivisionError]


@pytest.mark.parametrize(
    "words",
    [
        "verify-game own.py:Game",
        "games own.py:Game",
        "prompt own.py:Game",
        "talk own.py:Game random random",
        "collusion own.py:Game random random random",
        "play own.py:Game --players random",
    ],
)
def test_a_command_that_says_nothing_itself_names_the_interrupt(run, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("raise KeyboardInterrupt\n")
    assert run(*words.split()) == (130, "", "Interrupted.")


def test_a_second_interrupt_while_a_command_ends_prints_no_traceback(run, monkeypatch):
    @contextmanager
    def again():
        yield
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "fewer_collections", again)
    assert run("games", "kuhn")[0] == 130


class Pages:
    """Server that a signal reaches while it is waited for."""

    def __init__(self, number):
        self.number = number
        self.closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True

    def wait(self):
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_server_is_closed_however_it_is_ended(number):
    pages = Pages(number)
    wait_for_end(CommandCall(lambda: pages, {}))
    assert pages.closed


def test_a_second_interrupt_while_figures_are_computed_keeps_the_way_to_go_on(tmp_path, monkeypatch, capsys):
    def compute(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["stratagem", "eval", "kuhn", "--record", "kept"])
    first = KeyboardInterrupt()
    first.so_far = SoFar(["an episode"], tmp_path / "kept", compute)
    with pytest.raises(KeyboardInterrupt), stoppable(lambda _: pytest.fail("There are no figures.")):
        raise first
    assert capsys.readouterr().err.endswith("Continue with: stratagem eval kuhn --record kept --resume\n")
