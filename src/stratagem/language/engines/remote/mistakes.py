"""Failures that are a user's mistake, with the sentence that says what to correct."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stratagem.base.errors import StratagemError
from stratagem.base.hosts import host_of
from stratagem.language.engines.remote.retries import Failure
from stratagem.language.engines.remote.secret import VARIABLES, Secret

_WHERE = "the address in api:MODEL@URL"
_LISTED = 10
"""Number of models that an error lists when the requested one is not there."""


class BadServer(StratagemError):
    """Unusable server: its address, the key or the model is wrong."""


def is_mistake(failure: Failure, model: str) -> bool:
    """Return whether the same would happen to any request."""
    moved = 300 <= failure.status < 400
    return not failure.reached or moved or failure.status in (401, 402, 403) or lacks(failure, model)


def lacks(failure: Failure, model: str) -> bool:
    """Return whether the server lacks the model: not found, or a bad request that names the model."""
    named = re.search(rf"(?<![\w-]){re.escape(model)}(?![\w-])", failure.full)
    return failure.status == 404 or (failure.status == 400 and named is not None)


def cause(url: str, failure: Failure) -> str:
    """Describe the failure as a sentence without its end."""
    return f"The server at {url} {failure.why.rstrip('.? ')}"


def bad_server(
    url: str, failure: Failure, secret: Secret, model: str, models: Sequence[str], where: str = _WHERE
) -> BadServer:
    """Return the error that says how to correct the mistake; `where` says where the user wrote the address."""
    if lacks(failure, model) and models and model not in models:
        return BadServer(f"The server at {url} has no model {model!r}, but {', '.join(models[:_LISTED])}.")
    return BadServer(f"{cause(url, failure)}: {_advice(url, failure, secret, model, where)}.")


def _advice(url: str, failure: Failure, secret: Secret, model: str, where: str) -> str:
    if not failure.reached:
        return f"check that it runs, and {where}"
    if failure.status in (401, 403):
        host = host_of(url)
        sent = f"the key in {secret.source} was sent" if secret.source else f"no key of {host} is known"
        return f"{sent}; say one that it accepts, as in {VARIABLES[0]}=KEY@{host}"
    if failure.status == 402:
        return "it wants to be paid first"
    if lacks(failure, model):
        return f"check the model {model!r}, and {where}, which often ends in /v1"
    return "say the address that it names"
