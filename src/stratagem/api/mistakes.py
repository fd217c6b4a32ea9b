"""Arguments of a caller: numbers as Python's own, and a mistake as one sentence, an exception without our traceback."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

from stratagem.base.errors import StratagemError
from stratagem.base.extras import missing_extra
from stratagem.base.files import failed_write
from stratagem.base.renamed.arguments import refuse_replaced

P = ParamSpec("P")
R = TypeVar("R")


def one_sentence(function: Callable[P, R]) -> Callable[P, R]:
    """Raise a `StratagemError` of a function without the errors of libraries behind it.

    A number of another library, such as a seed from `numpy.arange`, reaches the function as one of Python.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            refuse_replaced(function.__name__, kwargs)
            plain: Callable[..., R] = function
            return plain(*map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})
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
        except RuntimeError as error:
            link = error.__context__  # until Python 3.13 a path is not resolved along a link to itself
            if not isinstance(link, OSError) or link.errno != errno.ELOOP:
                raise
            raise StratagemError(f"{link.filename}: {link.strerror}.") from None

    return called


def _plain(value: Any) -> Any:
    """Return a number as Python's own, and anything else as it is."""
    if isinstance(value, int | float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)
