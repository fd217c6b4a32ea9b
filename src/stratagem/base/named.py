"""Objects of registries, such as losses, named in a recipe: by a text, or by a table with parameters.

    loss = "dapo"
    loss = "dapo(clip_range_high=0.3)"
    loss = { type = "dapo", clip_range_high = 0.3 }

The resolved recipe has the table, with every parameter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import lru_cache, partial
from inspect import Parameter, isclass, signature
from typing import Any, Generic, NamedTuple, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.registry import NamedCall, Registry, parse_call
from stratagem.base.renamed.keys import renamed_keys
from stratagem.base.renamed.renaming import Renaming
from stratagem.base.renamed.upgrade import Upgrade

T = TypeVar("T")
TYPE = "type"
"""Key of a table that holds the name."""

_OPENINGS = ("The", "There", "Give", "Write")
"""First words that are lower-cased after the place of a mistake."""


@dataclass(frozen=True)
class NamedObject(Generic[T]):
    """Name with parameters, and the object made from them: a loss, an advantage estimator or an engine."""

    type: str
    parameters: Mapping[str, Any]
    """All parameters, defaults included; an estimator within an estimator is `NamedObject` too."""
    value: T = field(compare=False, repr=False)
    """Object made from the name and the parameters."""
    given: Mapping[str, Any] = field(compare=False, repr=False, default_factory=dict)
    """Parameters that differ from the defaults."""

    def table(self) -> dict[str, Any]:
        """Return the equivalent table; TOML has no None, so a parameter that is None is left out."""
        plain = {name: _plain(value) for name, value in self.parameters.items() if value is not None}
        return {TYPE: self.type, **plain}

    def over(self, source: Any) -> Any:
        """Update the parameters by a table without a type."""
        if not isinstance(source, Mapping) or TYPE in source:
            return source
        inner = {name: value for name, value in self.parameters.items() if isinstance(value, NamedObject)}
        laid = {name: inner[name].over(value) if name in inner else value for name, value in source.items()}
        return {**self.table(), **laid}

    def parts(self) -> Iterator[NamedObject[T]]:
        """Yield this one and all within it."""
        yield self
        for value in self.parameters.values():
            if isinstance(value, NamedObject):
                yield from value.parts()

    def __str__(self) -> str:
        """Return the equivalent text."""
        options = ", ".join(f"{name}={value}" for name, value in self.given.items())
        return f"{self.type}({options})" if options else self.type


class RegistryReader(Generic[T]):
    """Reader of named objects of a registry; a parameter that is itself a `base` is read in the same way."""

    def __init__(self, registry: Registry[T], base: type) -> None:
        self.registry = registry
        self.base = base

    def __call__(self, source: object) -> NamedObject[T]:
        """Read a text or a table; a `NamedObject` is returned unchanged."""
        if isinstance(source, NamedObject):
            return source
        name, given = self._call(source)
        factory = self.registry.factory(name)
        _check_renamed(name, factory, given)
        hints, usual = _parameters(factory)
        checked = {
            option: self._check_value(name, option, hints.get(option, Any), value) for option, value in given.items()
        }
        made = self.registry.make(
            NamedCall(name, kwargs={option: _unwrap_value(value) for option, value in checked.items()})
        )
        if not isinstance(made, self.base):
            raise BadParameter(
                f"The {self.registry.kind} {name} makes a {type(made).__name__}, no {self.base.__name__}."
            )
        changed = {option: value for option, value in checked.items() if value != usual.get(option, Parameter.empty)}
        return NamedObject(name, dict(self._all(factory, made, checked)), made, changed)

    def upgrade_source(self, source: object, upgrade: Upgrade, places: tuple[str, str]) -> object:
        """Return a text or a table with the new names of its options; anything else is returned unchanged."""
        try:
            name, given = self._call(source)
            factory = self.registry.factory(name)
        except StratagemError:  # it has no type, or is wrong: reading it says so
            return source
        known, (place, was) = _renamed_options(factory), places
        table = {option: value for option, value in given.items() if option not in known}
        for old in [option for option in given if option in known]:
            upgrade.move(table, old, given, known[old], places)
        inner = {
            option: self.upgrade_source(value, upgrade, (f"{place}.{option}", f"{was}.{option}"))
            for option, value in table.items()
            if isinstance(value, Mapping) and TYPE in value
        }
        return {TYPE: name, **table, **inner} if inner or set(given) & known.keys() else source

    def _call(self, source: object) -> tuple[str, dict[str, Any]]:
        """Return the name and the options."""
        if isinstance(source, str):
            call = parse_call(source)
            if call.args:
                raise BadParameter(f"Give the options of {call.name} by name, as in {call.name}(option=value).")
            return call.name, dict(call.kwargs)
        if not isinstance(source, Mapping):
            raise BadParameter(f'Write the {self.registry.kind} as a name, or as a table {{ type = "NAME", ... }}.')
        if not isinstance(source.get(TYPE), str):
            known = ", ".join(self.registry.names())
            raise BadParameter(f"The table needs `type`, the name of a {self.registry.kind}: there are {known}.")
        return source[TYPE], {option: value for option, value in source.items() if option != TYPE}

    def _check_value(self, name: str, option: str, hint: Any, value: Any) -> Any:
        """Validate a value against the type of its parameter."""
        if isinstance(value, NamedObject) or (isclass(hint) and issubclass(hint, self.base)):
            return self(value)
        try:
            return TypeAdapter(hint).validate_json(json.dumps(value, allow_nan=False), strict=True)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].replace("Input", "it", 1)
            raise BadParameter(f"`{option}` of {name} cannot be {value!r}: {reason}.") from error
        except (TypeError, ValueError) as error:
            raise BadParameter(f"`{option}` of {name} cannot be {value!r}: it is no finite value of TOML.") from error

    def _all(self, factory: Callable[..., T], made: T, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield every parameter with its value: as given, else as the made object has it."""
        known = {
            name: getattr(made, name, parameter.default)
            for name, parameter in signature(factory).parameters.items()
            if parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        }
        for name, value in {**known, **given}.items():
            described = self._describe_made(value) if isinstance(value, self.base) else value
            if described is not Parameter.empty:
                yield name, described

    def _describe_made(self, made: object) -> NamedObject[T] | Any:
        """Describe a made object by its name in the registry; `Parameter.empty` where it has none."""
        name = self.registry.name_of(made)
        if name is None:
            return Parameter.empty
        own = {option: getattr(made, option) for option in signature(self.registry.factory(name)).parameters}
        described = {
            option: self._describe_made(value) if isinstance(value, self.base) else value
            for option, value in own.items()
        }
        if Parameter.empty in described.values():
            return Parameter.empty
        return self({TYPE: name, **{option: value for option, value in described.items() if value is not None}})


