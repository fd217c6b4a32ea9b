"""Mistakes of a caller: one exception of ours with one sentence, and no traceback through our own code."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from stratagem.errors import StratagemError

P = ParamSpec("P")
R = TypeVar("R")


def one_sentence(function: Callable[P, R]) -> Callable[P, R]:
    """Raise a `StratagemError` of a function without the errors of libraries behind it."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except StratagemError as error:
            raise error.with_traceback(None) from None
        except OSError as error:
            if (said := sentence_of(error)) is None:
                raise
            raise said from None

    return called


def sentence_of(error: BaseException) -> StratagemError | None:
    """Return the sentence about an error of a file that the user named, or of a disk; None for a defect of ours."""
