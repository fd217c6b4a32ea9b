"""Interrupts that arrive: ^C, SIGTERM and a closed terminal as exceptions, raised again where Python discards them.

Python discards an exception in a destructor or in the callback of a weak reference, and a signal may come there.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SOON = 0.01
"""Seconds until a discarded interrupt is raised again: the destructor has returned by then."""


class TerminationRequest(KeyboardInterrupt):
    """Request to end the process; work ends as it does at ^C."""

    number: int = signal.SIGTERM


class HangUp(TerminationRequest):
    """End of the terminal of the process, as of a window that was closed or a connection that broke off."""

    number = 1  # SIGHUP, which Windows does not have


@contextmanager
def terminable() -> Iterator[None]:
    """Raise SIGTERM and SIGHUP as exceptions where that is possible; a SIGHUP that `nohup` ignores stays ignored."""
    if not _is_main():
        yield
        return
    before = {kind: signal.getsignal(kind.number) for kind in _requests()}
    for kind in before:
        signal.signal(kind.number, _raiser(kind))
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind.number, handler)


def _requests() -> Iterator[type[TerminationRequest]]:
    yield TerminationRequest
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        yield HangUp


@contextmanager
def raised_again() -> Iterator[None]:
    """Raise an interrupt again that Python discarded; nothing changes where there are no timers, as on Windows."""
    if not _is_main() or not hasattr(signal, "setitimer"):
        yield
        return
    hook, handler = sys.unraisablehook, signal.getsignal(signal.SIGALRM)

    def kept(lost: sys.UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt | TerminationRequest):
            hook(lost)
            return
        signal.signal(signal.SIGALRM, _raiser(lost.exc_type))
        signal.setitimer(signal.ITIMER_REAL, _SOON)

    sys.unraisablehook = kept
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)


def _is_main() -> bool:
    """Return whether this thread receives signals."""
    return threading.current_thread() is threading.main_thread()


def _raiser(error: type[BaseException]) -> Callable[[int, FrameType | None], None]:
    def raise_it(number: int, frame: FrameType | None) -> None:
        raise error

    return raise_it
