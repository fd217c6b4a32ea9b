"""`stratagem engines`: the list of engines, with the reason where one cannot be used on this machine."""

from __future__ import annotations

from dataclasses import fields

from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json, table
from stratagem.engines.catalogue import engines
from stratagem.engines.spec import TrainableEngineSpec
from stratagem.errors import StratagemError
from stratagem.games.base import Json
from stratagem.registry import Call


def list_engines(json: options.Json = False) -> None:
    """List the engines of models: whether they train, their settings, and whether they can be used here."""
    rows = [_row(name) for name in engines.names()]
    if json:
        print_json(rows)
        return
    grid = table("Engines", "engine", "trains", "settings", "usable here", "description", numbers=False)
    for row in rows:
        usable = "yes" if row["missing"] is None else f"no: {row['missing']}"
        settings = ", ".join(row["settings"]) or "\u2013"
        grid.add_row(row["name"], "yes" if row["trains"] else "no", settings, usable, row["description"])
    out.print(grid)


def _row(name: str) -> Json:
    """Return the description of an engine; one that cannot be made says why."""
    try:
        spec = engines.make(Call(name))
    except StratagemError as error:
        return {"name": name, "trains": False, "settings": [], "missing": str(error), "description": ""}
    return {
        "name": name,
        "trains": isinstance(spec, TrainableEngineSpec),
        "settings": [field.name for field in fields(spec)],  # type: ignore[arg-type]
        "missing": spec.missing(),
        "description": (type(spec).__doc__ or "").strip().splitlines()[0],
    }
