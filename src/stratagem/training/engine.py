"""Engine of a recipe: a kind of engine by name, with its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from stratagem.engines.catalogue import engines
from stratagem.engines.spec import EngineSpec, TrainableEngineSpec
from stratagem.errors import BadParameter
from stratagem.learning.named import TYPE, Named, Reader, in_a_recipe

_DEFAULT = "transformers"
_read = Reader(engines, EngineSpec)


def read_engine(said: object) -> Named[TrainableEngineSpec]:
    """Read an engine by a text or a table; a table without a type changes settings of the default engine."""
    if isinstance(said, Mapping) and TYPE not in said:
        said = {TYPE: _DEFAULT, **said}
    named = _read(said)
    if not isinstance(named.value, TrainableEngineSpec):
        raise BadParameter(f"The engine {named.type} has no weights here to train: take another, such as {_DEFAULT}.")
    return Named(named.type, named.parameters, named.value, named.given)


NamedEngine = Annotated[
    Named[TrainableEngineSpec], PlainValidator(in_a_recipe(read_engine)), PlainSerializer(Named.table)
]
"""An engine as a setting."""
DEFAULT_ENGINE = read_engine(_DEFAULT)
