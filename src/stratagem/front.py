"""Names that `import stratagem` offers, each loaded when it is first used; `__init__.pyi` says their types."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

FUNCTIONS = {
    "game": "names",
    "player": "names",
    "play": "matches",
    "evaluate": "evaluations",
    "exploitability": "exploitabilities",
    "tournament": "tournaments",
    "audit": "audits",
    "compare_audits": "audits",
    "rank_audits": "audits",
    "train": "trainings",
    "dry_run": "dry_runs",
    "load_run": "runs",
    "verify": "verification",
    "read_record": "records",
    "serve": "endpoints",
    "servers": "servers",
    "allow_file": "files",
}
"""Module of `stratagem.api` by the name of its function."""
_PACKAGE = "stratagem"


def function(name: str) -> Any:
    """Load a function of the front door."""
    return getattr(import_module(f"{_PACKAGE}.api.{FUNCTIONS[name]}"), name)


def attribute(name: str) -> Any:
    """Return an attribute of the package that is not loaded yet."""
    if name == "play":
        return import_module(f"{_PACKAGE}.play")  # the package, which can be called
    if name == "StratagemError":
        return getattr(import_module(f"{_PACKAGE}.errors"), name)
    if name not in FUNCTIONS:
        raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}")
    return function(name)


class CallablePackage(ModuleType):
    """Package with the name of a function of the front door: to call it is to call the function.

    An import of `stratagem.play.match` binds `stratagem.play` to the package, whatever stood there before.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function of this name; its docstring is that of `stratagem.api`."""
        return self._function(*args, **kwargs)

    @property
    def _function(self) -> Any:
        return function(self.__name__.rpartition(".")[2])

    @property
    def __wrapped__(self) -> Any:
        """Function behind the package, from which `inspect.signature` reads its parameters."""
        return self._function
