"""Engines: the kinds that there are, and the settings of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from chapters.markdown import code, definition, notes, page, table, yes
from stratagem.language.engines.base import Capabilities
from stratagem.language.engines.catalogue import ENGINES
from stratagem.language.engines.spec import TrainableEngineSpec

SPECS: Mapping[str, Any] = ENGINES
"""Engines by name, as the dataclasses that they are."""


def engines() -> str:
    """The page."""
    return page(
        "Engines",
        "An engine answers requests for replies of a model, and scores given tokens. The key `engine` of a recipe "
        'names one, by a text or by a table such as `engine = { type = "transformers", rows = 16 }`. A table without a '
        "type changes settings of the default engine: `--set engine.rows=16`. All models of a run on this machine are "
        "served by it, those of opponents and in the final evaluation included; a model `api:MODEL@URL` is always "
        "served by `api`. `eval`, `tournament` and `play` take `--engine 'transformers(rows=16)'`, and "
        "`stratagem engines` says which engines can be used on this machine. Other packages add engines by the "
        "entry-point group `stratagem.engines`: see "
        "[Add an engine](../how-to/add-an-engine.md).",
        table(("engine", "trainable", "what it is"), (_line(name, make) for name, make in SPECS.items())),
        "## What an engine can do",
        "A decoding mode that needs more is refused.",
        table(("capability", "is"), ((code(name), meant) for name, meant in notes(Capabilities).items())),
        *(f"## {name}\n\n{_settings(make)}" for name, make in SPECS.items() if fields(make)),
    )


def _line(name: str, make: Any) -> tuple[str, str, str]:
    return code(name), yes(issubclass(make, TrainableEngineSpec)), definition(make)


def _settings(make: Any) -> str:
    meant = notes(make)
    rows = ((code(field.name), code(field.default), meant[field.name]) for field in fields(make))
    return table(("setting", "default", "what it does"), rows)
