"""Interrupts that arrive: ^C and SIGTERM as exceptions, raised again where Python discards them.

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


@contextmanager
def terminable() -> Iterator[None]:
    """Raise SIGTERM as `TerminationRequest` where that is possible."""
    if not _is_main():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, _raiser(TerminationRequest))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
