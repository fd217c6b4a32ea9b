"""Types of settings: the members of an annotation, and the annotation at a step into it."""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
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


def describe_fields(settings: type[BaseModel]) -> dict[str, str]:
    """Read the documentation of fields: the string under each, in the source of the class or of one that it extends.

    pydantic's `use_attribute_docstrings` reads it when a class is made: half a second at every start of a training.
    """
    found = dict[str, str]()
    for cls in reversed(settings.__mro__):
        if issubclass(cls, BaseModel) and cls is not BaseModel:
            found |= _documented_classes(cls.__module__).get(cls.__name__, {})
    return {name: found[name] for name in settings.model_fields if name in found}


@cache
def _documented_classes(module: str) -> dict[str, dict[str, str]]:
    """Return the documentation of fields by class of a module."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: _documented_fields(node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _documented_fields(node: ast.ClassDef) -> dict[str, str]:
    found = dict[str, str]()
    for pair in pairwise(node.body):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = inspect.cleandoc(text)
    return found
