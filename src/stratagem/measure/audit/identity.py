"""Identity of an agent: a digest of all that decides how it plays, and what of this cannot be compared.

The record of an audit may be used again only for the same agent. A function is the same if its code is, and every
function, class and constant that the code names. What reaches outside of the program (a client, a file, a variable of
the environment) may change unseen, so it is named here, and the record is not used again.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import pickle
import sys
from collections import defaultdict, namedtuple
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from hashlib import blake2b
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import resolve_name
from io import BytesIO
from pathlib import Path
from textwrap import dedent
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import stratagem
from stratagem.base.consent.needs import reads_in
from stratagem.base.hosts import host_of, is_loopback
from stratagem.base.named_files import fingerprint
from stratagem.language.models.reference import parse_model
from stratagem.players.agents import AgentPlayer
from stratagem.players.language import LanguagePlayer

PACKAGE = "stratagem"
CLOSED = frozenset(
    (
        *("__future__", "abc", "array", "base64", "bisect", "builtins", "cmath", "collections", "contextlib", "copy"),
        *("dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "itertools"),
        *("json", "logging", "math", "numbers", "operator", "random", "re", "secrets", "statistics", "string"),
        *("struct", "textwrap", "time", "types", "typing", "unicodedata", "uuid", "zlib", "numpy", PACKAGE),
    )
)
"""Packages that read nothing from outside of the program but the clock and chance."""
_NAMING = (f"{PACKAGE}.api", f"{PACKAGE}.players.catalogue")
"""Modules of this package that make players by a name, behind which there may be a server or a file."""
_OPENING = frozenset(("__import__", "compile", "eval", "exec", "getattr", "globals", "input", "open", "vars"))
"""Built-in functions that reach outside of the program, or that name what they reach only when they run."""
_LOADING = frozenset(("fromfile", "genfromtxt", "load", "loadtxt", "memmap"))
"""Functions of numpy that read files."""
_CHANCE = (
    "random.Random",
    "random.SystemRandom",
    "numpy.random._generator.Generator",
    "numpy.random.mtrand.RandomState",
)
"""Sources of chance: their state differs in every process, and the agent does not."""
_GENERATORS = ("dataclasses.py", "reprlib.py")
"""Files of Python whose functions are methods of dataclasses."""
_LIBRARY = Path(inspect.__file__).resolve().parent
"""Folder of Python's own modules."""
_LARGE = 2_000
"""Largest number of objects behind an agent that are compared."""
_PLAIN: tuple[Any, ...] = (type(None), bool, int, float, complex, str, bytes)
_CACHED = type(cache(len))
"""Type of a function behind a cache, which pickle knows by its name alone."""


@dataclass(frozen=True)
class AgentIdentity:
    """Digest of agents and games, and what may have changed unseen."""

    digest: str
    unseen: tuple[str, ...]
    """Parts that cannot be compared, in words; empty where an equal digest means an equal agent."""
    servers: tuple[str, ...] = ()
    """Addresses or names of the models behind servers, anywhere in the agent."""


def identify(*things: object) -> AgentIdentity:
    """Return the identity of players, functions and games."""
    search = IdentitySearch()
    found = [search.describe(thing, "agent") for thing in things]
    digest = blake2b(repr(found).encode(), digest_size=16).hexdigest()
    return AgentIdentity(digest, tuple(search.unseen), tuple(search.servers))


