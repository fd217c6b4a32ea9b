"""`stratagem engines`: the list of engines, with the reason where one cannot be used on this machine."""

from __future__ import annotations

from stratagem.api.engines import engines
from stratagem.cli import options
from stratagem.cli.output import print_result


def list_engines(json: options.Json = False) -> None:
    """List the engines of models: whether they train, their settings, and whether they can be used here."""
    print_result(engines(), json=json)