def in_a_recipe(read: Callable[[object], NamedObject[T]]) -> Callable[[object], NamedObject[T]]:
    """Wrap a reader as a pydantic validator: an error names the key's place."""

    def validated(source: object) -> NamedObject[T]:
        try:
            return read(source)
        except StratagemError as error:
            sentence = str(error).rstrip(".")
            first = sentence.partition(" ")[0]
            raise ValueError(sentence.replace(first, first.lower(), 1) if first in _OPENINGS else sentence) from error

    validated.reader = read  # type: ignore[attr-defined]  # an upgrade of settings asks it for new names
    return validated


def _renamed_options(factory: Callable[..., Any]) -> Mapping[str, Renaming]:
    """Return the old options of a factory."""
    while isinstance(factory, partial):
        factory = factory.func
    return renamed_keys(factory) if isclass(factory) else {}


def _check_renamed(name: str, factory: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse old options, and name all new ones."""
    known = _renamed_options(factory)
    old = {option: known[option].new for option in given if option in known}
    if len(old) == 1:
        [(option, new)] = old.items()
        raise BadParameter(f"There is no option {option} of {name} any more: write {new}.")
    if old:
        pairs = ", ".join(f"{new} for {option}" for option, new in old.items())
        raise BadParameter(f"There are no options {', '.join(old)} of {name} any more: write {pairs}.")


class FactoryParameters(NamedTuple):
    """Annotated types and defaults of the parameters of a factory."""

    hints: Mapping[str, Any]
    defaults: Mapping[str, Any]


def _parameters(factory: Callable[..., Any]) -> FactoryParameters:
    """Return the parameters of a factory, which each name in a recipe asks for."""
    return _cached_parameters(factory) if isinstance(factory, Hashable) else _read_parameters(factory)


def _read_parameters(factory: Callable[..., Any]) -> FactoryParameters:
    try:
        parameters = signature(factory).parameters
    except ValueError:  # a class of Python's own tells none; what it makes is refused
        return FactoryParameters(_hints(factory), {})
    return FactoryParameters(_hints(factory), {name: one.default for name, one in parameters.items()})


_cached_parameters = lru_cache(maxsize=512)(_read_parameters)


def _hints(factory: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the annotated types of a factory's parameters."""
    while isinstance(factory, partial):
        factory = factory.func
    signature_of = factory.__init__ if isclass(factory) and not is_dataclass(factory) else factory
    try:
        return get_type_hints(signature_of)
    except (NameError, TypeError, AttributeError):
        return {}


def _unwrap_value(value: Any) -> Any:
    return value.value if isinstance(value, NamedObject) else value


def _plain(value: Any) -> Any:
    """Convert a value to TOML data."""
    if isinstance(value, NamedObject):
        return value.table()
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