class IdentitySearch:
    """Search through all that an agent names; each object is described once."""

    def __init__(self) -> None:
        self.unseen: dict[str, None] = {}
        self.servers: dict[str, None] = {}
        self._numbers: dict[object, int] = {}
        self._alive: list[object] = []  # an object that is gone would leave its id to another
        self._kinds: Mapping[Any, Callable[[Any, str], str]] = {
            (list, tuple): lambda value, name: f"{type(value).__name__}{self._each(name, *value)}",
            Mapping: lambda value, name: f"{type(value).__name__}{[self._each(name, *pair) for pair in value.items()]}",
            Set: lambda value, name: f"set{sorted(self.describe(one, name) for one in value)}",
            FunctionType: self._describe_function,
            MethodType: lambda value, name: str(self._each(name, value.__func__, value.__self__)),
            BuiltinFunctionType: self._describe_built_in,
            partial: lambda value, name: str(self._each(name, value.func, value.args, value.keywords)),
            _CACHED: lambda value, name: self.describe(value.__wrapped__, name),
            property: lambda value, name: str(self._each(name, value.fget, value.fset)),
            (classmethod, staticmethod): lambda value, name: self.describe(value.__func__, name),
            type: self._describe_class,
            AgentPlayer: self._describe_agent,
            LanguagePlayer: self._describe_model,
        }

    def describe(self, value: object, name: str, attributes: Set[str] = frozenset()) -> str:
        """Return a text that differs where the object does; `attributes` are those that are read of a module."""
        if isinstance(value, _PLAIN) and _is_installed(type(value).__module__):
            return repr(value)
        module = isinstance(value, ModuleType)
        key = (id(value), attributes) if module else id(value)
        if key in self._numbers:
            return f"#{self._numbers[key]}"
        if len(self._alive) > _LARGE:
            return self._miss(f"more than {_LARGE:,} objects")
        self._numbers[key] = len(self._alive)
        self._alive.append(value)
        if isinstance(value, ModuleType):
            return self._describe_module(value, attributes)
        found = (describe for kinds, describe in self._kinds.items() if isinstance(value, kinds))
        text = next(found, self._describe_object)(value, name)
        return text + self._describe_kind(value, name) if isinstance(value, (list, tuple, Mapping, Set)) else text

    def _describe_kind(self, value: Any, name: str) -> str:
        """Describe what a container has beside its items: the methods of the user's class, and a default."""
        default = self.describe(value.default_factory, name) if isinstance(value, defaultdict) else ""
        kind = type(value)
        if _is_installed(kind.__module__) or _is_named_tuple(kind):
            return default
        held = {**getattr(value, "__dict__", {}), **_slots(value)}
        return str(
            [default, self.describe(kind, name), *(one + self.describe(what, one) for one, what in held.items())]
        )

    def _each(self, name: str, *values: object) -> list[str]:
        return [self.describe(value, name) for value in values]

    def _miss(self, what: str) -> str:
        """Note what cannot be compared."""
        self.unseen[what] = None
        return what

    def _describe_module(self, module: ModuleType, attributes: Set[str]) -> str:
        """Describe what is read of a module of the user's; any other is known by its version."""
        if _is_installed(module.__name__):
            if module.__name__.partition(".")[0] == "numpy" and attributes & _LOADING:
                return self._miss("a file that numpy loads")
            return self._describe_installed(module.__name__)
        read = sorted(attributes & vars(module).keys())
        return str([module.__name__, *(self.describe(vars(module)[one], one, attributes) for one in read)])

    def _describe_installed(self, name: str, function: str = "") -> str:
        top = name.partition(".")[0].removeprefix("_")
        if top == "numpy" and function in _LOADING:
            self._miss("a file that numpy loads")
        if top not in CLOSED or name == PACKAGE or name.startswith(_NAMING):
            self._miss(f"the module `{name}`")
        return f"{name} {_version(name)}"

    def _describe_built_in(self, value: Any, name: str) -> str:
        owner = value.__self__
        module = owner.__name__ if isinstance(owner, ModuleType) else type(owner).__module__
        own = "" if isinstance(owner, ModuleType) else self.describe(owner, name)
        return f"{self._describe_installed(module, value.__name__)} {value.__qualname__} {own}"

    def _describe_function(self, function: FunctionType, name: str) -> str:
        """Describe a function by its source, its defaults, its closure, and the globals that it reads."""
        if _is_installed(function.__module__):
            return f"{self._describe_installed(function.__module__, function.__name__)} {function.__qualname__}"
        parts = [self._read_source(function), *self._each(name, function.__defaults__, function.__kwdefaults__)]
        parts += [one + self.describe(value, one) for one, value in vars(function).items() if one != "pytestmark"]
        for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # of a variable that has no value yet
                parts.append(self.describe(cell.cell_contents, free))
        codes = list(_codes(function.__code__))
        if function.__code__.co_name == "<lambda>":  # two on one line have one source
            parts += [f"{code.co_code!r}{code.co_names}{code.co_varnames}" for code in codes]
            parts += self._each(
                name, *(one for code in codes for one in code.co_consts if not isinstance(one, CodeType))
            )
        attributes = frozenset(one for code in codes for one in code.co_names)
        for code in codes:
            parts += self._describe_names(code, function, attributes)
        return str(parts)

    def _describe_names(self, code: CodeType, function: FunctionType, attributes: Set[str]) -> Iterator[str]:
        """Yield what stands behind the names that a piece of code reads and imports."""
        steps = list(dis.get_instructions(code))
        for place, step in enumerate(steps):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                if step.argval in function.__globals__:
                    yield step.argval + self.describe(function.__globals__[step.argval], step.argval, attributes)
                elif step.argval in _OPENING or not hasattr(builtins, step.argval):
                    yield self._miss(f"`{step.argval}` in {function.__qualname__}")
            elif step.opname == "IMPORT_NAME":
                yield self._describe_import(step.argval, steps[place - 2].argval, function, attributes)

    def _describe_import(self, name: str, level: int, function: FunctionType, attributes: Set[str]) -> str:
        try:
            whole = resolve_name("." * level + name, function.__globals__.get("__package__")) if level else name
            modules = [import_module(whole.rpartition(".")[0]), import_module(whole)] if "." in whole else [whole]
            loaded = [import_module(one) if isinstance(one, str) else one for one in modules]
        except Exception:  # noqa: BLE001 - whatever a module raises when it is imported
            return self._miss(f"the module `{name}`")
        return str([self.describe(module, name, attributes) for module in loaded])

    def _describe_class(self, kind: type, name: str) -> str:
        """Describe a class by its source, its members, and its bases."""
        if _is_installed(kind.__module__):
            return f"{self._describe_installed(kind.__module__)} {kind.__qualname__}"
        members = [
            one + self.describe(value, one)
            for one, value in sorted(vars(kind).items())
            if not (one[:2] == one[-2:] == "__" and _is_generated(value)) and one != "_abc_impl"
        ]
        return str([self._read_source(kind), *members, *self._each(name, type(kind), *kind.__bases__)])

    def _read_source(self, thing: FunctionType | type) -> str:
        """Return the source without comments and without the marks of tests, whose limits change no agent."""
        try:
            # by the code, since a function that wraps another one has the source of the other
            source = dedent(inspect.getsource(thing.__code__ if isinstance(thing, FunctionType) else thing))
        except (OSError, TypeError):
            return self._miss(f"the source of {thing.__qualname__}")
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a part of a line, as of a lambda
            return source
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                node.decorator_list = [one for one in node.decorator_list if "mark." not in ast.unparse(one)]
        return ast.unparse(tree)

    def _describe_agent(self, player: AgentPlayer, name: str) -> str:
        if isinstance(player.agent, str):
            self._miss(f"what answers at {player.agent}")
        return str([player.name, *self._each(name, *(getattr(player, field.name) for field in fields(player)))])

    def _describe_model(self, player: LanguagePlayer, name: str) -> str:
        """Describe a model by its name and its files; a server of this machine may serve another one tomorrow."""
        ref = parse_model(player.model)
        if ref.kind == "api":
            self.servers[ref.url or player.model] = None
        if ref.url is not None and is_loopback(host_of(ref.url)):
            self._miss(f"what answers at {ref.url}")
        return str([player.name, *map(_stamp_files, reads_in(player.model))])

    def _describe_object(self, value: object, name: str) -> str:
        """Describe an object by its class and what it holds; one of another package by its pickle."""
        kind = type(value)
        whole = f"{kind.__module__}.{kind.__qualname__}"
        if whole in _CHANCE:
            return whole
        if is_dataclass(value):
            further = {} if _is_installed(kind.__module__) else getattr(value, "__dict__", {})
            held = {**further, **{field.name: getattr(value, field.name, None) for field in fields(value)}}
        elif not _is_installed(kind.__module__) or kind.__module__.startswith(f"{PACKAGE}."):
            held = {**getattr(value, "__dict__", {}), **_slots(value)}
        else:
            return self._pickle(value, name, whole)
        plain = next((one.__repr__(value) for one in _PLAIN if isinstance(value, one)), "")
        return str([plain, self.describe(kind, name), *(one + self.describe(what, one) for one, what in held.items())])

    def _pickle(self, value: object, name: str, kind: str) -> str:
        if kind.partition(".")[0].removeprefix("_") in CLOSED:
            self._describe_installed(kind, getattr(value, "__name__", ""))
            with suppress(Exception):
                file = BytesIO()
                PartPickler(file, lambda part: self.describe(part, name)).dump(value)
                return f"{kind} {blake2b(file.getvalue(), digest_size=16).hexdigest()}"
        return self._miss(f"`{name}` ({kind})")


