"""Mistakes of a caller: one exception of ours with one sentence, and no traceback through our own code."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from stratagem.base.errors import StratagemError
from stratagem.base.extras import missing_extra
from stratagem.base.files import failed_write
from stratagem.base.renamed.arguments import refuse_replaced

P = ParamSpec("P")
R = TypeVar("R")


def one_sentence(function: Callable[P, R]) -> Callable[P, R]:
    """Raise a `StratagemError` of a function without the errors of libraries behind it."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            refuse_replaced(function.__name__, kwargs)
            return function(*args, **kwargs)
        except StratagemError as error:
            raise error.with_traceback(None) from None
        except ModuleNotFoundError as error:
            if (missing := missing_extra(error, f"`{function.__name__}`")) is None:
                raise
            raise missing from None
        except OSError as error:
            if error.filename is None:
                raise  # of no file that a user named
            failed = StratagemError(f"{error.filename}: {error.strerror}.")
            failed.exit_code = 1 if failed_write(error) else 2
            raise failed from None

    return called
