"""Functions with the parameters of a settings object, so that a setting is declared, typed and explained once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import ParamSpec, TypeVar

from stratagem.api.mistakes import one_sentence

P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")


def takes_settings(settings: Callable[P, S]) -> Callable[[Callable[[S], R]], Callable[P, R]]:
    """Give a function the parameters of its settings: `evaluate(suite, players, seed=1)` fills an object of them."""

    def decorate(function: Callable[[S], R]) -> Callable[P, R]:
        shown = _parameters(settings).replace(return_annotation=function.__annotations__["return"])

        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                shown.bind(*args, **kwargs)
            except TypeError as error:  # as Python says it of a function
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(settings(*args, **kwargs))

        called.__dict__ |= {"__signature__": shown, "settings": settings}
        return one_sentence(called)

    return decorate


def _parameters(settings: Callable[..., object]) -> Signature:
    """Return the parameters of settings, those that several settings share last."""
    own = vars(settings).get("__annotations__", {})
    found = signature(settings).parameters.values()
    return Signature(sorted(found, key=lambda one: one.kind == Parameter.KEYWORD_ONLY and one.name not in own))