class PartPickler(pickle.Pickler):
    """Pickler that writes the description of a function or a class, and not its name alone."""

    def __init__(self, file: BytesIO, describe: Callable[[object], str]) -> None:
        super().__init__(file, protocol=4)
        self._describe = describe

    def persistent_id(self, value: object) -> str | None:
        """Return the description of a part that pickle would know by its name."""
        if isinstance(value, FunctionType | BuiltinFunctionType | type | _CACHED) and value.__module__ != "copyreg":
            return self._describe(value)
        return None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of those that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_installed(name: str | None) -> bool:
    """Return whether a module is of Python, of this package or of another installed one, and not of the user's."""
    top = (name or "").partition(".")[0]
    if top == PACKAGE:
        return True
    file = getattr(sys.modules.get(name or ""), "__file__", None) or getattr(sys.modules.get(top), "__file__", None)
    if top in sys.stdlib_module_names:  # a file of the user's may have such a name, too
        return file is None or Path(file).resolve().is_relative_to(_LIBRARY)
    return file is not None and bool({"site-packages", "dist-packages"} & {*Path(file).parts})


def _version(name: str) -> str:
    top = name.partition(".")[0]
    if top == PACKAGE:
        return stratagem.__version__
    if top in sys.stdlib_module_names:
        return f"{sys.version_info[0]}.{sys.version_info[1]}"
    try:
        return version(top)
    except PackageNotFoundError:
        return ""


def _is_generated(member: object) -> bool:
    """Return whether a member of a class has no source of its own, as what a dataclass adds."""
    member = member.__func__ if isinstance(member, staticmethod) else member  # as `__new__` of a named tuple
    if isinstance(member, FunctionType):
        file = member.__code__.co_filename
        return file.startswith("<") or Path(file).name in _GENERATORS
    return not (callable(member) or isinstance(member, classmethod | staticmethod | property))


def _is_named_tuple(kind: type) -> bool:
    """Return whether a class is a named tuple without methods of the user's."""
    own = getattr(kind, "_fields", None) if kind.__bases__ == (tuple,) else None
    return own is not None and vars(kind).keys() <= vars(namedtuple("_", own)).keys()


def _slots(value: object) -> dict[str, object]:
    names = [one for kind in type(value).__mro__ for one in getattr(kind, "__slots__", ())]
    return {one: getattr(value, one, None) for one in names if not one.startswith("__")}


def _stamp_files(path: Path) -> str:
    """Return the digests of a file, or of all files below a folder."""
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    return str([(str(one.relative_to(path)), fingerprint(one)) for one in files if one.exists()])
