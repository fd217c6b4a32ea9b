"""Types of settings: the members of an annotation, and the annotation at a step into it."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel

TABLES = (dict, Mapping)
"""Types of tables whose keys a user names."""


def options_of(annotation: Any) -> list[Any]:
    """Return the member types of an annotation."""
    if get_origin(annotation) is Annotated:
        return options_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [one for option in get_args(annotation) for one in options_of(option)]
    return [annotation]


def annotation_at(annotation: Any, step: str | int) -> Any:
    """Return the annotation at a step: that of a settings field, or of the items of a table or a list."""
    for option in options_of(annotation):
        if is_settings(option):
            return option.model_fields[step].annotation if step in option.model_fields else None
        if get_origin(option) in TABLES:
            return get_args(option)[1]
        if get_origin(option) in (tuple, list):
            return get_args(option)[0]
    return None


def is_settings(option: Any) -> TypeGuard[type[BaseModel]]:
    """Return whether a type is a class of settings."""
    return isinstance(option, type) and issubclass(option, BaseModel)
