"""Engines: `list_engines` lists them, with the reason where one cannot be used on this machine."""

from __future__ import annotations

from dataclasses import dataclass, fields

from stratagem.api.mistakes import one_sentence
from stratagem.api.result import Result
from stratagem.base.errors import StratagemError
from stratagem.base.registry import NamedCall
from stratagem.games.base import Json
from stratagem.language.engines.catalogue import engines as known
from stratagem.language.engines.spec import TrainableEngineSpec
from stratagem.show.table import ResultTable, text_table

__all__ = ["Engines", "list_engines"]


@dataclass(frozen=True, repr=False)
class Engines(Result):
    """Engines of models. It has no figures, so there is no picture."""

    engines: tuple[Json, ...]
    """Descriptions; `missing` is the reason where an engine cannot be used here."""

    def rows(self) -> list[Json]:
        """Return one row for each engine."""
        return list(self.engines)

    def tables(self) -> list[ResultTable]:
        columns = ("engine", "trains", "settings", "usable here", "description")
        return [text_table("Engines", columns, list(map(_cells, self.engines)))]


@one_sentence
def list_engines() -> Engines:
    """List the engines of models: whether they train, their settings, and whether they can be used here."""
    return Engines(tuple(map(_row, known.names())))


def _row(name: str) -> Json:
    """Return the description of an engine; one that cannot be made says why."""
    try:
        spec = known.make(NamedCall(name))
    except StratagemError as error:
        return {"name": name, "trains": False, "settings": [], "missing": str(error), "description": ""}
    return {
        "name": name,
        "trains": isinstance(spec, TrainableEngineSpec),
        "settings": [field.name for field in fields(spec)],  # type: ignore[arg-type]
        "missing": spec.missing(),
        "description": (type(spec).__doc__ or "").strip().splitlines()[0],
    }


def _cells(row: Json) -> tuple[str, ...]:
    usable = "yes" if row["missing"] is None else f"no: {row['missing']}"
    settings = ", ".join(row["settings"]) or "\u2013"
    return row["name"], "yes" if row["trains"] else "no", settings, usable, row["description"]
